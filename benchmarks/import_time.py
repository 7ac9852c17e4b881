"""What `import tracegrad` costs beside `import numpy`.

    python benchmarks/import_time.py [ROUNDS]

Each round starts one fresh process per program, in turns: an interpreter that does
nothing, one that imports NumPy, one that imports tracegrad. Compiled files are there
before the clock starts. The first ratio is of whole processes; the second leaves the
interpreter's own start out on both sides, and is the stricter one.
"""

import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np

BOUND = 1.6
PROGRAMS = ("pass", "import numpy", "import tracegrad")


def seconds_of(program: str) -> float:
    """Return how long a fresh interpreter takes for `program`."""
    environment = {k: v for k, v in os.environ.items() if k not in _SLOWING}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    return time.perf_counter() - start


# With this one each process compiles the package anew.
_SLOWING = ("PYTHONDONTWRITEBYTECODE",)


def main() -> None:
    """Print the medians and both ratios."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else 30
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}")
    for program in PROGRAMS:
        seconds_of(program)
    taken = [[seconds_of(program) for program in PROGRAMS] for _ in range(rounds)]
    start, numpy, ours = map(statistics.median, zip(*taken, strict=True))
    ratios = [row[2] / row[1] for row in taken]
    own = (ours - start) / (numpy - start)
    print(f"medians of {rounds} rounds")
    for program, median in zip(PROGRAMS, (start, numpy, ours), strict=True):
        print(f"{program:20}{median * 1e3:8.1f} ms")
    print(f"whole processes      {ours / numpy:8.2f}  (bound {BOUND})")
    print(f"  of single rounds   {min(ratios):8.2f} to {max(ratios):.2f}")
    print(f"without the start    {own:8.2f}  (bound {BOUND})")


if __name__ == "__main__":
    main()
