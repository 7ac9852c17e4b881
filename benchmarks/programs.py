"""Eager step time of the programs in `tests/programs/`, against PyTorch on one thread.

python -m benchmarks.programs [NAME …] [--steps N]

Prints for each program the median step of both libraries and their ratio. Steps of the
two alternate in blocks, so that a busy machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Iterator

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import torch  # noqa: E402

from tests.support import programs  # noqa: E402

LIMIT = 1.5
WARM_UP = 5
ROUNDS = 3


def step_times(losses: Iterator[float]) -> list[float]:
    """Return the seconds of each step after the first few."""
    times = []
    while True:
        begin = time.perf_counter()
        if next(losses, None) is None:
            return times[WARM_UP:]
        times.append(time.perf_counter() - begin)


def measure(name: str, steps: int) -> tuple[float, float]:
    """Return the median seconds of a step: PyTorch's, and tracegrad's."""
    theirs: list[float] = []
    ours: list[float] = []
    for _ in range(ROUNDS):
        with programs.under_pytorch(name) as train:
            theirs += step_times(train(steps))
        with programs.under_tracegrad(name) as train:
            ours += step_times(train(steps))
    return statistics.median(theirs), statistics.median(ours)


def main() -> None:
    """Measure the programs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--steps", type=int, default=25)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    within = 0
    measured = options.names or programs.NAMES
    print(f"{'program':24}{'PyTorch ms':>12}{'tracegrad ms':>14}{'ratio':>8}")
    for name in measured:
        theirs, ours = measure(name, options.steps)
        within += ours <= LIMIT * theirs
        row = f"{name:24}{theirs * 1e3:12.2f}{ours * 1e3:14.2f}{ours / theirs:8.2f}"
        print(row, flush=True)
    print(f"{within} of {len(measured)} within {LIMIT} x")


if __name__ == "__main__":
    main()
