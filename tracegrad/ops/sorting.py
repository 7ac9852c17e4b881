"""Elements in order, and the element at a place of that order."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import OPERATORS, public_function
from tracegrad.dispatch.results import RETURN_TYPES, ValuesIndices
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_, int64
from tracegrad.errors import (
    IndexRangeError,
    ShapeError,
    UnsupportedDTypeError,
)
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.casts import cast
from tracegrad.ops.comparison import ne
from tracegrad.ops.creation import filled
from tracegrad.ops.extremes import argmax, picked
from tracegrad.ops.reductions import any as any_
from tracegrad.ops.reductions import chosen_share
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.selection import where
from tracegrad.ops.shaping import spread
from tracegrad.ops.views import reshape, slice_
from tracegrad.sizes import shape_text
from tracegrad.spec import TensorSpec


def _matrix(rng: Any) -> Any:
    return rng.standard_normal((2, 3))


# -- sort -----------------------------------------------------------------------------


def _order_abstract(input: TensorSpec, dim: int, descending: bool) -> TensorSpec:
    if input.dtype.kind == "complex":
        raise UnsupportedDTypeError("sort: complex numbers have no order")
    return TensorSpec(int64, input.shape, (), input.device)


def _order_kernel(xp: Any, input: Any, dim: int, descending: bool) -> Any:
    if input.ndim == 0:
        return xp.zeros((), dtype="int64")
    array = input.astype("uint8") if input.dtype == bool else input
    if array.dtype.kind == "V":
        array = array.astype("float32")
    if not descending:
        order = xp.argsort(array, axis=dim, kind="stable")
        return xp.ascontiguousarray(order.astype("int64"))
    # The last of equal ones comes first when read backwards: so read twice.
    backwards = xp.argsort(xp.flip(array, dim), axis=dim, kind="stable")
    order = array.shape[dim] - 1 - xp.flip(backwards, dim)
    return xp.ascontiguousarray(order.astype("int64"))


def _order_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    dim = canonical_dim("sort", attributes["dim"], operands[0].ndim)
    return {"dim": dim, "descending": bool(attributes["descending"])}


@primitive(
    "library",
    name="argsort",
    abstract=_order_abstract,
    kernel=_order_kernel,
    canonical=_order_canonical,
    examples=lambda rng: [((_matrix(rng), 0), {}), ((_matrix(rng), 1, True), {})],
    public=False,
    method=False,
)
def order_of(input: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    """Where the elements in order are, equal ones in their order; NaN is largest."""


@public_function()
def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> Tensor:
    """Return the indices that sort `input` along `dim`.

    Equal elements keep their order, whatever `stable` says; NaN counts as largest.
    """
    return order_of(input, dim, descending)  # type: ignore[no-any-return]


@public_function()
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> ValuesIndices:
    """Return the elements in order along `dim`, and where they were.

    Parameters
    ----------
    input : Tensor, shape (...)
    dim : int
    descending : bool
    stable : bool
        Accepted for PyTorch's sake: equal elements always keep their order.

    Returns
    -------
    ValuesIndices
        NaN counts as largest.
    """
    place = canonical_dim("sort", dim, input.ndim)
    order = order_of(input, place, descending)
    made: ValuesIndices = RETURN_TYPES["sort"](
        OPERATORS["gather"](input, order, place), order
    )
    return made


@public_function()
def msort(input: Tensor) -> Tensor:
    """Return the elements in order along the first dimension."""
    return sort(input, 0).values  # type: ignore[no-any-return]


@public_function()
def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
) -> ValuesIndices:
    """Return the `k` largest (smallest) elements along `dim`, and where they were.

    Parameters
    ----------
    input : Tensor, shape (...)
    k : int
    dim : int
    largest : bool
    sorted : bool
        Accepted for PyTorch's sake: the result is always in order.

    Raises
    ------
    ShapeError
        If there are fewer than `k` elements along `dim`.
    """
    if input.dtype is bool_:
        raise UnsupportedDTypeError("topk does not take bool")
    place = canonical_dim("topk", dim, input.ndim)
    size = input._array.shape[place] if input.ndim else 1
    if not 0 <= k <= size:
        raise ShapeError(f"topk: {k} of {size} elements along dimension {place}")
    order = order_of(input, place, largest)
    if input.ndim:
        order = slice_(order, place, 0, k).contiguous()
    elif k == 0:
        order, input = _none_of(order), reshape(input, 1)
    made: ValuesIndices = RETURN_TYPES["topk"](
        OPERATORS["gather"](input, order, place), order
    )
    return made


def _none_of(order: Tensor) -> Tensor:
    return slice_(reshape(order, 1), 0, 0, 0)  # type: ignore[no-any-return]


# -- the k-th element -----------------------------------------------------------------


def _check_dim(name: str, input: Tensor, dim: int) -> int:
    if input.dtype.kind == "complex" or (input.dtype is bool_ and name != "mode"):
        raise UnsupportedDTypeError(f"{name} does not take {input.dtype.name}")
    place = canonical_dim(name, dim, input.ndim)
    if input.ndim and input._array.shape[place] == 0:
        raise IndexRangeError(
            f"{name}: shape {shape_text(input.shape)} is empty along dimension {place}"
        )
    return place


def _size(input: Tensor, dim: int) -> int:
    return int(input._array.shape[dim]) if input.ndim else 1


def _at_place(order: Tensor, dim: int, k: int) -> Tensor:
    return slice_(order, dim, k, k + 1).contiguous() if order.ndim else order


@public_function()
def kthvalue(
    input: Tensor, k: int, dim: int = -1, keepdim: bool = False
) -> ValuesIndices:
    """Return the `k`-th smallest element along `dim` (from 1), and where it is.

    Raises
    ------
    ShapeError
        If there is no `k`-th element.
    IndexRangeError
        If the dimension is empty.
    """
    place = _check_dim("kthvalue", input, dim)
    if not 1 <= k <= _size(input, place):
        raise ShapeError(f"kthvalue: there is no element {k} along dimension {place}")
    places = _at_place(order_of(input, place), place, k - 1)
    return picked("kthvalue", input, places, place, keepdim)


def _median_along(name: str, input: Tensor, dim: int, keepdim: bool) -> ValuesIndices:
    place = _check_dim(name, input, dim)
    middle = _at_place(order_of(input, place), place, (_size(input, place) - 1) // 2)
    if input.dtype.kind != "float" or input.ndim == 0:
        return picked(name, input, middle, place, keepdim)
    missing = cast(ne(input, input), int64)
    first = argmax(missing, place, True)
    has_nan = any_(missing, place, True)
    return picked(name, input, where(has_nan, first, middle), place, keepdim)


def _nanmedian_along(input: Tensor, dim: int, keepdim: bool) -> ValuesIndices:
    if input.dtype.kind != "float" or input.ndim == 0:
        return _median_along("nanmedian", input, dim, keepdim)
    place = _check_dim("nanmedian", input, dim)
    # NaN comes last: the middle of what comes before is the median without it.
    count = sum_(~ne(input, input), place, True)
    middle = ((count - 1) // 2).clamp(min=0)
    places = OPERATORS["gather"](order_of(input, place), middle, place)
    return picked("nanmedian", input, places, place, keepdim)


def _median_vjp(ct: Tensor, input: Tensor, out: Tensor) -> Tensor:
    dims = tuple(range(input.ndim))
    wide = spread(ct, input._array.shape, dims, False)
    return chosen_share(wide, input, out, dims, False)


def _median_jvp(t: Tensor, input: Tensor, out: Tensor) -> Tensor:
    dims = tuple(range(input.ndim))
    return sum_(chosen_share(t, input, out, dims, False))  # type: ignore[no-any-return]


def _nothing(input: Tensor) -> Tensor:
    if input.dtype.kind != "float":
        raise ShapeError("median: an empty tensor of integers has no median")
    return filled((), float("nan"), input.dtype, input.device)  # type: ignore[no-any-return]


@composite(
    name="median",
    public=False,
    method=False,
    examples=lambda rng: [((_matrix(rng),), {})],
)
def median_of_all(input: Tensor) -> Tensor:
    """Lower middle of all elements in order; NaN if there is one."""
    if input.numel() == 0:
        return _nothing(input)
    return _median_along("median", reshape(input, -1), 0, False).values


@composite(
    name="nanmedian",
    public=False,
    method=False,
    examples=lambda rng: [((_matrix(rng),), {})],
)
def nanmedian_of_all(input: Tensor) -> Tensor:
    """Lower middle of all elements in order that are not NaN."""
    if input.numel() == 0:
        return _nothing(input)
    return _nanmedian_along(reshape(input, -1), 0, False).values


for _operator in (median_of_all, nanmedian_of_all):
    _operator.vjp(input=_median_vjp).jvp(input=_median_jvp)


@public_function()
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the lower middle of the elements in order; NaN if there is one.

    Parameters
    ----------
    input : Tensor, shape (...)
    dim : int, optional
        All elements if not given.
    keepdim : bool

    Returns
    -------
    Tensor, or ValuesIndices for a dimension
        Of all, equal ones share the gradient; along a dimension the place named gets
        it.

    Raises
    ------
    IndexRangeError
        If the dimension is empty.
    """
    if dim is None:
        return median_of_all(input)
    return _median_along("median", input, dim, keepdim)


@public_function()
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the lower middle of the elements that are not NaN; see `median`."""
    if dim is None:
        return nanmedian_of_all(input)
    return _nanmedian_along(input, dim, keepdim)


# -- mode -----------------------------------------------------------------------------


def _mode_kernel(xp: Any, input: Any, dim: int) -> Any:
    """Return the last place of the most frequent element, the smallest of several."""
    if input.ndim == 0:
        return xp.zeros((), dtype="int64")
    moved = xp.moveaxis(input, dim, -1)
    order = xp.argsort(moved, axis=-1, kind="stable")
    ranked = xp.take_along_axis(moved, order, -1)
    counts = (ranked[..., :, None] == ranked[..., None, :]).sum(-1)
    best = xp.argmax(counts, axis=-1)[..., None]
    value = xp.take_along_axis(ranked, best, -1)
    size = moved.shape[-1]
    last = size - 1 - xp.argmax(xp.flip(moved == value, -1), axis=-1)
    return xp.ascontiguousarray(xp.moveaxis(last[..., None], -1, dim)).astype("int64")


def _mode_abstract(input: TensorSpec, dim: int) -> TensorSpec:
    if input.ndim == 0:
        return TensorSpec(int64, (), (), input.device)
    if input.shape[dim] == 0:
        raise IndexRangeError(f"mode: dimension {dim} has no element to choose from")
    shape = (*input.shape[:dim], 1, *input.shape[dim + 1 :])
    return TensorSpec(int64, shape, (), input.device)


@primitive(
    "library",
    abstract=_mode_abstract,
    kernel=_mode_kernel,
    examples=lambda rng: [((rng.integers(0, 2, (2, 5)), 1), {})],
    public=False,
    method=False,
)
def mode_place(input: Tensor, dim: int) -> Tensor:
    """Where the most frequent element along a dimension is."""


@public_function()
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """Return the most frequent element along `dim`, and its last place.

    The smallest of several that are equally frequent.

    Raises
    ------
    IndexRangeError
        If the dimension is empty.
    """
    place = _check_dim("mode", input, dim)
    return picked("mode", input, mode_place(input, place), place, keepdim)
