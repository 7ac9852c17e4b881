"""A module whose names are looked up elsewhere, by the table."""

from __future__ import annotations

import difflib
import functools
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from tracegrad.torch._table import ABSENT, MODULES, REFUSED

ROOT = "tracegrad.torch"
_NONE = object()


class Facade(ModuleType):
    """A module of PyTorch's tree: its names are those of the modules in `MODULES`."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return _public_names(self)
        if name.startswith("__") and name != "__version__":
            # The import system asks for these; no table has them.
            raise AttributeError(name)
        path = _path_of(self)
        below = f"{path}.{name}" if path else name
        found = _submodule(below)
        if found is _NONE:
            found = _look_up(path, name)
        if found is _NONE:
            raise AttributeError(_absent(path, name))
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *_public_names(self)})


def _path_of(module: ModuleType) -> str:
    return module.__name__.removeprefix(ROOT).removeprefix(".")


def _submodule(path: str) -> Any:
    return _module(path) if path in MODULES else _NONE


def _look_up(path: str, name: str) -> Any:
    for source in sources(path):
        found = getattr(source, name, _NONE)
        if found is not _NONE:
            return found
    return _NONE


@functools.cache
def sources(path: str) -> tuple[ModuleType, ...]:
    """Return the modules in which names of ``torch.<path>`` are looked up."""
    return tuple(import_module(source) for source in MODULES[path] if _is_there(source))


def _is_there(source: str) -> bool:
    try:
        return source in sys.modules or find_spec(source) is not None
    except ModuleNotFoundError:
        return False


def _public_names(module: ModuleType) -> list[str]:
    path = _path_of(module)
    names = {name for source in sources(path) for name in _names_of(source)}
    return sorted(names | set(_children(path)))


def _names_of(source: ModuleType) -> Iterator[str]:
    names = getattr(source, "__all__", None)
    yield from (n for n in names or dir(source) if not n.startswith("_"))


def _children(path: str) -> Iterator[str]:
    start = f"{path}." if path else ""
    for name in MODULES:
        rest = name.removeprefix(start)
        if name.startswith(start) and rest and "." not in rest:
            yield rest


def _absent(path: str, name: str) -> str:
    """Return the sentence for a name that tracegrad does not have."""
    asked = ".".join(filter(None, ("torch", path, name)))
    reason = ABSENT.get(asked) or _refusal(path)
    if reason:
        return f"{asked} is not in tracegrad: {reason}"
    return f"tracegrad has no {asked}; {_nearest(path, name)}"


def _refusal(path: str) -> str:
    parts = path.split(".")
    above = (".".join(parts[: count + 1]) for count in range(len(parts)))
    return next((REFUSED[each] for each in above if each in REFUSED), "")


def _nearest(path: str, name: str) -> str:
    for other in dict.fromkeys((path, "", "nn", "nn.functional", "linalg")):
        found = {word.lower(): word for word in _public_names(_module(other))}
        close = difflib.get_close_matches(name.lower(), found, n=3, cutoff=0.6)
        if close:
            start = f"torch.{other}." if other else "torch."
            places = ", ".join(start + found[word] for word in close)
            return f"the nearest that it has: {places}"
    return "no name that it has is near; docs/compatibility.md lists them all"


def _module(path: str) -> ModuleType:
    return import_module(f"{ROOT}.{path}" if path else ROOT)
