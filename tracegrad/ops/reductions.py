"""Sums, products and extremes over dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bool_, int64, uint8
from tracegrad.errors import (
    ArgumentTypeError,
    DTypeError,
    ElementIndexError,
    ShapeError,
    UnsupportedDTypeError,
)
from tracegrad.ops._families import composite
from tracegrad.ops._reduction import (
    accumulate_dtype,
    canonical_dims,
    reduction,
)
from tracegrad.ops.arithmetic import mul
from tracegrad.ops.casts import cast
from tracegrad.ops.comparison import eq, ne
from tracegrad.ops.division import div
from tracegrad.ops.scans import product_of_others
from tracegrad.ops.selection import where
from tracegrad.ops.shaping import fit, spread
from tracegrad.ops.views import reshape
from tracegrad.sizes import Shape, numel, shape_text
from tracegrad.spec import TensorSpec

Dims = int | tuple[int, ...] | None


def _summed(dtype: DType) -> DType:
    return int64 if dtype.kind in ("bool", "int") else dtype


def _matrix(rng: Any) -> Any:
    return rng.standard_normal((2, 3))


@reduction(
    numpy="np.add.reduce({x}, axis={axis}, keepdims={keepdims})",
    columns="np.dot({ones}, {x})",
    combine="{a} + {b}",
    start=lambda dtype: 0,
    result_dtype=_summed,
    linear_in=("input",),
    examples=lambda rng: [((_matrix(rng),), {}), ((_matrix(rng), 1, True), {})],
)
def sum(
    input: Tensor,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Sum over dimensions, of integers in int64."""


def _sum_vjp(
    ct: Tensor, input_spec: Any, dim: tuple[int, ...], keepdim: bool
) -> Tensor:
    shape, dtype = input_spec
    return fit(spread(ct, shape, dim, keepdim), (shape, dtype))


sum.vjp(input=_sum_vjp)


# -- products -------------------------------------------------------------------------


@reduction(
    numpy="np.multiply.reduce({x}, axis={axis}, keepdims={keepdims})",
    combine="{a} * {b}",
    start=lambda dtype: 1,
    result_dtype=_summed,
    examples=lambda rng: [((_matrix(rng),), {}), ((_matrix(rng), 1), {})],
)
def prod(
    input: Tensor,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Product over a dimension, or over all; of integers in int64."""


def _one_dim(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    dim = attributes["dim"]
    if isinstance(dim, tuple) and len(dim) > 1:
        raise ArgumentTypeError(
            f"prod takes one dimension, or None for all, not {list(dim)}"
        )
    return _any_dims(operands, attributes)  # type: ignore[no-any-return]


_any_dims = prod.facts["canonical"]
prod.facts["canonical"] = _one_dim


def _prod_slope(
    change: Tensor, input: Tensor, dim: tuple[int, ...], keepdim: bool
) -> Tensor:
    """Return what the result changes with each element: the product of the others."""
    if input.ndim == 0:
        return change
    shape: Shape = input._array.shape
    if len(dim) == 1:
        others = product_of_others(input, dim[0])
    else:
        flat = product_of_others(reshape(input, -1), 0)
        others = reshape(flat, *shape)
    return others


def _prod_vjp(
    ct: Tensor,
    input: Tensor,
    dim: tuple[int, ...],
    keepdim: bool,
    dtype: DType | None,
) -> Tensor:
    source = input if dtype in (None, input.dtype) else cast(input, dtype)
    shape: Shape = input._array.shape
    if numel(shape) == 0:
        return input.zeros_like()  # type: ignore[attr-defined, no-any-return]
    slope = _prod_slope(ct, source, dim, keepdim)
    if input.ndim == 0:
        return cast(ct, input.dtype) if ct.dtype is not input.dtype else ct
    factor = slope.conj() if slope.is_complex() else slope  # type: ignore[attr-defined]
    found = mul(spread(ct, shape, dim, keepdim), factor)
    return found if found.dtype is input.dtype else cast(found, input.dtype)  # type: ignore[no-any-return]


def _prod_jvp(
    t: Tensor, input: Tensor, dim: tuple[int, ...], keepdim: bool, dtype: DType | None
) -> Tensor:
    source = input if dtype in (None, input.dtype) else cast(input, dtype)
    slope = _prod_slope(t, source, dim, keepdim)
    if input.ndim == 0:
        return t
    return sum(mul(t, slope), dim, keepdim)  # type: ignore[no-any-return]


prod.vjp(input=_prod_vjp).jvp(input=_prod_jvp)

# -- extremes -------------------------------------------------------------------------


def _lowest(dtype: DType) -> Any:
    if dtype.kind == "int":
        return int(np.iinfo(dtype.numpy).min)
    return False if dtype is bool_ else float("-inf")


def _highest(dtype: DType) -> Any:
    if dtype.kind == "int":
        return int(np.iinfo(dtype.numpy).max)
    return True if dtype is bool_ else float("inf")


@reduction(
    numpy="np.maximum.reduce({x}, axis={axis}, keepdims={keepdims})",
    combine="{a} > {b} || {a} != {a} ? {a} : {b}",
    start=_lowest,
    result_dtype=lambda dtype: dtype,
    examples=lambda rng: [((_matrix(rng),), {}), ((_matrix(rng), 0, True), {})],
)
def amax(
    input: Tensor, dim: int | tuple[int, ...] | None = None, keepdim: bool = False
) -> Tensor:
    """Largest element over dimensions; NaN if there is one.

    The gradient is shared evenly among elements that are equally large.
    """


@reduction(
    numpy="np.minimum.reduce({x}, axis={axis}, keepdims={keepdims})",
    combine="{a} < {b} || {a} != {a} ? {a} : {b}",
    start=_highest,
    result_dtype=lambda dtype: dtype,
    examples=lambda rng: [((_matrix(rng),), {}), ((_matrix(rng), 0, True), {})],
)
def amin(
    input: Tensor, dim: int | tuple[int, ...] | None = None, keepdim: bool = False
) -> Tensor:
    """Smallest element over dimensions; NaN if there is one.

    The gradient is shared evenly among elements that are equally small.
    """


def chosen_share(
    change: Tensor, input: Tensor, out: Tensor, dim: tuple[int, ...], keepdim: bool
) -> Tensor:
    """Return `change` where `input` equals `out`, divided by how many do."""
    shape: Shape = input._array.shape
    wide = spread(out, shape, dim, keepdim)
    # NaN is the extreme of a row that has one, and equals nothing.
    chosen = eq(input, wide) | (ne(input, input) & ne(wide, wide))
    count = cast(sum(chosen, dim, True), accumulate_dtype(input.dtype))
    share = div(change, count)
    found = share.masked_select_or_zero(chosen)
    return found if found.dtype is input.dtype else cast(found, input.dtype)  # type: ignore[no-any-return]


def _extreme_vjp(
    ct: Tensor, input: Tensor, out: Tensor, dim: tuple[int, ...], keepdim: bool
) -> Tensor:
    shape: Shape = input._array.shape
    return chosen_share(spread(ct, shape, dim, keepdim), input, out, dim, keepdim)


def _extreme_jvp(
    t: Tensor, input: Tensor, out: Tensor, dim: tuple[int, ...], keepdim: bool
) -> Tensor:
    return sum(chosen_share(t, input, out, dim, keepdim), dim, keepdim)  # type: ignore[no-any-return]


def _no_choice(name: str, shape: Shape, dim: tuple[int, ...]) -> None:
    """Refuse to choose among no elements.

    Raises
    ------
    ElementIndexError
        If a dimension to choose from is empty.
    """
    for d in dim:
        if shape[d] == 0:
            raise ElementIndexError(
                f"{name}: shape {shape_text(shape)} has no element along dimension {d} "
                "to choose from"
            )


def _state_extreme(operator: Any) -> None:
    operator.vjp(input=_extreme_vjp).jvp(input=_extreme_jvp)
    plain = operator.abstract

    def abstract(input: TensorSpec, dim: tuple[int, ...], keepdim: bool) -> TensorSpec:
        if input.dtype.kind == "complex":
            raise UnsupportedDTypeError(
                f"{operator.name}: complex numbers have no order"
            )
        _no_choice(operator.name, input.shape, dim)
        found: TensorSpec = plain(input, dim, keepdim)
        return found

    operator.abstract = abstract


_state_extreme(amax)
_state_extreme(amin)

# -- any, all -------------------------------------------------------------------------


def _truth(dtype: DType) -> DType:
    return uint8 if dtype is uint8 else bool_


@reduction(
    numpy="np.logical_or.reduce({x}, axis={axis}, keepdims={keepdims})",
    combine="{a} || {b}",
    start=lambda dtype: False,
    result_dtype=_truth,
    examples=lambda rng: [((_matrix(rng) > 0, 1), {}), ((_matrix(rng),), {})],
)
def any(
    input: Tensor, dim: int | tuple[int, ...] | None = None, keepdim: bool = False
) -> Tensor:
    """Whether an element over dimensions is not 0; of nothing False."""


@reduction(
    numpy="np.logical_and.reduce({x}, axis={axis}, keepdims={keepdims})",
    combine="{a} && {b}",
    start=lambda dtype: True,
    result_dtype=_truth,
    examples=lambda rng: [((_matrix(rng) > 0, 1), {}), ((_matrix(rng),), {})],
)
def all(
    input: Tensor, dim: int | tuple[int, ...] | None = None, keepdim: bool = False
) -> Tensor:
    """Whether all elements over dimensions are not 0; of nothing True."""


@composite(examples=lambda rng: [((_matrix(rng) > 0, 1), {})])
def count_nonzero(input: Tensor, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Number of elements over dimensions that are not 0, int64."""
    return sum(cast(input, bool_), dim)  # type: ignore[no-any-return]


def _with_missing(rng: Any) -> Any:
    return np.where(np.eye(2, 3) > 0, np.nan, _matrix(rng))


# -- means ----------------------------------------------------------------------------


def check_floating(name: str, dtype: DType) -> None:
    """Refuse dtypes that are neither floating nor complex.

    Raises
    ------
    DTypeError
        Naming the dtype.
    """
    if dtype.kind not in ("float", "complex"):
        raise DTypeError(
            f"{name} takes floating and complex dtypes, not {dtype.name}; "
            "cast with .float() first"
        )


def count_of(input: Tensor, dim: Dims) -> Any:
    """Return how many elements are folded into one."""
    dims = canonical_dims("mean", dim, input.ndim)
    shape: Shape = input._array.shape
    return numel(shape[d] for d in dims) if shape else 1


@composite(examples=lambda rng: [((_matrix(rng),), {}), ((_matrix(rng), 1, True), {})])
def mean(
    input: Tensor,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Mean over dimensions; half precision is summed in float32."""
    wanted = input.dtype if dtype is None else dtype
    check_floating("mean", wanted)
    total = sum(input, dim, keepdim, dtype=accumulate_dtype(wanted))
    found = div(total, count_of(input, dim))
    return found if found.dtype is wanted else cast(found, wanted)  # type: ignore[no-any-return]


@composite(examples=lambda rng: [((_with_missing(rng), 1), {})])
def nansum(
    input: Tensor,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Sum over dimensions with NaN taken as 0."""
    if input.dtype.kind == "complex":
        raise UnsupportedDTypeError("nansum does not take complex numbers")
    if input.dtype.kind != "float":
        return sum(input, dim, keepdim, dtype=dtype)  # type: ignore[no-any-return]
    return sum(where(ne(input, input), 0, input), dim, keepdim, dtype=dtype)  # type: ignore[no-any-return]


@composite(examples=lambda rng: [((_with_missing(rng), 1), {})])
def nanmean(
    input: Tensor,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Mean over dimensions of the elements that are not NaN."""
    check_floating("nanmean", input.dtype)
    if input.dtype.kind == "complex":
        raise UnsupportedDTypeError("nanmean does not take complex numbers")
    wanted = input.dtype if dtype is None else dtype
    missing = ne(input, input)
    carried = accumulate_dtype(wanted)
    total = sum(where(missing, 0, input), dim, keepdim, dtype=carried)
    count = cast(sum(~missing, dim, keepdim), carried)
    found = div(total, count)
    return found if found.dtype is wanted else cast(found, wanted)  # type: ignore[no-any-return]


def check_nonempty(name: str, input: Tensor) -> None:
    """Refuse a tensor without elements.

    Raises
    ------
    ShapeError
        If there is none.
    """
    if input.numel() == 0:
        raise ShapeError(
            f"{name}: a tensor of shape {shape_text(input.shape)} has no element to "
            "choose; name a dimension that is not empty"
        )
