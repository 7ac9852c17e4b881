"""Estimated derivatives and running integrals of sampled functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ArgumentValueError, DTypeError, ShapeError
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.joining import cat
from tracegrad.ops.scans import cumsum
from tracegrad.ops.views import reshape, slice_


def _neighbours(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    size = input._array.shape[dim]
    return slice_(input, dim, 1, size), slice_(input, dim, 0, max(size - 1, 0))


def _along(x: Tensor, ndim: int, dim: int) -> Tensor:
    """Return a vector that broadcasts along `dim` of `ndim` dimensions."""
    if x.ndim != 1:
        return x
    shape = [1] * ndim
    shape[dim] = -1
    return reshape(x, *shape)  # type: ignore[no-any-return]


@public_function(method=False)
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1
) -> Tensor:
    """Return the running integral along `dim` by the trapezoidal rule.

    Parameters
    ----------
    y : Tensor, shape (..., n, ...)
    x : Tensor, optional
        Where the values are.
    dx : number
        How far apart they are, without `x`.
    dim : int

    Returns
    -------
    Tensor, shape (..., n - 1, ...)

    Raises
    ------
    DTypeError
        If `y` is bool.

    Notes
    -----
    Source: Abramowitz, Stegun, "Handbook of Mathematical Functions", 25.4.1.
    """
    if y.dtype.kind == "bool":
        raise DTypeError("cumulative_trapezoid: not for bools; use y.to(int64)")
    place = canonical_dim("cumulative_trapezoid", dim, y.ndim)
    later, sooner = _neighbours(y, place)
    if x is None:
        return cumsum((later + sooner) * (dx / 2.0), place)  # type: ignore[no-any-return]
    where = _along(x, y.ndim, place)
    right, left = _neighbours(where, place if x.ndim == 1 else dim)
    return cumsum((later + sooner) * (right - left) / 2.0, place)  # type: ignore[no-any-return]


# -- gradient ------------------------------------------------------------------------


def _ends(input: Tensor, dim: int, steps: Any, order: int) -> tuple[Tensor, Tensor]:
    """Return one-sided differences at both ends, each of size 1 along `dim`."""
    size = input._array.shape[dim]

    def at(place: int) -> Tensor:
        return slice_(input, dim, place, place + 1)  # type: ignore[no-any-return]

    def gap(place: int) -> Any:
        if not isinstance(steps, Tensor):
            return steps
        return slice_(steps, dim, place, place + 1)

    first, last = gap(0), gap(size - 2)
    if order == 1:
        return (at(1) - at(0)) / first, (at(size - 1) - at(size - 2)) / last
    after, before = gap(1), gap(size - 3)
    a = -(2.0 * first + after) / (first * (first + after))
    b = (first + after) / (first * after)
    c = -first / (after * (first + after))
    d = (last + before) / (last * before)
    e = (2.0 * last + before) / (last * (last + before))
    f = last / (before * (last + before))
    start = a * at(0) + b * at(1) + c * at(2)
    return start, f * at(size - 3) - d * at(size - 2) + e * at(size - 1)


def _slope(input: Tensor, dim: int, steps: Any, order: int) -> Tensor:
    size = input._array.shape[dim]
    if size < order + 1:
        raise ShapeError(
            f"gradient: each dimension needs at least edge_order + 1 = {order + 1} "
            f"places, dimension {dim} has {size}"
        )
    start, end = _ends(input, dim, steps, order)
    ahead = slice_(input, dim, 2, size)
    here = slice_(input, dim, 1, size - 1)
    behind = slice_(input, dim, 0, size - 2)
    if not isinstance(steps, Tensor):
        return cat((start, (ahead - behind) / (2 * steps), end), dim)  # type: ignore[no-any-return]
    right, left = _neighbours(steps, dim)
    total = left + right
    inner = (
        ahead * (left / (right * total))
        + here * ((right - left) / (left * right))
        - behind * (right / (left * total))
    )
    return cat((start, inner, end), dim)  # type: ignore[no-any-return]


def _places(input: Tensor, dim: Any) -> list[int]:
    if dim is None:
        return list(range(input.ndim))
    given = [dim] if isinstance(dim, int) else list(dim)
    return [canonical_dim("gradient", d, input.ndim) for d in given]


def _steps_of(input: Tensor, spacing: Any, dims: list[int]) -> list[Any]:
    if isinstance(spacing, Tensor):
        spacing = [spacing]
    if not isinstance(spacing, Sequence):
        return [spacing] * len(dims)
    if len(spacing) != len(dims):
        raise ArgumentError(
            f"gradient: {len(spacing)} spacings for {len(dims)} dimensions"
        )
    found: list[Any] = []
    for given, dim in zip(spacing, dims, strict=True):
        if not isinstance(given, Tensor):
            found.append(given)
            continue
        later, sooner = _neighbours(given, 0)
        found.append(_along(later - sooner, input.ndim, dim))
    return found


@public_function(method=False)
def gradient(
    input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Return estimated derivatives of a sampled function, one for each dimension.

    Parameters
    ----------
    input : Tensor, shape (...)
    spacing : number, or one number or vector of coordinates for each dimension
        How far the samples are apart, or where they are.
    dim : int or sequence of int, optional
        Along which; without it, along all.
    edge_order : {1, 2}
        The order of the one-sided differences at the ends.

    Raises
    ------
    ArgumentValueError
        If `edge_order` is neither.
    ShapeError
        If a dimension has too few places.

    Notes
    -----
    Source: Fornberg, "Generation of finite difference formulas on arbitrarily spaced
    grids" (1988), table 1 and section 2.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.gradient(tg.tensor([0.0, 1.0, 4.0, 9.0]))
    (tensor([1., 2., 4., 5.]),)
    """
    spacing = 1 if spacing is None else spacing
    if edge_order not in (1, 2):
        raise ArgumentValueError(f"gradient: edge_order is 1 or 2, not {edge_order}")
    dims = _places(input, dim)
    steps = _steps_of(input, spacing, dims)
    return tuple(
        _slope(input, d, s, edge_order) for d, s in zip(dims, steps, strict=True)
    )
