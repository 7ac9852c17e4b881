"""Sums and extremes over dimensions."""

from __future__ import annotations

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, int64
from tracegrad.errors import ShapeError
from tracegrad.ops._reduction import reduction
from tracegrad.ops.comparison import eq
from tracegrad.ops.shaping import spread
from tracegrad.spec import TensorSpec


def _summed(dtype: DType) -> DType:
    return int64 if dtype.kind in ("bool", "int") else dtype


@reduction(
    numpy="np.sum({x}, axis={axis}, keepdims={keepdims})",
    combine="{a} + {b}",
    start=lambda dtype: 0,
    result_dtype=_summed,
    linear_in=("input",),
)
def sum(  # noqa: A001 - PyTorch's name
    input: Tensor,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Sum over dimensions, of integers in int64."""


sum.vjp(input=lambda ct, input_spec, dim, keepdim: spread(ct, input_spec[0], dim, keepdim))


def _start_of_max(dtype: DType) -> float:
    return float("-inf")


@reduction(
    numpy="np.amax({x}, axis={axis}, keepdims={keepdims})",
    combine="{a} > {b} || {a} != {a} ? {a} : {b}",
    start=_start_of_max,
    result_dtype=lambda dtype: dtype,
)
def amax(
    input: Tensor, dim: int | tuple[int, ...] | None = None, keepdim: bool = False
) -> Tensor:
    """Largest element over dimensions; NaN if there is one.

    The gradient is shared evenly among elements that are equally large.
    """


def _amax_vjp(
    ct: Tensor,
    input: Tensor,
    out: Tensor,
    dim: tuple[int, ...],
    keepdim: bool,
) -> Tensor:
    chosen = eq(input, spread(out, input._array.shape, dim, keepdim))
    count = sum(chosen, dim, True)
    return (spread(ct, input._array.shape, dim, keepdim) / count).masked_select_or_zero(
        chosen
    )


amax.vjp(input=_amax_vjp)

_plain_abstract = amax.abstract


def _amax_abstract(
    input: TensorSpec, dim: tuple[int, ...], keepdim: bool
) -> TensorSpec:
    if any(input.shape[d] == 0 for d in dim):
        raise ShapeError(f"amax: shape {list(input.shape)} has no element to choose from")
    found: TensorSpec = _plain_abstract(input, dim, keepdim)
    return found


amax.abstract = _amax_abstract
