"""SummaryWriter: that of tensorboardX, if it is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import MissingPackageError


class SummaryWriter:
    """Writes events for TensorBoard, through the package tensorboardX.

    Parameters
    ----------
    log_dir : str, optional
    **kwargs
        Those of tensorboardX's SummaryWriter; its methods are there too, and take
        tensors as well as arrays.

    Raises
    ------
    MissingPackageError
        If tensorboardX is not installed.
    """

    def __init__(self, log_dir: str | None = None, *args: Any, **kwargs: Any) -> None:
        if find_spec("tensorboardX") is None:
            raise MissingPackageError(
                "SummaryWriter needs the package tensorboardX, which is not installed: "
                "pip install tensorboardX"
            )
        writer = import_module("tensorboardX").SummaryWriter
        self._writer: Any = writer(log_dir, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_writer":
            raise AttributeError(name)
        found = getattr(self._writer, name)
        return _taking_tensors(found) if callable(found) else found

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self._writer.close()


def _taking_tensors(method: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return method(
            *[_array_of(arg) for arg in args],
            **{name: _array_of(arg) for name, arg in kwargs.items()},
        )

    return call


def _array_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().cpu().numpy()  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return {key: _array_of(part) for key, part in value.items()}
    return value
