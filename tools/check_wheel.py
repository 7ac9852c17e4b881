"""Check what is in a wheel: pure Python, typed, with its templates, and small.

python tools/check_wheel.py WHEEL LIMIT_BYTES
"""

import sys
from pathlib import Path
from zipfile import ZipFile

TEMPLATES = Path("tracegrad/codegen/templates")


def faults(wheel: Path, limit_bytes: int) -> list[str]:
    """Return what is wrong with a wheel, in sentences."""
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    found = []
    if not wheel.name.endswith("-py3-none-any.whl"):
        found.append(f"{wheel.name} is not pure Python")
    if wheel.stat().st_size >= limit_bytes:
        found.append(f"{wheel.stat().st_size} bytes, allowed are under {limit_bytes}")
    found += [f"{name} is missing" for name in sorted(expected() - names)]
    foreign = {name for name in names if not name.startswith("tracegrad")}
    found += [f"{name} should not be there" for name in sorted(foreign)]
    return found


def expected() -> set[str]:
    """Name the files that are easily left out of a wheel."""
    templates = {str(path) for path in TEMPLATES.rglob("*") if path.is_file()}
    return {"tracegrad/py.typed", *templates}


def main(wheel: Path, limit_bytes: int) -> int:
    """Print the size, or the faults."""
    found = faults(wheel, limit_bytes)
    for fault in found:
        print(fault)
    print(f"{wheel.name}: {wheel.stat().st_size} bytes, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
