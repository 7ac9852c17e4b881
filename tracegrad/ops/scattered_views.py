"""Copies of a tensor with the part behind a view replaced, and copies of views."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import FUNCTIONS, public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ShapeError
from tracegrad.ops._functions import method
from tracegrad.ops.casts import clone
from tracegrad.ops.creation import shape_of
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.shaping import sum_to_shape
from tracegrad.ops.views import select, slice_
from tracegrad.ops.windows import as_strided, diagonal
from tracegrad.sizes import shape_text


def _put(name: str, whole: Tensor, part: Tensor, src: Tensor) -> Tensor:
    if part._array.shape != src._array.shape:
        raise ShapeError(
            f"{name}: src must have shape {shape_text(part._array.shape)}, "
            f"not {shape_text(src._array.shape)}"
        )
    part.copy_(src)  # type: ignore[attr-defined]
    return whole


@public_function()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Return a copy of `input` with `src` at one place along `dim`.

    Parameters
    ----------
    input : Tensor, shape (...)
    src : Tensor, shape of ``input.select(dim, index)``
    dim, index : int

    Raises
    ------
    ShapeError
        If the shape of `src` is another.
    """
    whole = clone(input)
    return _put("select_scatter", whole, select(whole, dim, index), src)


@public_function()
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """Return a copy of `input` with `src` in a slice of `dim`.

    Parameters
    ----------
    input : Tensor, shape (...)
    src : Tensor, shape of the slice
    dim : int
    start, end : int, optional
        The whole dimension, where they are not given.
    step : int

    Raises
    ------
    ShapeError
        If the shape of `src` is another.
    """
    whole = clone(input)
    first, last, _ = slice(start, end).indices(whole._array.shape[dim])
    part = slice_(whole, dim, first, max(first, last), step)
    return _put("slice_scatter", whole, part, src)


@public_function()
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Return a copy of `input` with `src` on a diagonal.

    Parameters
    ----------
    input : Tensor, shape (...)
    src : Tensor, shape of ``input.diagonal(offset, dim1, dim2)``
    offset, dim1, dim2 : int

    Raises
    ------
    ShapeError
        If the shape of `src` is another.
    """
    whole = clone(input)
    return _put("diagonal_scatter", whole, diagonal(whole, offset, dim1, dim2), src)


@public_function()
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Any,
    stride: Any,
    storage_offset: int | None = None,
) -> Tensor:
    """Return a copy of `input` with `src` in the part that `as_strided` sees.

    Parameters
    ----------
    input : Tensor, shape (...)
    src : Tensor, shape `size`
    size, stride : sequence of int
    storage_offset : int, optional

    Raises
    ------
    ShapeError
        If the shape of `src` is another.
    """
    whole = clone(input, True)
    part = as_strided(whole, size, stride, storage_offset)
    return _put("as_strided_scatter", whole, part, src)


@public_function()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return a matrix with the elements of `input`, in order, on a diagonal.

    Parameters
    ----------
    input : Tensor, shape (...)
    offset : int
        Above the main diagonal where positive.
    """
    return FUNCTIONS["diag"].function(input.reshape(-1), offset)  # type: ignore[attr-defined, no-any-return]


@public_function()
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a copy of `length` places along `dim`, from `start` on."""
    return clone(FUNCTIONS["narrow"].function(input, dim, start, length), True)  # type: ignore[no-any-return]


@public_function(method=False)
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Return the coordinates of places in a row-major tensor of a shape.

    Parameters
    ----------
    indices : Tensor of integers
    shape : int or sequence of int

    Returns
    -------
    tuple of Tensor
        One for each dimension, shaped as `indices`.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.unravel_index(tg.tensor([5, 3]), (2, 3))
    (tensor([1, 1]), tensor([2, 0]))
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    places: list[Tensor] = []
    rest: Any = indices
    for size in reversed(sizes):
        places.append(rest % size)
        rest = rest // size
    return tuple(reversed(places))


@method("sum_to_size")
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Return the sums over the dimensions that broadcasting to a shape added."""
    wanted = shape_of(size)
    own = self._array.shape
    extra = len(own) - len(wanted)
    fits = extra >= 0 and all(
        w in (1, s) for s, w in zip(own[extra:], wanted, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"sum_to_size: size {shape_text(wanted)} is not expandable to size "
            f"{shape_text(own)}"
        )
    if not wanted:
        # Also of a tensor without dimensions: bools become integers.
        return sum_(self)  # type: ignore[no-any-return]
    return sum_to_shape(self, wanted)
