"""What ``Module.to`` asks for: a dtype for floating tensors, a device for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from tracegrad import dtypes
from tracegrad.device import Device
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType
from tracegrad.errors import ArgumentTypeError


@final
@dataclass(frozen=True, slots=True)
class Conversion:
    """A function from a tensor to it in another dtype, on another device."""

    dtype: DType | None
    device: Device | str | None

    @staticmethod
    def named(dtype: str) -> Conversion:
        """Return the conversion to a dtype."""
        return Conversion(getattr(dtypes, dtype), None)

    @staticmethod
    def of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Conversion:
        """Return what the arguments of ``Module.to`` ask for.

        Raises
        ------
        ArgumentTypeError
            If an argument is no device, dtype or tensor, or the dtype not floating.
        """
        dtype, device = kwargs.pop("dtype", None), kwargs.pop("device", None)
        kwargs.pop("non_blocking", None)
        if kwargs:
            raise ArgumentTypeError(f"to() has no argument {next(iter(kwargs))!r}")
        for value in args:
            if isinstance(value, Tensor):
                dtype, device = value.dtype, value.device
            elif isinstance(value, DType):
                dtype = value
            elif isinstance(value, Device | str):
                device = value
            elif value is not None and not isinstance(value, bool):
                raise ArgumentTypeError(
                    "Module.to() takes a device, a dtype or a tensor, not "
                    f"{type(value).__name__}"
                )
        if dtype is not None and dtype.kind not in ("float", "complex"):
            raise ArgumentTypeError(
                "Module.to() takes a floating or complex dtype, not "
                f"{dtype.name}; integer buffers stay as they are"
            )
        return Conversion(dtype, device)

    def __call__(self, tensor: Tensor) -> Tensor:
        """Return `tensor` converted; itself if nothing changes."""
        floating = tensor.dtype.kind in ("float", "complex")
        if self.dtype is not None and floating:
            tensor = tensor.to(self.dtype)  # type: ignore[attr-defined]
        if self.device is not None:
            tensor = tensor.to(self.device)  # type: ignore[attr-defined]
        return tensor
