"""Counts and searches over values: unique, bincount, histc, searchsorted.

None has a gradient. Where the size of a result depends on the data, the spec gives it
a name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, float64, int32, int64
from tracegrad.errors import (
    ArgumentValueError,
    DTypeError,
    NotSupportedError,
    ShapeError,
)
from tracegrad.ops._families import primitive
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.indexing import as_element
from tracegrad.sizes import SymbolicSize, shape_text
from tracegrad.spec import TensorSpec


def _unknown_size(name: str, input: TensorSpec) -> SymbolicSize:
    """Return a name for a size that the data decides.

    Raises
    ------
    NotSupportedError
        On the meta device, where there is no data.
    """
    if input.device.type == "meta":
        raise NotSupportedError(
            f"{name}: the size of the result depends on the data, which a tensor on "
            "the meta device has not"
        )
    found = SymbolicSize.named(name)
    assert isinstance(found, SymbolicSize)
    return found


# -- unique ---------------------------------------------------------------------------


def _unique_abstract(
    input: TensorSpec, dim: int | None, neighbours: bool
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    count = _unknown_size("unique", input)
    if dim is None:
        shape: Any = (count,)
        inverse = input.shape
    else:
        shape = (*input.shape[:dim], count, *input.shape[dim + 1 :])
        inverse = (input.shape[dim],)
    return (
        TensorSpec(input.dtype, shape, (), input.device),
        TensorSpec(int64, inverse, (), input.device),
        TensorSpec(int64, (count,), (), input.device),
    )


def _starts_of_runs(xp: Any, rows: Any) -> Any:
    """Return for each row whether it differs from the one before."""
    starts = xp.ones(rows.shape[0], dtype=bool)
    if rows.shape[0]:
        starts[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return starts


def _unique_kernel(
    xp: Any, input: Any, dim: int | None, neighbours: bool
) -> tuple[Any, Any, Any]:
    flat = input.reshape(-1) if dim is None else xp.moveaxis(input, dim, 0)
    rows = flat.reshape(flat.shape[0], math.prod(flat.shape[1:]))
    order = xp.arange(rows.shape[0])
    if not neighbours and rows.shape[1]:
        order = xp.lexsort(xp.flip(rows.T, 0))
    starts = _starts_of_runs(xp, rows[order])
    if not rows.shape[1] and not neighbours:
        starts[1:] = False
    run = xp.cumsum(starts.astype("int64")) - 1
    inverse = xp.empty(rows.shape[0], dtype="int64")
    inverse[order] = run
    counts = xp.bincount(run, minlength=0).astype("int64")
    found = flat[order[starts]]
    if dim is None:
        return found, inverse.reshape(input.shape), counts
    return xp.ascontiguousarray(xp.moveaxis(found, 0, dim)), inverse, counts


@primitive(
    "library",
    abstract=_unique_abstract,
    kernel=_unique_kernel,
    examples=lambda rng: [((rng.integers(0, 2, (2, 5)), None, False), {})],
    dynamic_size=True,
    public=False,
    method=False,
)
def distinct(
    input: Tensor, dim: int | None, neighbours: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Distinct elements (or runs of equal ones), which each element is, and counts."""


def _chosen(found: tuple[Any, Any, Any], inverse: bool, counts: bool) -> Any:
    given = [found[0]]
    if inverse:
        given.append(found[1])
    if counts:
        given.append(found[2])
    return given[0] if len(given) == 1 else tuple(given)


@public_function()
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the distinct elements, in order.

    Parameters
    ----------
    input : Tensor, shape (...)
    sorted : bool
        Accepted for PyTorch's sake: they are always in order.
    return_inverse, return_counts : bool
        Give too which of them each element is, and how often each occurs.
    dim : int, optional
        Compare the places along a dimension, not elements.

    Returns
    -------
    Tensor or tuple of Tensor
    """
    place = None if dim is None else canonical_dim("unique", dim, input.ndim)
    return _chosen(distinct(input, place, False), return_inverse, return_counts)


@public_function()
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return one element of each run of equal ones; see `unique`."""
    place = None if dim is None else canonical_dim("unique", dim, input.ndim)
    return _chosen(distinct(input, place, True), return_inverse, return_counts)


# -- bincount, histc ------------------------------------------------------------------


def _check_bincount(xp: Any, input: Any) -> None:
    if input.size and int(input.min()) < 0:
        raise ArgumentValueError("bincount takes numbers that are not negative")


def _bincount_abstract(input: TensorSpec, minlength: int) -> TensorSpec:
    if input.dtype.kind != "int":
        raise DTypeError(f"bincount takes integers, not {input.dtype.name}")
    if input.ndim != 1:
        raise ShapeError(f"bincount takes one dimension, not {input.ndim}")
    if minlength < 0:
        raise ArgumentValueError(f"bincount: minlength is negative: {minlength}")
    count = _unknown_size("bincount", input)
    return TensorSpec(int64, (count,), (), input.device)


def _bincount_kernel(xp: Any, input: Any, minlength: int) -> Any:
    _check_bincount(xp, input)
    return xp.bincount(input.astype("int64"), minlength=minlength).astype("int64")


@primitive(
    "library",
    name="bincount",
    abstract=_bincount_abstract,
    kernel=_bincount_kernel,
    examples=lambda rng: [((rng.integers(0, 4, 9), 6), {})],
    may_raise=True,
    dynamic_size=True,
    public=False,
    method=False,
)
def counts_of(input: Tensor, minlength: int) -> Tensor:
    """How often each number from 0 on occurs."""


def _weighted_abstract(
    input: TensorSpec, weights: TensorSpec, minlength: int
) -> TensorSpec:
    counted = _bincount_abstract(input, minlength)
    if weights.shape != input.shape:
        raise ShapeError(
            f"bincount: weights of shape {shape_text(weights.shape)} for numbers of "
            f"shape {shape_text(input.shape)}"
        )
    kept = weights.dtype if weights.dtype.name == "float32" else float64
    return counted.with_dtype(kept)


def _weighted_kernel(xp: Any, input: Any, weights: Any, minlength: int) -> Any:
    _check_bincount(xp, input)
    found = xp.bincount(input.astype("int64"), weights.astype("float64"), minlength)
    return found.astype("float32" if weights.dtype == "float32" else "float64")


@primitive(
    "library",
    abstract=_weighted_abstract,
    kernel=_weighted_kernel,
    examples=lambda rng: [((rng.integers(0, 4, 9), rng.standard_normal(9), 6), {})],
    may_raise=True,
    dynamic_size=True,
    public=False,
    method=False,
)
def bincount_weighted(input: Tensor, weights: Tensor, minlength: int) -> Tensor:
    """The sum of the weights of each number from 0 on."""


@public_function()
def bincount(
    input: Tensor, weights: Tensor | None = None, minlength: int = 0
) -> Tensor:
    """Return how often each number from 0 on occurs, or the sums of weights.

    Parameters
    ----------
    input : Tensor, shape (n,), integers that are not negative
    weights : Tensor, shape (n,), optional
    minlength : int
        The least size of the result.

    Raises
    ------
    ArgumentValueError
        If a number is negative.
    ShapeError
        If the shapes do not fit.
    """
    if weights is None:
        return counts_of(input, minlength)  # type: ignore[no-any-return]
    return bincount_weighted(input, weights, minlength)  # type: ignore[no-any-return]


def _histc_abstract(
    input: TensorSpec,
    bins: int,
    min: float,
    max: float,
) -> TensorSpec:
    if input.dtype.kind != "float":
        raise DTypeError(f"histc takes floating dtypes, not {input.dtype.name}")
    if bins <= 0:
        raise ArgumentValueError(f"histc: there must be bins, not {bins}")
    if max < min:
        raise ArgumentValueError(f"histc: max {max} is less than min {min}")
    return TensorSpec(input.dtype, (bins,), (), input.device)


def _histc_kernel(xp: Any, input: Any, bins: int, min: float, max: float) -> Any:
    flat = input.reshape(-1)
    low, high = float(min), float(max)
    if low == high and flat.size:
        low, high = float(flat.min()), float(flat.max())
    if not math.isfinite(low) or not math.isfinite(high):
        raise ArgumentValueError(f"histc: the range [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    inside = flat[(flat >= low) & (flat <= high)].astype("float64")
    place = ((inside - low) * (bins / (high - low))).astype("int64")
    place = xp.minimum(place, bins - 1)
    return xp.bincount(place, minlength=bins).astype(input.dtype)


@primitive(
    "library",
    abstract=_histc_abstract,
    kernel=_histc_kernel,
    may_raise=True,
    examples=lambda rng: [((rng.standard_normal((2, 5)), 4, -1, 1), {})],
)
def histc(
    input: Tensor,
    bins: int = 100,
    min: float = 0,
    max: float = 0,
) -> Tensor:
    """How many elements are in each of equal bins from min to max.

    If both are equal, from the smallest element to the largest.
    """


# -- searchsorted ---------------------------------------------------------------------


def _search_abstract(
    sorted_sequence: TensorSpec, input: TensorSpec, right: bool, dtype: DType
) -> TensorSpec:
    rows = sorted_sequence.shape[:-1]
    if sorted_sequence.ndim == 0:
        raise ShapeError("searchsorted: the sorted sequence needs a dimension")
    if rows and rows != input.shape[:-1]:
        raise ShapeError(
            f"searchsorted: sequences of shape {shape_text(sorted_sequence.shape)} and "
            f"values of shape {shape_text(input.shape)} differ before the last "
            "dimension"
        )
    return TensorSpec(dtype, input.shape, (), input.device)


def _search_kernel(
    xp: Any, sorted_sequence: Any, input: Any, right: bool, dtype: DType
) -> Any:
    side = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        found = xp.searchsorted(sorted_sequence, input, side=side)
        return xp.asarray(found).astype(dtype.numpy)
    result = xp.empty(input.shape, dtype=dtype.numpy)
    for row in np.ndindex(*input.shape[:-1]):
        result[row] = xp.searchsorted(sorted_sequence[row], input[row], side=side)
    return result


@primitive(
    "library",
    name="searchsorted",
    abstract=_search_abstract,
    kernel=_search_kernel,
    examples=lambda rng: [
        ((np.arange(4.0), rng.uniform(0, 3, (2, 3)), False, int64), {}),
        ((np.arange(8.0).reshape(2, 4), rng.uniform(0, 9, (2, 3)), True, int64), {}),
    ],
    public=False,
    method=False,
)
def places_in_order(
    sorted_sequence: Tensor, input: Tensor, right: bool, dtype: DType
) -> Tensor:
    """Where values would be put into sorted sequences."""


@public_function(method=False)
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return where values would be put into sorted sequences.

    Parameters
    ----------
    sorted_sequence : Tensor, shape (n,) or (..., n)
    input : Tensor, shape (...) or (..., m); or number
    out_int32 : bool
        Give int32, not int64.
    right : bool
        After equal elements, not before.
    side : {"left", "right"}, optional
        The same in words.
    sorter : Tensor, optional
        Indices that sort the sequence, if it is not sorted.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    ArgumentValueError
        If `side` is neither, or contradicts `right`.
    """
    if side not in (None, "left", "right") or (side == "left" and right):
        raise ArgumentValueError(f"searchsorted: side {side!r} with right={right}")
    ordered = sorted_sequence
    if sorter is not None:
        ordered = ordered.gather(-1, sorter)  # type: ignore[attr-defined]
    values = as_element(input, ordered)
    dtype = int32 if out_int32 else int64
    return places_in_order(ordered, values, right or side == "right", dtype)  # type: ignore[no-any-return]


@public_function(method=False)
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return which of the intervals between `boundaries` each value is in.

    Parameters
    ----------
    input : Tensor or number
    boundaries : Tensor, shape (n,), sorted
    out_int32, right : bool
        As for `searchsorted`.

    Raises
    ------
    ShapeError
        If the boundaries are no vector.
    """
    if boundaries.ndim != 1:
        raise ShapeError(
            f"bucketize: boundaries must be a vector, not {boundaries.ndim}-d"
        )
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)  # type: ignore[no-any-return]
