"""Variances, quantiles and log-sum-exp over dimensions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tracegrad.dispatch.operator import OPERATORS, public_function
from tracegrad.dispatch.state import spoil
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, get_default_dtype, int64
from tracegrad.errors import ArgumentValueError, DTypeError, ShapeError
from tracegrad.location import warn
from tracegrad.ops._families import composite
from tracegrad.ops._reduction import accumulate_dtype, canonical_dim, canonical_dims
from tracegrad.ops.arithmetic import add, mul, sub
from tracegrad.ops.casts import cast
from tracegrad.ops.comparison import eq, ne
from tracegrad.ops.conversion import tensor
from tracegrad.ops.division import div
from tracegrad.ops.exponential import exp, log
from tracegrad.ops.powers import sqrt
from tracegrad.ops.reductions import amax, check_floating, count_of, mean
from tracegrad.ops.reductions import any as any_
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.selection import where
from tracegrad.ops.shaping import fit, spread
from tracegrad.ops.sorting import sort
from tracegrad.ops.views import reshape, squeeze
from tracegrad.sizes import Shape

# -- var, std -------------------------------------------------------------------------


def _in_dtype(input: Tensor, dtype: DType) -> Tensor:
    return input if input.dtype is dtype else cast(input, dtype)


def _degrees(input: Tensor, dim: Any, correction: float) -> float:
    """Return what the squares are divided by; not negative, with a warning at 0."""
    degrees = count_of(input, dim) - correction
    if degrees > 0:
        return float(degrees)
    spoil()
    warn(
        "var and std: there are no degrees of freedom: as many elements as the "
        "correction, or fewer",
    )
    return 0.0


def _centred(input: Tensor, dim: Any) -> Tensor:
    return sub(input, mean(input, dim, True))  # type: ignore[no-any-return]


def _squares(input: Tensor) -> Tensor:
    """Return the squared magnitudes."""
    if input.is_complex():
        return mul(input, input.conj()).real  # type: ignore[attr-defined, no-any-return]
    return mul(input, input)  # type: ignore[no-any-return]


@composite(
    name="var",
    public=False,
    method=False,
    examples=lambda rng: [
        ((rng.standard_normal((2, 3)), None, 1, False), {}),
        ((rng.standard_normal((2, 3)), (1,), 0.5, True), {}),
    ],
)
def variance(
    input: Tensor,
    dim: int | tuple[int, ...] | None,
    correction: float,
    keepdim: bool,
) -> Tensor:
    """Mean of the squared distances from the mean, over dimensions.

    Computed in two passes. Source: Chan, Golub, LeVeque, "Algorithms for Computing the
    Sample Variance" (1983), equation 1.1b.
    """
    check_floating("var", input.dtype)
    wide = _in_dtype(input, accumulate_dtype(input.dtype))
    total = sum_(_squares(_centred(wide, dim)), dim, keepdim)
    return _in_dtype(
        div(total, _degrees(input, dim, correction)), input.dtype.to_real()
    )


@composite(
    name="std",
    public=False,
    method=False,
    examples=lambda rng: [
        ((rng.standard_normal((2, 3)), None, 1, False), {}),
        ((rng.standard_normal((2, 3)), (1,), 0, True), {}),
    ],
)
def deviation(
    input: Tensor,
    dim: int | tuple[int, ...] | None,
    correction: float,
    keepdim: bool,
) -> Tensor:
    """Square root of the variance over dimensions.

    The derivative at equal elements is 0.
    """
    return sqrt(variance(input, dim, correction, keepdim))  # type: ignore[no-any-return]


def _spread_over(ct: Tensor, shape: Shape, dim: Any, keepdim: bool) -> Tensor:
    dims = canonical_dims("var", dim, len(shape)) if shape else ()
    return spread(ct, shape, dims, keepdim)


def _variance_vjp(
    ct: Tensor, input: Tensor, dim: Any, correction: float, keepdim: bool
) -> Tensor:
    degrees = count_of(input, dim) - correction
    wide = _in_dtype(input, accumulate_dtype(input.dtype))
    shape: Shape = input._array.shape
    slope = mul(_centred(wide, dim), _reciprocal(2, degrees))
    return _in_dtype(mul(_spread_over(ct, shape, dim, keepdim), slope), input.dtype)


def _reciprocal(number: float, divisor: float) -> float:
    return number / divisor if divisor else math.inf


def _variance_jvp(
    t: Tensor, input: Tensor, dim: Any, correction: float, keepdim: bool
) -> Tensor:
    degrees = count_of(input, dim) - correction
    centred = _centred(input, dim)
    centred = centred.conj() if centred.is_complex() else centred  # type: ignore[attr-defined]
    product = mul(centred, t)
    total = sum_(product.real if product.is_complex() else product, dim, keepdim)
    return mul(total, _reciprocal(2, degrees))  # type: ignore[no-any-return]


def _half_over(out: Tensor) -> Tensor:
    """Return 1 / (2 out), and 0 where that is infinite."""
    zero = eq(out, 0)
    return where(zero, 0, div(0.5, where(zero, 1, out)))  # type: ignore[no-any-return]


def _deviation_vjp(
    ct: Tensor, input: Tensor, out: Tensor, dim: Any, correction: float, keepdim: bool
) -> Tensor:
    inner = mul(ct, _half_over(out))
    return _variance_vjp(inner, input, dim, correction, keepdim)


def _deviation_jvp(
    t: Tensor, input: Tensor, out: Tensor, dim: Any, correction: float, keepdim: bool
) -> Tensor:
    change = _variance_jvp(t, input, dim, correction, keepdim)
    return mul(change, _half_over(out))  # type: ignore[no-any-return]


variance.vjp(input=_variance_vjp).jvp(input=_variance_jvp)
deviation.vjp(input=_deviation_vjp).jvp(input=_deviation_jvp)


class _Spread(NamedTuple):
    """The arguments of a variance, in one form."""

    dim: Any
    correction: float
    keepdim: bool


def _arguments(dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> _Spread:
    """Return the arguments of the overloads ``var(unbiased)`` and ``var(dim, …)``."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    if isinstance(dim, list):
        dim = tuple(dim)
    return _Spread(dim, 1 if correction is None else correction, keepdim)


@public_function()
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the variance over dimensions.

    Parameters
    ----------
    input : Tensor, shape (...), floating or complex
    dim : int or sequence of int, optional
    unbiased : bool, optional
        PyTorch's older way to say a correction of 1 or 0.
    keepdim : bool
    correction : float, optional
        What is subtracted from the number of elements before dividing, 1 if not given.

    Raises
    ------
    DTypeError
        If the dtype is neither floating nor complex.
    """
    return variance(input, *_arguments(dim, unbiased, keepdim, correction))  # type: ignore[no-any-return]


@public_function()
def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the standard deviation over dimensions; see `var` for the parameters."""
    return deviation(input, *_arguments(dim, unbiased, keepdim, correction))  # type: ignore[no-any-return]


@public_function(method=False)
def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean; see `var` for the parameters."""
    given = _arguments(dim, unbiased, keepdim, correction)
    return variance(input, *given), mean(input, given.dim, given.keepdim)


@public_function(method=False)
def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean; see `var` for the parameters."""
    given = _arguments(dim, unbiased, keepdim, correction)
    return deviation(input, *given), mean(input, given.dim, given.keepdim)


# -- logsumexp ------------------------------------------------------------------------


@composite(
    examples=lambda rng: [
        ((rng.standard_normal((2, 3)), 1), {}),
        ((rng.standard_normal((2, 3)), (0, 1), True), {}),
    ]
)
def logsumexp(
    input: Tensor, dim: int | tuple[int, ...], keepdim: bool = False
) -> Tensor:
    """Logarithm of the sum of exponentials over dimensions.

    The maximum is subtracted first, so that nothing overflows.

    Source: Blanchard, Higham, Higham, "Accurately computing the log-sum-exp and softmax
    functions" (2021), equation 1.3.
    """
    if input.dtype.kind in ("bool", "int"):
        input = cast(input, get_default_dtype())
    if input.numel() == 0:
        return log(sum_(exp(input), dim, keepdim))  # type: ignore[no-any-return]
    top = amax(input.real if input.is_complex() else input, dim, True)  # type: ignore[attr-defined]
    # A row whose maximum is infinite is its maximum: inf - inf would make NaN of it.
    shift = where(eq(abs(top), math.inf), 0, top)
    total = log(sum_(exp(sub(input, shift)), dim, keepdim))
    kept = shift if keepdim else reshape(shift, *total._array.shape)
    return add(total, kept)  # type: ignore[no-any-return]


def _logsumexp_vjp(
    ct: Tensor, input: Tensor, out: Tensor, dim: Any, keepdim: bool
) -> Tensor:
    shape: Shape = input._array.shape
    wide = _spread_over(out, shape, dim, keepdim)
    share = exp(sub(input, wide))
    share = share.conj() if share.is_complex() else share
    return fit(mul(_spread_over(ct, shape, dim, keepdim), share), (shape, input.dtype))


def _logsumexp_jvp(
    t: Tensor, input: Tensor, out: Tensor, dim: Any, keepdim: bool
) -> Tensor:
    shape: Shape = input._array.shape
    share = exp(sub(input, _spread_over(out, shape, dim, keepdim)))
    return sum_(mul(t, share), dim, keepdim)  # type: ignore[no-any-return]


logsumexp.vjp(input=_logsumexp_vjp).jvp(input=_logsumexp_jvp)

# -- quantile -------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _check_quantile(input: Tensor, q: list[float], interpolation: str) -> None:
    if input.dtype.name not in ("float32", "float64"):
        raise DTypeError(f"quantile takes float32 and float64, not {input.dtype.name}")
    if input.numel() == 0:
        raise ShapeError("quantile: an empty tensor has no quantiles")
    if not all(0 <= p <= 1 for p in q):
        raise ArgumentValueError(f"quantile: q must be between 0 and 1, not {q}")
    if interpolation not in _INTERPOLATIONS:
        raise ArgumentValueError(
            f"quantile: interpolation is one of {', '.join(_INTERPOLATIONS)}, not "
            f"{interpolation!r}"
        )


def _neighbours(rank: Any, interpolation: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return the places below and above a rank, and the weight of the latter."""
    if interpolation == "lower":
        rank = rank.floor()
    elif interpolation == "higher":
        rank = rank.ceil()
    elif interpolation == "nearest":
        rank = rank.round()
    below = rank.floor()
    weight = sub(rank, below)
    if interpolation == "midpoint":
        weight = where(eq(weight, 0), 0, 0.5 + weight * 0)
    return cast(below, int64), cast(rank.ceil(), int64), weight


def _between(low: Tensor, high: Tensor, weight: Tensor) -> Tensor:
    """Return the point between two numbers, seen from the nearer one."""
    step = sub(high, low)
    from_low = add(low, mul(weight, step))
    from_high = sub(high, mul(step, sub(1, weight)))
    return where(weight < 0.5, from_low, from_high)  # type: ignore[no-any-return, operator]


def _rows(input: Tensor, dim: int | None) -> tuple[Tensor, Shape, Shape]:
    """Return the rows to look at as the last dimension, and the shapes of results."""
    shape: Shape = input._array.shape
    if dim is None or input.ndim == 0:
        return reshape(input, -1), (), (1,) * input.ndim
    place = canonical_dim("quantile", dim, input.ndim)
    moved = input.movedim(place, -1)  # type: ignore[attr-defined]
    without = shape[:place] + shape[place + 1 :]
    return moved, without, (*shape[:place], 1, *shape[place + 1 :])


def _quantiles(
    input: Tensor, q: Any, dim: int | None, keepdim: bool, how: str, skip: bool
) -> Tensor:
    wanted = q if isinstance(q, Tensor) else tensor(q, dtype=input.dtype)
    if wanted.ndim > 1:
        raise ShapeError(
            f"quantile: q must be a number or a vector, not {wanted.ndim}-d"
        )
    wanted = wanted.detach()  # type: ignore[union-attr]
    _check_quantile(input, reshape(wanted, -1).tolist(), how)
    rows, without, kept = _rows(input, dim)
    missing = ne(rows, rows)
    ordered = sort(rows, -1).values
    size = rows._array.shape[-1]
    count = sum_(~missing, -1, True)
    rank = mul(reshape(wanted, -1), cast(count - 1, input.dtype).clamp(min=0))
    if not skip:
        # NaN comes last in order, so that the last place gives it.
        rank = where(any_(missing, -1, True), size - 1, rank)
    below, above, weight = _neighbours(rank, how)
    low = OPERATORS["gather"](ordered, below, -1)
    high = OPERATORS["gather"](ordered, above, -1)
    found = where(eq(weight, 0), low, _between(low, high, weight))
    shape = kept if keepdim else without
    if wanted.ndim == 0:
        return reshape(squeeze(found, -1), *shape)  # type: ignore[no-any-return]
    return reshape(found.movedim(-1, 0), wanted.numel(), *shape)  # type: ignore[no-any-return]


@public_function()
def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return the `q`-th quantiles of all elements, or along a dimension.

    Parameters
    ----------
    input : Tensor, shape (...), float32 or float64
    q : float, or Tensor of shape (n,)
        Between 0 and 1; several make a new first dimension.
    dim : int, optional
    keepdim : bool
    interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}
        How to choose between two elements.

    Raises
    ------
    DTypeError
        If the dtype is neither float32 nor float64.
    ArgumentValueError
        If `q` or `interpolation` makes no sense.

    Notes
    -----
    NaN where there is one; `nanquantile` leaves them out.
    """
    return _quantiles(input, q, dim, keepdim, interpolation, skip=False)


@public_function()
def nanquantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return the quantiles of the elements that are not NaN; see `quantile`."""
    return _quantiles(input, q, dim, keepdim, interpolation, skip=True)
