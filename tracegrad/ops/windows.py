"""Views that reach over several dimensions: diagonals, windows, free strides."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.extents import address_of
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS, public_function
from tracegrad.dispatch.storage import storage_offset
from tracegrad.dispatch.tensor import Tensor, spec_of
from tracegrad.dtypes import int64
from tracegrad.errors import ArgumentValueError, ShapeError
from tracegrad.ops._families import primitive, view_family
from tracegrad.ops._functions import METHODS
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.creation import counted, stride_order
from tracegrad.ops.shaping import written_into_zeros, zeros_of
from tracegrad.ops.views import at_dim, permute, reshape
from tracegrad.sizes import Shape, shape_text
from tracegrad.spec import TensorSpec

# -- diagonal -----------------------------------------------------------------------


def _diagonal_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    ndim = operands[0].ndim
    dims = [canonical_dim("diagonal", attributes[d], ndim) for d in ("dim1", "dim2")]
    if dims[0] == dims[1]:
        raise ShapeError(f"diagonal: both dimensions are {dims[0]}")
    return {"offset": attributes["offset"], "dim1": dims[0], "dim2": dims[1]}


def _diagonal_abstract(
    input: TensorSpec, offset: int, dim1: int, dim2: int
) -> TensorSpec:
    rows, columns = input.shape[dim1], input.shape[dim2]
    length = min(rows + min(offset, 0), columns - max(offset, 0))  # type: ignore[type-var]
    others = [d for d in range(input.ndim) if d not in (dim1, dim2)]
    step = input.strides[dim1] + input.strides[dim2]
    return TensorSpec(
        input.dtype,
        (*(input.shape[d] for d in others), max(length, 0)),  # type: ignore[type-var]
        (*(input.strides[d] for d in others), step),
        input.device,
    )


def _diagonal_kernel(xp: Any, input: Any, offset: int, dim1: int, dim2: int) -> Any:
    rows, columns = max(-offset, 0), max(offset, 0)
    moved = xp.moveaxis(input, (dim1, dim2), (-2, -1))[..., rows:, columns:]
    length = min(moved.shape[-2:])
    step = moved.strides[-2] + moved.strides[-1]
    # xp.diagonal gives a read-only view.
    return xp.lib.stride_tricks.as_strided(
        moved, (*moved.shape[:-2], length), (*moved.strides[:-2], step)
    )


@view_family(
    abstract=_diagonal_abstract,
    kernel=_diagonal_kernel,
    canonical=_diagonal_canonical,
    examples=lambda rng: [
        ((rng.standard_normal((3, 4)),), {}),
        ((rng.standard_normal((2, 3, 3)), -1, 0, 2), {}),
    ],
)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, as the last dimension."""


diagonal.vjp(
    input=lambda ct, input_spec, offset, dim1, dim2: written_into_zeros(
        ct, input_spec, diagonal, offset=offset, dim1=dim1, dim2=dim2
    )
)


# -- unfold -------------------------------------------------------------------------


def _unfold_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    dim = canonical_dim("unfold", attributes["dimension"], operands[0].ndim)
    size, step = attributes["size"], attributes["step"]
    length = operands[0]._array.shape[dim] if operands[0].ndim else 1
    if not 0 <= size <= length:
        raise ShapeError(
            f"unfold: a window of {size} does not fit dimension {dim} of {length}"
        )
    if step <= 0:
        raise ArgumentValueError(f"unfold: the step must be positive, it is {step}")
    return {"dimension": dim, "size": size, "step": step}


def _unfold_abstract(
    input: TensorSpec, dimension: int, size: int, step: int
) -> TensorSpec:
    if input.ndim == 0:
        return TensorSpec(input.dtype, (size,), (1,), input.device)
    count = (input.shape[dimension] - size) // step + 1
    stride = input.strides[dimension]
    shape = (*input.shape[:dimension], count, *input.shape[dimension + 1 :], size)
    strides = (
        *input.strides[:dimension],
        stride * step,
        *input.strides[dimension + 1 :],
        stride,
    )
    return TensorSpec(input.dtype, shape, strides, input.device)


def _unfold_kernel(xp: Any, input: Any, dimension: int, size: int, step: int) -> Any:
    if input.ndim == 0:
        return input.reshape(1)[:size]
    shape, strides = list(input.shape), list(input.strides)
    shape.append(size)
    strides.append(strides[dimension])
    shape[dimension] = (shape[dimension] - size) // step + 1
    strides[dimension] *= step
    return xp.lib.stride_tricks.as_strided(input, shape, strides)


@view_family(
    abstract=_unfold_abstract,
    kernel=_unfold_kernel,
    canonical=_unfold_canonical,
    public=False,
    examples=lambda rng: [((rng.standard_normal((2, 7)), 1, 3, 2), {})],
)
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of a size along a dimension, a step apart, as the last dimension."""


def _folded_kernel(
    xp: Any, input: Any, shape: Shape, dimension: int, size: int, step: int
) -> Any:
    result = xp.zeros(shape, dtype=input.dtype)
    if not shape:
        return input.sum(dtype=input.dtype).reshape(())
    span = step * input.shape[dimension]
    for place in range(size):
        window = result[at_dim(dimension, slice(place, place + span, step))]
        window += input[..., place]
    return result


@primitive(
    "movement",
    abstract=lambda input, shape, dimension, size, step: TensorSpec(
        input.dtype, shape, (), input.device
    ),
    kernel=_folded_kernel,
    linear_in=("input",),
    public=False,
    method=False,
    examples=lambda rng: [((rng.standard_normal((2, 3, 3)), (2, 7), 1, 3, 2), {})],
)
def unfold_transposed(
    input: Tensor, shape: Shape, dimension: int, size: int, step: int
) -> Tensor:
    """Windows added up where they overlap: the transpose of `unfold`."""


unfold.vjp(
    input=lambda ct, input_spec, dimension, size, step: unfold_transposed(
        ct, input_spec[0], dimension, size, step
    )
)
unfold_transposed.vjp(
    input=lambda ct, dimension, size, step: unfold(ct, dimension, size, step)
)


# -- as_strided -----------------------------------------------------------------------


def _reach(size: Shape, stride: Shape) -> int:
    return sum((s - 1) * step for s, step in zip(size, stride, strict=True))  # type: ignore[misc]


def _strided_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    size, stride = attributes["size"], attributes["stride"]
    if len(size) != len(stride):
        raise ShapeError(
            f"as_strided: {len(size)} sizes and {len(stride)} strides; give as many"
        )
    if any(s < 0 for s in (*size, *stride, attributes["storage_offset"])):
        raise ShapeError("as_strided: sizes, strides and offset can't be negative")
    return attributes


def _strided_abstract(
    input: TensorSpec, size: Shape, stride: Shape, storage_offset: int
) -> TensorSpec:
    last = storage_offset + _reach(size, stride)
    room = input.size
    if 0 not in size and isinstance(room, int) and last >= room:
        raise ShapeError(
            f"as_strided: sizes {shape_text(size)}, strides {shape_text(stride)} and "
            f"offset {storage_offset} reach element {last} of a storage of {room}"
        )
    return TensorSpec(input.dtype, size, stride, input.device)


def _strided_kernel(
    xp: Any, input: Any, size: Shape, stride: Shape, storage_offset: int
) -> Any:
    step = input.itemsize
    start = input.reshape(-1)[storage_offset:]
    return xp.lib.stride_tricks.as_strided(start, size, [s * step for s in stride])


@view_family(
    name="as_strided",
    abstract=_strided_abstract,
    kernel=_strided_kernel,
    canonical=_strided_canonical,
    public=False,
    method=False,
    examples=lambda rng: [((rng.standard_normal((12,)), (3, 2), (2, 3), 1), {})],
)
def strided(
    input: Tensor, size: Shape, stride: Shape, storage_offset: int = 0
) -> Tensor:
    """Elements of a row-major tensor at an offset and free strides."""


def _strided_places(
    size: Shape, stride: Shape, storage_offset: int, like: Tensor
) -> Tensor:
    """Return where in the storage each element is, as indices."""
    places = counted(storage_offset, storage_offset + 1, 1, int64, like.device)
    places = reshape(places, *(1,) * len(size))
    for dim, (length, step) in enumerate(zip(size, stride, strict=True)):
        along = counted(0, length, 1, int64, like.device) * step
        shape = tuple(length if d == dim else 1 for d in range(len(size)))
        places = places + reshape(along, *shape)
    return places  # type: ignore[no-any-return]


def _strided_vjp(
    ct: Tensor, input_spec: Any, size: Shape, stride: Shape, storage_offset: int
) -> Tensor:
    shape, dtype = input_spec
    places = reshape(_strided_places(size, stride, storage_offset, ct), -1)
    zeros = zeros_of(((math.prod(shape),), dtype), ct)
    added = OPERATORS["index_put"](zeros, (places,), reshape(ct, -1), (0,), True)
    return reshape(added, *shape)  # type: ignore[no-any-return]


strided.vjp(input=_strided_vjp)


def _strided_copy(
    input: Tensor, size: Shape, stride: Shape, storage_offset: int
) -> Tensor:
    row_major = FUNCTIONS["contiguous"].function(input)
    return strided(row_major, size, stride, storage_offset)  # type: ignore[no-any-return]


strided.facts["logical"] = {
    "abstract": lambda input, size, stride, storage_offset: TensorSpec(
        input.dtype, size, (), input.device
    ),
    "kernel": lambda xp, input, size, stride, storage_offset: _strided_kernel(
        xp, xp.ascontiguousarray(input), size, stride, storage_offset
    ),
    "call": _strided_copy,
}


@public_function()
def as_strided(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """Return a view of the storage of `input` with free sizes and strides.

    Parameters
    ----------
    input : Tensor, shape (...)
    size, stride : sequence of int
        In elements.
    storage_offset : int, optional
        First element, counted in the storage that `input` is a view of; that of
        `input` if not given.

    Raises
    ------
    ShapeError
        If that reaches out of the storage.
    """
    base = input if input._view is None else input._view.base
    offset = _offset_in(base, input) if storage_offset is None else storage_offset
    if not base.is_contiguous():
        base = permute(base, *stride_order(spec_of(base)))
    if not base.is_contiguous():
        raise ShapeError(
            "as_strided: the storage has gaps or overlaps; use it on a clone()"
        )
    return strided(base, tuple(size), tuple(stride), offset)  # type: ignore[no-any-return]


def _offset_in(base: Tensor, view: Tensor) -> int:
    if view is base or view.is_meta:
        return 0
    first, own = (address_of(t._array) for t in (base, view))
    return (own - first) // base.element_size()


# -- what is written through a diagonal ------------------------------------------------


def _fill_diagonal(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal and return this tensor.

    With `wrap` the diagonal of a tall matrix starts again below its end, after one
    row.
    """
    sizes = self.shape
    if self.ndim < 2 or (self.ndim > 2 and len(set(sizes)) > 1):
        raise ShapeError(
            "fill_diagonal_ wants two dimensions, or more of one size, not "
            f"{shape_text(sizes)}"
        )
    if wrap and self.ndim == 2:
        for top in range(0, sizes[0], sizes[1] + 1):
            below: Any = self[top : top + sizes[1]]  # type: ignore[index]
            diagonal(below)[...] = fill_value
        return self
    target = as_strided(
        self, (min(sizes),), (sum(self.stride()),), storage_offset(self)
    )
    target[...] = fill_value
    return self


METHODS["fill_diagonal_"] = _fill_diagonal
