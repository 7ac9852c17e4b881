"""``weights_only=False``: pickles of files that the user trusts."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any, final

from tracegrad.errors import LoadError
from tracegrad.serialization.allowed import find_global

# Where PyTorch's classes of layers and optimizers are here.
_HOMES = (("torch.nn.", "tracegrad.nn"), ("torch.optim.", "tracegrad.optim"))


def run_trusted(
    program: bytes, start: int, persistent: Callable[[Any], Any]
) -> tuple[Any, int]:
    """Run a pickle as Python does: it may call anything.

    Raises
    ------
    LoadError
        If it names something of PyTorch that is not here.
    """
    file = io.BytesIO(program)
    file.seek(start)
    return _Unpickler(file, persistent).load(), file.tell()


@final
class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, persistent: Callable[[Any], Any]) -> None:
        super().__init__(file)
        self._persistent = persistent

    def persistent_load(self, pid: Any) -> Any:
        return self._persistent(pid)

    def find_class(self, module: str, name: str) -> Any:
        try:
            known = find_global(module, name)
        except LoadError:
            return self._found_by_python(module, name)
        return known.value if known.call is None else known.call

    def _found_by_python(self, module: str, name: str) -> Any:
        for prefix, home in _HOMES:
            if module.startswith(prefix):
                return getattr(import_module(home), name)
        if module.partition(".")[0] == "torch":
            raise LoadError(f"the file asks for {module}.{name}, which is not here")
        return super().find_class(module, name)
