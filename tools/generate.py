"""Write what is made of the registry: two pages of tables, and the stubs.

python -m tools.generate           write the files
python -m tools.generate --check   say which are stale; exit status 1 if any is
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tools.compatibility import compatibility_page
from tools.operator_table import operator_table
from tools.stubs import package_stub, tensor_stub

ROOT = Path(__file__).parents[1]
FILES: dict[str, Callable[[], str]] = {
    "docs/compatibility.md": compatibility_page,
    "docs/operators.md": operator_table,
    "tracegrad/__init__.pyi": package_stub,
    "tracegrad/dispatch/tensor.pyi": tensor_stub,
}
COMMAND = "python -m tools.generate"


def stale(root: Path, files: Mapping[str, Callable[[], str]] = FILES) -> list[str]:
    """Return which files are not what the registry makes of them."""
    return [name for name, make in files.items() if _read(root / name) != make()]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the files and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    found = stale(ROOT)
    if options.check:
        for name in found:
            print(f"{name} is stale; run {COMMAND}")
        return 1 if found else 0
    for name in found:
        (ROOT / name).write_text(FILES[name](), encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
