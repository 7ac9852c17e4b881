"""Norms of vectors over dimensions."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bool_
from tracegrad.errors import ArgumentValueError, ShapeError
from tracegrad.ops._families import composite
from tracegrad.ops._reduction import accumulate_dtype, canonical_dims
from tracegrad.ops.arithmetic import mul, sub
from tracegrad.ops.casts import cast
from tracegrad.ops.comparison import eq
from tracegrad.ops.division import div
from tracegrad.ops.factors import svd_factors
from tracegrad.ops.powers import power, sqrt
from tracegrad.ops.rearranging import movedim
from tracegrad.ops.reductions import amax, amin, check_floating, chosen_share
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.rounding import absolute, sgn
from tracegrad.ops.selection import where
from tracegrad.ops.shaping import spread
from tracegrad.ops.views import unsqueeze
from tracegrad.sizes import Shape


def _in_dtype(input: Tensor, dtype: DType) -> Tensor:
    return input if input.dtype is dtype else cast(input, dtype)


def _check_choice(input: Tensor, ord: float, dim: Any) -> None:
    """Refuse norms of nothing that have no value."""
    if ord >= 0 and not math.isinf(ord):
        return
    dims = canonical_dims("norm", dim, input.ndim) if input.ndim else ()
    if any(input.shape[d] == 0 for d in dims):
        raise ShapeError(f"norm: the norm of order {ord} of no elements is not defined")


@composite(
    public=False,
    method=False,
    examples=lambda rng: [
        ((rng.standard_normal((2, 3)), order, dim, False), {})
        for order in (0.0, 1.0, 2.0, 3.0, -2.0, math.inf, -math.inf)
        for dim in (None, 1)
    ],
)
def vector_norm(
    input: Tensor,
    ord: float,
    dim: int | tuple[int, ...] | None,
    keepdim: bool,
) -> Tensor:
    """The norm of order `ord` over dimensions.

    Source: Golub, Van Loan, "Matrix Computations", section 2.2.1.
    """
    check_floating("norm", input.dtype)
    _check_choice(input, ord, dim)
    wanted = input.dtype.to_real()
    size = absolute(_in_dtype(input, accumulate_dtype(input.dtype)))
    return _in_dtype(_norm_of_sizes(size, ord, dim, keepdim), wanted)


def _norm_of_sizes(size: Tensor, order: float, dim: Any, keepdim: bool) -> Tensor:
    if order == math.inf:
        return amax(size, dim, keepdim)  # type: ignore[no-any-return]
    if order == -math.inf:
        return amin(size, dim, keepdim)  # type: ignore[no-any-return]
    if order == 0:
        return sum_(cast(cast(size, bool_), size.dtype), dim, keepdim)  # type: ignore[no-any-return]
    if order == 1:
        return sum_(size, dim, keepdim)  # type: ignore[no-any-return]
    if order == 2:
        return sqrt(sum_(mul(size, size), dim, keepdim))  # type: ignore[no-any-return]
    total = sum_(power(size, float(order)), dim, keepdim)
    return power(total, 1.0 / order)  # type: ignore[no-any-return]


def _slope(input: Tensor, out: Tensor, ord: float, dims: Any, keepdim: bool) -> Tensor:
    """Return what the norm changes with each element; 0 where it has no derivative."""
    shape: Shape = input._array.shape
    direction = sgn(input)
    if ord == 0:
        return input.zeros_like()  # type: ignore[attr-defined, no-any-return]
    if ord == 1:
        return direction  # type: ignore[no-any-return]
    wide = spread(out, shape, dims, keepdim)
    if math.isinf(ord):
        size = absolute(input)
        share = chosen_share(size.zeros_like() + 1, size, out, dims, keepdim)
        return mul(direction, share)  # type: ignore[no-any-return]
    zero = eq(wide, 0)
    safe = where(zero, 1, wide)
    if ord == 2:
        return where(zero, 0, div(input, safe))  # type: ignore[no-any-return]
    return where(zero, 0, mul(direction, _ratio(absolute(input), safe, ord)))  # type: ignore[no-any-return]


def _ratio(size: Tensor, wide: Tensor, ord: float) -> Tensor:
    """Return (size / norm) ** (ord - 1), 0 for an element that is 0."""
    nothing = eq(size, 0)
    ratio = power(div(where(nothing, 1, size), wide), ord - 1.0)
    return where(nothing, 0, ratio)  # type: ignore[no-any-return]


def _dims(dim: Any, shape: Shape) -> tuple[int, ...]:
    return canonical_dims("norm", dim, len(shape)) if shape else ()


def _norm_vjp(
    ct: Tensor,
    input: Tensor,
    out: Tensor,
    ord: float,
    dim: Any,
    keepdim: bool,
) -> Tensor:
    shape: Shape = input._array.shape
    dims = _dims(dim, shape)
    carried = accumulate_dtype(input.dtype)
    wide, whole = _in_dtype(input, carried), _in_dtype(out, accumulate_dtype(out.dtype))
    slope = _slope(wide, whole, ord, dims, keepdim)
    return _in_dtype(mul(spread(ct, shape, dims, keepdim), slope), input.dtype)


def _norm_jvp(
    t: Tensor,
    input: Tensor,
    out: Tensor,
    ord: float,
    dim: Any,
    keepdim: bool,
) -> Tensor:
    slope = _slope(input, out, ord, _dims(dim, input._array.shape), keepdim)
    product = mul(t, slope.conj() if slope.is_complex() else slope)  # type: ignore[attr-defined]
    return sum_(product.real if product.is_complex() else product, dim, keepdim)  # type: ignore[no-any-return]


vector_norm.vjp(input=_norm_vjp).jvp(input=_norm_jvp)


def _nuclear(input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    if dim is None and input.ndim == 2:
        dim = (0, 1)
    if not isinstance(dim, tuple) or len(dim) != 2:
        raise ShapeError('norm: "nuc" is of matrices: dim must be 2 dimensions')
    rows, columns = canonical_dims("norm", dim, input.ndim)
    found = sum_(svd_factors(movedim(input, (rows, columns), (-2, -1)), False)[1], -1)
    for place in sorted((rows, columns)) if keepdim else ():
        found = unsqueeze(found, place)
    return found  # type: ignore[no-any-return]


@public_function()
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: DType | None = None,
) -> Tensor:
    """Return the norm of the elements over dimensions.

    Parameters
    ----------
    input : Tensor, shape (...), floating or complex
    p : float, inf, -inf, "fro" or "nuc"
        The order; "fro" is 2, "nuc" the sum of the singular values of matrices.
    dim : int or sequence of int, optional
        All if not given.
    keepdim : bool
    dtype : DType, optional
        What to cast to first.

    Raises
    ------
    DTypeError
        If the dtype is neither floating nor complex.
    ArgumentValueError
        If `p` is no order.
    """
    if p is None or p == "fro":
        p = 2.0
    source = input if dtype is None else _in_dtype(input, dtype)
    wanted = tuple(dim) if isinstance(dim, list) else dim
    if p == "nuc":
        return _nuclear(source, wanted, keepdim)
    if isinstance(p, str):
        raise ArgumentValueError(f'norm: p is a number, "fro" or "nuc", not {p!r}')
    return vector_norm(source, float(p), wanted, keepdim)  # type: ignore[no-any-return]


@public_function(method=False)
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the norm of the difference of two tensors."""
    return norm(sub(input, other), p)  # type: ignore[no-any-return]
