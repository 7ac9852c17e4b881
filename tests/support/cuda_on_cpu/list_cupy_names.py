"""Writes cupy_names.txt: the names that the real CuPy has.

Needs CuPy, but no GPU: ``pip install cupy-cuda13x`` in an environment of its own, then
run this file there. The stand-in offers no name that is not in the list.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Final

# What the stand-in may be asked for. A class is listed like a module.
_NAMESPACES: Final = (
    *("cupy", "cupy.ndarray", "cupy.ufunc", "cupy.RawKernel", "cupy.RawModule"),
    *("cupy.linalg", "cupy.fft", "cupy.random", "cupy.random.Generator"),
    *("cupy.cuda", "cupy.cuda.runtime", "cupy.cuda.compiler", "cupy.cuda.Stream"),
    *("cupy.cuda.Event", "cupy.cuda.Device", "cupy.cuda.MemoryPool"),
    *("cupy.cuda.PinnedMemoryPool", "cupy.cuda.MemoryPointer"),
    *("cupy.lib", "cupy.lib.stride_tricks"),
    *("cupyx", "cupyx.scipy", "cupyx.scipy.special"),
)


def _resolve(path: str) -> object:
    names = path.split(".")
    for count in range(len(names), 0, -1):
        try:
            found: object = import_module(".".join(names[:count]))
        except ImportError:
            continue
        for name in names[count:]:
            found = getattr(found, name)
        return found
    raise ImportError(f"{path} is neither a module nor a name in one")


def _is_offered(namespace: object, name: str) -> bool:
    if name.startswith("_"):
        # Operators of classes count; a module's private names do not.
        return isinstance(namespace, type) and name.endswith("__")
    try:
        getattr(namespace, name)
    except AttributeError:
        return False
    return True


def names() -> list[str]:
    """All names, dotted, in order."""
    # All first: importing a module, or a name made when asked for, adds to its parent.
    namespaces = {path: _resolve(path) for path in _NAMESPACES}
    found = set()
    for path, namespace in namespaces.items():
        offered = (name for name in dir(namespace) if _is_offered(namespace, name))
        found |= {f"{path}.{name}" for name in offered}
    return sorted(found)


def main() -> None:
    """Write the list beside this file."""
    version = import_module("cupy").__version__
    lines = [f"# cupy {version}", "# Written by list_cupy_names.py.", *names()]
    target = Path(__file__).with_name("cupy_names.txt")
    target.write_text("\n".join(lines) + "\n")
    sys.stdout.write(f"{len(lines) - 2} names of cupy {version} in {target.name}\n")


if __name__ == "__main__":
    main()
