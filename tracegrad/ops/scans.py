"""Running sums, products and extremes along a dimension."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import OPERATORS, public_function
from tracegrad.dispatch.results import RETURN_TYPES, ValuesIndices
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, int64
from tracegrad.errors import (
    DTypeError,
    IndexRangeError,
    ShapeError,
    UnsupportedDTypeError,
)
from tracegrad.ops._arrays import cast_array
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.arithmetic import add, mul, sub
from tracegrad.ops.casts import cast, clone
from tracegrad.ops.comparison import eq
from tracegrad.ops.creation import filled
from tracegrad.ops.joining import cat
from tracegrad.ops.logical import logical_xor
from tracegrad.ops.selection import where
from tracegrad.ops.shaping import fit
from tracegrad.ops.views import at_dim, reshape, slice_
from tracegrad.sizes import Shape
from tracegrad.spec import TensorSpec


def _canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    dim = canonical_dim("dim", attributes["dim"], operands[0].ndim)
    found = attributes | {"dim": dim}
    if "dtype" in attributes:
        found["dtype"] = attributes["dtype"] or _summed(operands[0].dtype)
    return found


def _summed(dtype: DType) -> DType:
    return int64 if dtype.kind in ("bool", "int") else dtype


def _abstract(input: TensorSpec, dim: int, dtype: DType) -> TensorSpec:
    return TensorSpec(dtype, input.shape, (), input.device)


def _matrix(rng: Any) -> Any:
    return rng.standard_normal((2, 4))


def flipped(input: Tensor, dim: int) -> Tensor:
    """Return the places along a dimension in the opposite order."""
    if input.ndim == 0:
        return input
    return OPERATORS["flip"](input, dim)  # type: ignore[no-any-return]


# -- cumsum ---------------------------------------------------------------------------


def _carried(xp: Any, input: Any, dtype: DType) -> Any:
    """Return `input` in the dtype that running results are carried in."""
    array = cast_array(input, dtype.numpy)
    wide = _WIDE.get(dtype.name)
    return array if wide is None else array.astype(wide)


# What running results are carried in, as PyTorch does on the CPU.
_WIDE = {
    "float16": "float32",
    "bfloat16": "float32",
    "float32": "float64",
    "complex64": "complex128",
}


def _cumsum_kernel(xp: Any, input: Any, dim: int, dtype: DType) -> Any:
    array = _carried(xp, input, dtype)
    if array.ndim == 0:
        return xp.array(cast_array(array, dtype.numpy), copy=True)
    running = xp.cumsum(array, axis=dim, dtype=array.dtype)
    return cast_array(xp.ascontiguousarray(running), dtype.numpy)


@primitive(
    "scan",
    abstract=_abstract,
    kernel=_cumsum_kernel,
    canonical=_canonical,
    linear_in=("input",),
    inplace=True,
    examples=lambda rng: [((_matrix(rng), 1), {}), ((_matrix(rng), 0), {})],
)
def cumsum(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Running sum along a dimension, of integers in int64."""


def _cumsum_vjp(ct: Tensor, input_spec: Any, dim: int) -> Tensor:
    return fit(flipped(cumsum(flipped(ct, dim), dim), dim), input_spec)


cumsum.vjp(input=_cumsum_vjp)

# -- cumprod, by a linear recurrence ---------------------------------------------------


def _recurrence_abstract(input: TensorSpec, factor: TensorSpec, dim: int) -> TensorSpec:
    if input.shape != factor.shape or input.dtype is not factor.dtype:
        raise ShapeError("linear_recurrence: both operands must be alike")
    return TensorSpec(input.dtype, input.shape, (), input.device)


def _recurrence_kernel(xp: Any, input: Any, factor: Any, dim: int) -> Any:
    half = input.dtype.itemsize == 2
    result = xp.array(input, dtype="float32" if half else None, copy=True, order="C")
    if input.ndim == 0:
        return result.astype(input.dtype)
    for place in range(1, input.shape[dim]):
        before, here = at_dim(dim, place - 1), at_dim(dim, place)
        result[here] += factor[here] * result[before]
    return result.astype(input.dtype, copy=False)


@primitive(
    "scan",
    abstract=_recurrence_abstract,
    kernel=_recurrence_kernel,
    linear_in=("input",),
    public=False,
    method=False,
    examples=lambda rng: [((_matrix(rng), _matrix(rng), 1), {})],
)
def linear_recurrence(input: Tensor, factor: Tensor, dim: int) -> Tensor:
    """The running values r[i] = input[i] + factor[i] * r[i - 1], r[0] = input[0]."""


def _shifted(input: Tensor, dim: int, fill_value: float) -> Tensor:
    """Return `input` moved one place on along `dim`, a number in the first place."""
    if input.ndim == 0:
        return filled((), fill_value, input.dtype, input.device)  # type: ignore[no-any-return]
    shape: Shape = input._array.shape
    if shape[dim] == 0:
        return input
    one = (*shape[:dim], 1, *shape[dim + 1 :])
    first = filled(one, fill_value, input.dtype, input.device)
    rest = slice_(input, dim, 0, shape[dim] - 1)
    return cat([first, rest], dim)  # type: ignore[no-any-return]


def _conjugated(input: Tensor) -> Tensor:
    return input.conj() if input.is_complex() else input  # type: ignore[attr-defined]


def _backwards(ct: Tensor, factor: Tensor, dim: int) -> Tensor:
    """Return q[i] = ct[i] + factor[i + 1] * q[i + 1]: the recurrence's transpose."""
    moved = _shifted(flipped(_conjugated(factor), dim), dim, 0)
    return flipped(linear_recurrence(flipped(ct, dim), moved, dim), dim)


linear_recurrence.vjp(
    input=lambda ct, factor, dim: _backwards(ct, factor, dim),
    factor=lambda ct, factor, out, dim: mul(
        _backwards(ct, factor, dim), _conjugated(_shifted(out, dim, 0))
    ),
).jvp(
    factor=lambda t, factor, out, dim: linear_recurrence(
        mul(t, _shifted(out, dim, 0)), factor, dim
    )
)


def _cumprod_kernel(xp: Any, input: Any, dim: int, dtype: DType) -> Any:
    array = _carried(xp, input, dtype)
    if array.ndim == 0:
        return xp.array(cast_array(array, dtype.numpy), copy=True)
    running = xp.cumprod(array, axis=dim, dtype=array.dtype)
    return cast_array(xp.ascontiguousarray(running), dtype.numpy)


@primitive(
    "scan",
    abstract=_abstract,
    kernel=_cumprod_kernel,
    canonical=_canonical,
    inplace=True,
    examples=lambda rng: [((_matrix(rng), 1), {}), ((_matrix(rng), 0), {})],
)
def cumprod(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Running product along a dimension, of integers in int64.

    No derivative divides by the input: the product of those before is a running
    product too, and what follows is summed by a linear recurrence.
    """


def _in_dtype(input: Tensor, dtype: DType) -> Tensor:
    return input if input.dtype is dtype else cast(input, dtype)


def _cumprod_vjp(
    ct: Tensor, input: Tensor, out: Tensor, dim: int, dtype: DType
) -> Tensor:
    own = _in_dtype(input, dtype)
    before = _conjugated(_shifted(out, dim, 1))
    return _in_dtype(mul(before, _backwards(ct, own, dim)), input.dtype)


def _cumprod_jvp(
    t: Tensor, input: Tensor, out: Tensor, dim: int, dtype: DType
) -> Tensor:
    own = _in_dtype(input, dtype)
    change = mul(_in_dtype(t, dtype), _shifted(out, dim, 1))
    return linear_recurrence(change, own, dim)  # type: ignore[no-any-return]


cumprod.vjp(input=_cumprod_vjp).jvp(input=_cumprod_jvp)


def product_of_others(input: Tensor, dim: int) -> Tensor:
    """Return for each place along `dim` the product of all others, without division."""
    before = _shifted(cumprod(input, dim), dim, 1)
    after = flipped(_shifted(cumprod(flipped(input, dim), dim), dim, 1), dim)
    # A product that overflowed beside one that is 0 would make NaN of what is 0.
    infinite = OPERATORS["isinf"]
    mixed = (eq(before, 0) & infinite(after)) | (eq(after, 0) & infinite(before))
    zero = mixed & _is_finite(input, dim)
    return mul(where(zero, 0, before), where(zero, 0, after))  # type: ignore[no-any-return]


def _is_finite(input: Tensor, dim: int) -> Tensor:
    """Return whether all elements along a dimension are finite."""
    return OPERATORS["all"](OPERATORS["isfinite"](input), dim, True)  # type: ignore[no-any-return]


# -- cummax, cummin -------------------------------------------------------------------


def _places_abstract(input: TensorSpec, dim: int, largest: bool) -> TensorSpec:
    if input.dtype.kind == "complex":
        raise UnsupportedDTypeError("cummax, cummin: complex numbers have no order")
    return TensorSpec(int64, input.shape, (), input.device)


def _running_places(xp: Any, input: Any, dim: int, largest: bool) -> Any:
    """Return where the running extreme is: the last of equal ones, NaN before all."""
    places = xp.zeros(input.shape, dtype="int64")
    if input.ndim == 0 or input.size == 0:
        return places
    best = xp.array(input[at_dim(dim, 0)], copy=True)
    where_best = places[at_dim(dim, 0)].copy()
    for place in range(1, input.shape[dim]):
        here = input[at_dim(dim, place)]
        beats = here >= best if largest else here <= best
        wins = (beats | (here != here)) & ((best == best) | (here != here))
        best = xp.where(wins, here, best)
        where_best = xp.where(wins, place, where_best)
        places[at_dim(dim, place)] = where_best
    return places


@primitive(
    "scan",
    abstract=_places_abstract,
    kernel=_running_places,
    canonical=_canonical,
    examples=lambda rng: [
        ((_matrix(rng), 1, True), {}),
        ((_matrix(rng), 0, False), {}),
    ],
    public=False,
    method=False,
)
def running_extreme(input: Tensor, dim: int, largest: bool) -> Tensor:
    """Where the largest (smallest) element so far along a dimension is."""


@public_function()
def cummax(input: Tensor, dim: int) -> ValuesIndices:
    """Return the running maximum along `dim`, and where it is.

    NaN stays once it came. The gradient goes to the place named.

    Returns
    -------
    ValuesIndices
        ``values``, and ``indices`` in int64: the last of equal ones.
    """
    places = running_extreme(input, dim, True)
    return RETURN_TYPES["cummax"](OPERATORS["gather"](input, places, dim), places)  # type: ignore[no-any-return]


@public_function()
def cummin(input: Tensor, dim: int) -> ValuesIndices:
    """Return the running minimum along `dim`, and where it is; see `cummax`."""
    places = running_extreme(input, dim, False)
    return RETURN_TYPES["cummin"](OPERATORS["gather"](input, places, dim), places)  # type: ignore[no-any-return]


# -- logcumsumexp ---------------------------------------------------------------------


def _logcumsumexp_kernel(xp: Any, input: Any, dim: int) -> Any:
    half = input.dtype.itemsize == 2
    result = xp.array(input, dtype="float32" if half else None, copy=True, order="C")
    if input.ndim == 0:
        return result.astype(input.dtype)
    for place in range(1, input.shape[dim]):
        before, here = at_dim(dim, place - 1), at_dim(dim, place)
        result[here] = xp.logaddexp(result[before], result[here])
    return result.astype(input.dtype, copy=False)


def _logcumsumexp_abstract(input: TensorSpec, dim: int) -> TensorSpec:
    if input.dtype.kind != "float":
        raise DTypeError(f"logcumsumexp takes floating dtypes, not {input.dtype.name}")
    return TensorSpec(input.dtype, input.shape, (), input.device)


@primitive(
    "scan",
    abstract=_logcumsumexp_abstract,
    kernel=_logcumsumexp_kernel,
    canonical=_canonical,
    examples=lambda rng: [((_matrix(rng), 1), {})],
)
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Logarithm of the running sum of exponentials along a dimension."""


def _logcumsumexp_vjp(ct: Tensor, input: Tensor, out: Tensor, dim: int) -> Tensor:
    # out never falls, so the factors of the recurrence are at most 1.
    step = sub(_shifted(out, dim, 0), out)
    same = _shifted(out, dim, 0) == out
    factor = where(same, 1, step.exp())
    summed = _backwards(ct, factor, dim)
    share = where(input == out, 1, sub(input, out).exp())
    return mul(summed, share)  # type: ignore[no-any-return]


def _logcumsumexp_jvp(t: Tensor, input: Tensor, out: Tensor, dim: int) -> Tensor:
    before = _shifted(out, dim, 0)
    factor = where(before == out, 1, sub(before, out).exp())
    share = where(input == out, 1, sub(input, out).exp())
    return linear_recurrence(mul(t, share), factor, dim)  # type: ignore[no-any-return]


logcumsumexp.vjp(input=_logcumsumexp_vjp).jvp(input=_logcumsumexp_jvp)

# -- diff -----------------------------------------------------------------------------


@composite(
    public=False, method=False, examples=lambda rng: [((_matrix(rng), 2, 1), {})]
)
def differences(input: Tensor, n: int, dim: int) -> Tensor:
    """Differences of neighbours along a dimension, n times."""
    found = input
    for _ in range(n):
        size = found._array.shape[dim]
        if size == 0:
            break
        later = slice_(found, dim, 1, size)
        sooner = slice_(found, dim, 0, size - 1)
        if found.dtype.kind == "bool":
            found = logical_xor(later, sooner)
        else:
            found = sub(later, sooner)
    return clone(found) if found is input else found


@public_function()
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Return the differences of neighbours along `dim`, `n` times; of bools, "xor".

    Parameters
    ----------
    input : Tensor, shape (...)
    n : int
    dim : int
    prepend, append : Tensor, optional
        What to put before and after `input` first.

    Raises
    ------
    ShapeError
        If there is no dimension, or `n` is negative.
    """
    if input.ndim == 0:
        raise ShapeError("diff wants at least one dimension")
    if n < 0:
        raise ShapeError(f"diff: n must not be negative, it is {n}")
    place = canonical_dim("diff", dim, input.ndim)
    parts = [part for part in (prepend, input, append) if part is not None]
    joined = input if len(parts) == 1 else cat(parts, place)
    return differences(joined, n, place)  # type: ignore[no-any-return]


@public_function(method=False)
def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1
) -> Tensor:
    """Return the integral along `dim` by the trapezoidal rule.

    Parameters
    ----------
    y : Tensor, shape (...)
    x : Tensor, optional
        Where the values are.
    dx : number
        How far apart they are, without `x`.
    dim : int

    Raises
    ------
    DTypeError
        If `y` is bool.
    IndexRangeError
        If there is no dimension `dim`.

    Notes
    -----
    Source: Abramowitz, Stegun, "Handbook of Mathematical Functions", 25.4.1.
    """
    if y.dtype.kind == "bool":
        raise UnsupportedDTypeError("trapezoid does not take bool")
    if y.ndim == 0:
        raise IndexRangeError("trapezoid: a 0-dim tensor has no dimension to sum over")
    place = canonical_dim("trapezoid", dim, y.ndim)
    size = y._array.shape[place]
    total: Any = OPERATORS["sum"]
    if size == 0:
        shape = (*y._array.shape[:place], *y._array.shape[place + 1 :])
        return filled(shape, 0, y.dtype, y.device)  # type: ignore[no-any-return]
    if x is None:
        ends: Any = OPERATORS["select"](y, place, 0) + OPERATORS["select"](y, place, -1)
        return (total(y, place) - ends * 0.5) * dx  # type: ignore[no-any-return]
    sooner, later = slice_(y, place, 0, size - 1), slice_(y, place, 1, size)
    width = _widths(x, y.ndim - 1 - place, place)
    return total(mul(add(sooner, later), width), place) / 2  # type: ignore[no-any-return]


def _widths(x: Tensor, dims_after: int, dim: int) -> Tensor:
    if x.ndim > 1:
        return diff(x, dim=dim)  # type: ignore[no-any-return]
    return reshape(diff(x), -1, *(1,) * dims_after)  # type: ignore[no-any-return]


public_function(method=False, name="trapz")(trapezoid)
