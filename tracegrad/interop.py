"""Libraries that must be told of tracegrad's tensors: einops.

einops asks each of its backends whether a tensor is its own. The one for tracegrad is
added as soon as einops is imported, before or after tracegrad. Its layers for PyTorch
(``einops.layers.torch``) take their ``torch`` from `tracegrad.torch` where that was
imported and PyTorch itself was not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, final

_BACKENDS = "einops._backends"
_LAYERS = "einops.layers.torch"


@final
class _Watched:
    """A loader that does something more around a module's execution.

    Not derived from `importlib.abc`, whose import costs as much as ours.
    """

    def __init__(self, loader: Any, run: Callable[[Any, ModuleType], None]) -> None:
        self._loader = loader
        self._run = run

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return what the other loader makes."""
        found: ModuleType | None = self._loader.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and what there is to do around it."""
        self._run(self._loader, module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


@final
class EinopsFinder:
    """Waits for einops to be imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        """Return the spec of einops' module, with our loader around its own."""
        if fullname not in (_BACKENDS, _LAYERS):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            run = _run_backends if fullname == _BACKENDS else _run_layers
            watched: Any = _Watched(spec.loader, run)
            spec.loader = watched
        return spec


def _run_backends(loader: Any, module: ModuleType) -> None:
    loader.exec_module(module)
    _add_backend(module)


def _run_layers(loader: Any, module: ModuleType) -> None:
    ours = sys.modules.get("tracegrad.torch")
    with nullcontext() if ours is None or "torch" in sys.modules else ours.aliased():
        loader.exec_module(module)


def _add_backend(backends: Any) -> None:
    """Derive tracegrad's backend from the one for PyTorch; einops finds subclasses."""

    def initialize(self: Any) -> None:
        self.torch = import_module("tracegrad")

    backends.TracegradBackend = type(
        "TracegradBackend",
        (backends.TorchBackend,),
        {"framework_name": "tracegrad", "__init__": initialize},
    )


def watch() -> None:
    """Tell einops of tracegrad's tensors: now if it is loaded, else when it is."""
    loaded = sys.modules.get(_BACKENDS)
    if loaded is not None:
        _add_backend(loaded)
    sys.meta_path.insert(0, EinopsFinder())
