"""Copies in an order of dimensions: what ``memory_format=`` does."""

from __future__ import annotations

from tracegrad.dispatch.memory_format import (
    MemoryFormat,
    contiguous_format,
    preserve_format,
)
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ShapeError
from tracegrad.ops.casts import clone as copied
from tracegrad.ops.views import permute


def _channels_behind(input: Tensor, memory_format: MemoryFormat) -> Tensor:
    """Return the dimensions in the order of memory: channels behind."""
    if input.ndim != memory_format.ndim:
        raise ShapeError(
            f"{memory_format.name} wants {memory_format.ndim} dimensions, the tensor "
            f"has {input.ndim}"
        )
    return permute(input, 0, *range(2, input.ndim), 1)  # type: ignore[no-any-return]


def _channels_in_front(input: Tensor) -> Tensor:
    return permute(input, 0, input.ndim - 1, *range(1, input.ndim - 1))  # type: ignore[no-any-return]


@public_function()
def clone(
    input: Tensor,
    *,
    memory_format: MemoryFormat | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return a copy, through which gradients flow.

    Parameters
    ----------
    input : Tensor, shape (...)
    memory_format : MemoryFormat, optional
        Keep the order of dimensions in memory if not given.
    out : Tensor, optional
        What to write the copy into.

    Raises
    ------
    ShapeError
        If the format wants another number of dimensions.
    """
    if memory_format in (None, preserve_format):
        return copied(input, out=out)  # type: ignore[no-any-return]
    if memory_format == contiguous_format:
        return copied(input, True)  # type: ignore[no-any-return]
    assert memory_format is not None
    return _channels_in_front(copied(_channels_behind(input, memory_format), True))


@public_function()
def contiguous(
    input: Tensor, memory_format: MemoryFormat = contiguous_format
) -> Tensor:
    """Return `input` itself if its elements lie in the order asked for, else a copy.

    Parameters
    ----------
    input : Tensor, shape (...)
    memory_format : MemoryFormat
        Row-major if not given.

    Raises
    ------
    ShapeError
        If the format wants another number of dimensions.
    """
    if memory_format in (contiguous_format, preserve_format):
        return input if input.is_contiguous() else copied(input, True)
    if _channels_behind(input, memory_format).is_contiguous():
        return input
    return clone(input, memory_format=memory_format)  # type: ignore[no-any-return]
