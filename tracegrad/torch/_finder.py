"""How ``import tracegrad.torch.nn`` resolves, and ``import torch.nn`` if wanted."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, final

from tracegrad.errors import StateError
from tracegrad.torch._facade import ROOT, Facade
from tracegrad.torch._table import MODULES

_ALIAS = "torch"


@final
class _FacadeLoader(Loader):
    """Makes the facade of one path; the alias is the same module."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name.startswith(ROOT):
            return Facade(spec.name, _summary(spec.name))
        return import_module(ROOT + spec.name.removeprefix(_ALIAS))

    def exec_module(self, module: ModuleType) -> None:
        """Nothing runs: names are looked up when they are asked for."""


@final
class TorchFinder(MetaPathFinder):
    """Finds the modules of the table, under both names.

    Attributes
    ----------
    serves_alias : bool
        Whether ``import torch`` finds tracegrad.
    """

    def __init__(self) -> None:
        self.serves_alias = False

    def enter(self) -> None:
        """Take part in imports, before the search for files."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        """Return the spec of a module that the table lists, else None."""
        first, _, rest = fullname.partition(".")
        if first == _ALIAS and self.serves_alias:
            # Otherwise nothing: the root's own folder is searched, not an installed
            # PyTorch's.
            return _spec_of(fullname) if rest in MODULES else None
        if fullname.startswith(f"{ROOT}.") and rest.partition(".")[2] in MODULES:
            return _spec_of(fullname)
        return None


def _spec_of(fullname: str) -> ModuleSpec:
    return ModuleSpec(fullname, _FacadeLoader(), is_package=True)


FINDER = TorchFinder()


def _summary(name: str) -> str:
    path = name.removeprefix(f"{ROOT}.")
    shown = ", ".join(f"`{source}`" for source in MODULES[path])
    return f"PyTorch's ``torch.{path}``: the names of {shown or 'nothing'}."


def install() -> None:
    """Let ``import torch`` find tracegrad from now on, in this process.

    ``python -m tracegrad.torch`` calls it before the script starts.

    Raises
    ------
    StateError
        If PyTorch is imported already: two libraries under one name would mix.
    """
    present = sys.modules.get(_ALIAS)
    root = import_module(ROOT)
    if present is not None and present is not root:
        raise StateError(
            "install() must come before the first `import torch`: PyTorch itself is "
            f"loaded already, from {getattr(present, '__file__', None)}"
        )
    FINDER.enter()
    FINDER.serves_alias = True
    sys.modules[_ALIAS] = root


@contextmanager
def aliased() -> Iterator[ModuleType]:
    """Let ``import torch`` find tracegrad while the block runs.

    What was imported as ``torch`` before is put back at its end.
    """
    before = _take_alias()
    served = FINDER.serves_alias
    install()
    try:
        yield sys.modules[_ALIAS]
    finally:
        _take_alias()
        sys.modules.update(before)
        FINDER.serves_alias = served


def _take_alias() -> dict[str, ModuleType]:
    names = [n for n in sys.modules if n == _ALIAS or n.startswith(f"{_ALIAS}.")]
    return {name: sys.modules.pop(name) for name in names}
