"""Methods that write a tensor's whole memory: ``copy_``, ``fill_``, ``zero_``."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.inplace import check_overlap, check_writable, write
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor, edge_of
from tracegrad.errors import ArgumentTypeError, ShapeError


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write the elements of `src` into this tensor, and return it.

    Parameters
    ----------
    src : Tensor or number
        Of a shape that broadcasts to this one; any dtype.
    non_blocking : bool
        Accepted for PyTorch's sake; copies are done when the call returns.

    Raises
    ------
    ShapeError
        If the shape does not broadcast.
    InplaceError
        If autograd or the memory layout forbids the write.
    """
    if isinstance(src, bool | int | float | complex):
        return fill_(self, src)
    if not isinstance(src, Tensor):
        raise ArgumentTypeError(
            f"copy_: src must be a Tensor or a number, not {type(src).__name__}"
        )
    if src is self:
        return self
    check_writable(self, "copy_")
    check_overlap(self, src, "copy_")
    if src.device != self.device and not src.is_meta:
        src = src.to(self.device)  # type: ignore[attr-defined]
    write(self, _replacing(self, _expanded(self, src, "copy_")))
    return self


def _expanded(target: Tensor, value: Tensor, name: str) -> Tensor:
    shape = target._array.shape
    if value._array.shape == shape:
        return value
    try:
        return OPERATORS["expand"](value, *shape)  # type: ignore[no-any-return]
    except ShapeError:
        raise ShapeError(
            f"{name}: shape {list(value.shape)} does not broadcast to the target's "
            f"{list(shape)}"
        ) from None


def _replacing(target: Tensor, value: Tensor) -> Tensor:
    """Return `value` as an operator's result whose derivative by `target` is zero.

    So what was overwritten gets a gradient of zeros, not none; and the target gets a
    place of its own on the tape, not that of `value`.
    """
    if not thread.grad_enabled or edge_of(value) is None:
        return value
    if edge_of(target) is None:
        return OPERATORS["alias"](value)  # type: ignore[no-any-return]
    if value.dtype is not target.dtype:
        value = OPERATORS["cast"](value, target.dtype)
    return OPERATORS["view_write"](target, value, ())  # type: ignore[no-any-return]


def fill_(self: Tensor, value: Any) -> Tensor:
    """Write one number everywhere, and return the tensor.

    Raises
    ------
    ShapeError
        If `value` is a tensor with dimensions.
    InplaceError
        If autograd or the memory layout forbids the write.
    """
    if isinstance(value, Tensor):
        if value.ndim:
            raise ShapeError(
                "fill_: the value must have no dimensions, not shape "
                f"{list(value.shape)}"
            )
        return copy_(self, value)
    if not isinstance(value, bool | int | float | complex):
        raise ArgumentTypeError(
            f"fill_: the value must be a number, not {type(value).__name__}"
        )
    check_writable(self, "fill_")
    shape = self._array.shape
    write(self, OPERATORS["full"](shape, value, self.dtype, self.device))
    return self


def zero_(self: Tensor) -> Tensor:
    """Write zeros everywhere, and return the tensor."""
    return fill_(self, 0)


Tensor.copy_ = copy_  # type: ignore[attr-defined]
Tensor.fill_ = fill_  # type: ignore[attr-defined]
Tensor.zero_ = zero_  # type: ignore[attr-defined]
