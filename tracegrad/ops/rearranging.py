"""Functions that choose among views: flatten, movedim, narrow, and others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracegrad.dispatch.operator import OPERATORS, public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentTypeError, IndexRangeError, ShapeError
from tracegrad.ops._functions import METHODS
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.creation import shape_of
from tracegrad.ops.views import (
    expand,
    permute,
    reshape,
    reshaped_view,
    resolved_shape,
    slice_,
    transpose,
    unsqueeze,
)
from tracegrad.sizes import Size, broadcast_shapes

# -- shapes -------------------------------------------------------------------------


@public_function()
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` as a view of the shape of `other`."""
    return reshaped_view(input, *other._array.shape)  # type: ignore[no-any-return]


@public_function()
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` in the shape of `other`."""
    return reshape(input, *other._array.shape)  # type: ignore[no-any-return]


@public_function()
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` expanded to the shape of `other`."""
    return expand(input, *other._array.shape)  # type: ignore[no-any-return]


@public_function()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return the dimensions from `start_dim` to `end_dim` joined into one.

    Parameters
    ----------
    input : Tensor, shape (...)
    start_dim, end_dim : int

    Raises
    ------
    ShapeError
        If `start_dim` comes after `end_dim`.
    """
    first = canonical_dim("flatten", start_dim, input.ndim)
    last = canonical_dim("flatten", end_dim, input.ndim)
    if first > last:
        raise ShapeError(f"flatten: start_dim {first} comes after end_dim {last}")
    if input.ndim == 0:
        return reshape(input, 1)  # type: ignore[no-any-return]
    if first == last:
        return input
    shape = input._array.shape
    joined = 1
    for size in shape[first : last + 1]:
        joined = joined * size
    return reshape(input, *shape[:first], joined, *shape[last + 1 :])  # type: ignore[no-any-return]


@public_function()
def ravel(input: Tensor) -> Tensor:
    """Return the elements in one dimension."""
    if input.ndim == 1 and input.is_contiguous():
        return input
    return reshape(input, -1)  # type: ignore[no-any-return]


@public_function()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Return dimension `dim` split into `sizes`, of which one may be -1.

    Raises
    ------
    ShapeError
        If the sizes do not multiply to the dimension's.
    """
    if input.ndim == 0:
        raise ShapeError("unflatten: a 0-dim tensor has no dimension to split")
    shape = input._array.shape
    place = canonical_dim("unflatten", dim, input.ndim)
    if not sizes:
        raise ShapeError("unflatten: sizes must not be empty")
    inner = resolved_shape("unflatten", shape_of((sizes,)), shape[place])
    return reshaped_view(input, *shape[:place], *inner, *shape[place + 1 :])  # type: ignore[no-any-return]


@public_function(method=False)
def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """Return `input` expanded to `size`."""
    return expand(input, *size)  # type: ignore[no-any-return]


METHODS["broadcast_to"] = broadcast_to


def _common_shape(*shapes: Any) -> Size:
    """Return the common shape of `shapes` under broadcasting."""
    given = [tuple(s) if isinstance(s, tuple | list) else (s,) for s in shapes]
    return Size(broadcast_shapes(*given))  # type: ignore[arg-type]


public_function(method=False, name="broadcast_shapes")(_common_shape)


@public_function(method=False)
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Return the tensors expanded to their common shape.

    Raises
    ------
    ShapeError
        If they do not broadcast.
    """
    given = _several(tensors)
    shape = broadcast_shapes(*[t._array.shape for t in given])
    return tuple(expand(t, *shape) for t in given)


def _several(tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        return tuple(tensors[0])
    return tensors


@public_function(method=False)
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, one tensor for each dimension.

    Parameters
    ----------
    *tensors : Tensor, shape (n,) or ()
    indexing : {"ij", "xy"}
        Whether the first dimension is the first tensor's or the second's.

    Raises
    ------
    ShapeError
        If a tensor has more than one dimension.
    ArgumentTypeError
        If `indexing` is neither.
    """
    given = _several(tensors)
    if indexing not in ("ij", "xy"):
        raise ArgumentTypeError(f'indexing must be "ij" or "xy", not {indexing!r}')
    if any(t.ndim > 1 for t in given):
        raise ShapeError("meshgrid takes tensors of one dimension or none")
    sizes = tuple(t.numel() for t in given)
    grids = []
    for place, t in enumerate(given):
        shape = tuple(-1 if d == place else 1 for d in range(len(given)))
        grids.append(expand(reshaped_view(t, *shape), *sizes))
    if indexing == "xy" and len(given) > 1:
        return tuple(transpose(g, 0, 1) for g in grids)
    return tuple(grids)


# -- orders -------------------------------------------------------------------------


@public_function()
def t(input: Tensor) -> Tensor:
    """Return a matrix transposed; vectors and numbers as they are.

    Raises
    ------
    ShapeError
        If there are more than two dimensions.
    """
    if input.ndim > 2:
        raise ShapeError(
            f"t() takes at most two dimensions, the tensor has {input.ndim}"
        )
    return transpose(input, 0, -1)  # type: ignore[no-any-return]


def _reversed_dims(self: Tensor) -> Tensor:
    """All dimensions in the opposite order."""
    return permute(self, *reversed(range(self.ndim)))  # type: ignore[no-any-return]


def _last_two_swapped(self: Tensor) -> Tensor:
    """The last two dimensions exchanged; a number as it is."""
    if self.ndim == 0:
        return self
    if self.ndim < 2:
        raise ShapeError(
            f"mT wants at least two dimensions, the tensor has {self.ndim}"
        )
    return transpose(self, -2, -1)  # type: ignore[no-any-return]


def _adjoint(self: Tensor) -> Tensor:
    """The last two dimensions exchanged and the elements conjugated."""
    turned = _last_two_swapped(self)
    return turned.conj() if turned.is_complex() else turned  # type: ignore[attr-defined]


for _name, _getter in {
    "T": _reversed_dims,
    "mT": _last_two_swapped,
    "H": _adjoint,
    "mH": _adjoint,
}.items():
    setattr(Tensor, _name, property(_getter))
public_function(name="adjoint")(_adjoint)


def _swapped(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return two dimensions exchanged, as `transpose` does."""
    return transpose(input, axis0, axis1)  # type: ignore[no-any-return]


public_function(name="swapaxes")(_swapped)
public_function(name="swapdims")(_swapped)


@public_function()
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Return dimensions moved to other places, the others in their order.

    Parameters
    ----------
    input : Tensor, shape (...)
    source, destination : int or sequence of int

    Raises
    ------
    ShapeError
        If there are not as many places as dimensions, or one is named twice.
    """
    sources, places = _as_dims(input, source), _as_dims(input, destination)
    if len(sources) != len(places):
        raise ShapeError(
            f"movedim: {len(sources)} dimensions can't move to {len(places)} places"
        )
    if len(set(sources)) < len(sources) or len(set(places)) < len(places):
        raise ShapeError("movedim: a dimension is named twice")
    left = iter([d for d in range(input.ndim) if d not in sources])
    at = dict(zip(places, sources, strict=True))
    order = [at[d] if d in at else next(left) for d in range(input.ndim)]
    return permute(input, *order)  # type: ignore[no-any-return]


public_function(name="moveaxis")(movedim)


def _as_dims(input: Tensor, dims: Any) -> list[int]:
    given = dims if isinstance(dims, tuple | list) else (dims,)
    return [canonical_dim("movedim", d, input.ndim) for d in given]


# -- parts --------------------------------------------------------------------------


@public_function()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """Return `length` places from `start` along a dimension, as a view.

    Raises
    ------
    ShapeError
        If they reach over the end, or `length` is negative.
    IndexRangeError
        If `start` is out of range.
    """
    if input.ndim == 0:
        raise ShapeError("narrow: a 0-dim tensor has no dimension to cut")
    place = canonical_dim("narrow", dim, input.ndim)
    size = input._array.shape[place]
    first = int(start)
    if length < 0:
        raise ShapeError(f"narrow: the length must not be negative, it is {length}")
    if not -size <= first <= size:
        raise IndexRangeError(f"narrow: start {first} is out of range for size {size}")
    first = first + size if first < 0 else first
    if first + length > size:
        raise ShapeError(
            f"narrow: start {first} and length {length} reach over size {size}"
        )
    return slice_(input, place, first, first + length)  # type: ignore[no-any-return]


def _each(function: Callable[[Tensor], Tensor], tensors: tuple[Any, ...]) -> Any:
    given = _several(tensors)
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return function(tensors[0])
    return tuple(map(function, given))


def _with_one(input: Tensor) -> Tensor:
    return input if input.ndim else reshape(input, 1)


def _with_two(input: Tensor) -> Tensor:
    if input.ndim >= 2:
        return input
    return unsqueeze(_with_one(input), 0)  # type: ignore[no-any-return]


def _with_three(input: Tensor) -> Tensor:
    if input.ndim >= 3:
        return input
    return unsqueeze(_with_two(input), -1)  # type: ignore[no-any-return]


@public_function(method=False)
def atleast_1d(*tensors: Any) -> Any:
    """Return the tensor(s) with at least one dimension."""
    return _each(_with_one, tensors)


@public_function(method=False)
def atleast_2d(*tensors: Any) -> Any:
    """Return the tensor(s) with at least two dimensions."""
    return _each(_with_two, tensors)


@public_function(method=False)
def atleast_3d(*tensors: Any) -> Any:
    """Return the tensor(s) with at least three dimensions."""
    return _each(_with_three, tensors)


@public_function(method=False)
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all combinations of elements, one of each vector, as rows.

    Raises
    ------
    ShapeError
        If a tensor has more than one dimension.
    """
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    rows = [unsqueeze(reshape(grid, -1), 1) for grid in grids]
    return OPERATORS["cat"](rows, 1)  # type: ignore[no-any-return]


# -- how many -----------------------------------------------------------------------


def _ndimension(self: Tensor) -> int:
    """Return the number of dimensions."""
    return self.ndim


def _nelement(self: Tensor) -> int:
    """Return the number of elements."""
    return self.numel()


METHODS["ndimension"] = _ndimension
METHODS["nelement"] = _nelement


@public_function(method=False)
def numel(input: Tensor) -> int:
    """Return the number of elements."""
    return input.numel()


@public_function(method=False)
def is_tensor(obj: Any, /) -> bool:
    """Return whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


@public_function(method=False)
def is_floating_point(input: Tensor) -> bool:
    """Return whether the dtype is a real floating type."""
    return input.is_floating_point()


@public_function(method=False)
def is_complex(input: Tensor) -> bool:
    """Return whether the dtype is complex."""
    return input.is_complex()
