"""Statistical, searching and utility functions of the standard."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import tracegrad as tg
from tracegrad.array_api.arrays import adopt, check_kind, promoted, tensor_of
from tracegrad.array_api.manipulation import axes_of
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType
from tracegrad.errors import ArgumentError, ArgumentTypeError

_Fold = Callable[[Tensor, Any, builtins.bool], Any]
_REAL = ("int", "float")
_NUMERIC = ("int", "float", "complex")


def _folded(x: Any, axis: Any, keepdims: builtins.bool, fold: _Fold, what: str) -> Any:
    """Fold axes; none of them, an empty tuple, leaves each element by itself."""
    tensor = tensor_of(x, what)
    if axis == () or (axis is None and tensor.ndim == 0):
        return adopt(fold(tg.unsqueeze(tensor, tensor.ndim), tensor.ndim, False), x)
    every = tuple(range(tensor.ndim))
    places = every if axis is None else axes_of(axis, tensor.ndim, what)
    return adopt(fold(tensor, places, keepdims), x)


def _summed_dtype(x: Tensor, dtype: DType | None) -> DType:
    if dtype is not None:
        return dtype
    return tg.int64 if x.dtype.kind in ("bool", "int") else x.dtype  # type: ignore[no-any-return]


def sum(
    x: Any, /, *, axis: Any = None, dtype: DType | None = None,
    keepdims: builtins.bool = False,
) -> Any:  # fmt: skip
    """Sum over axes."""
    wanted = _summed_dtype(check_kind(tensor_of(x, "sum"), _NUMERIC, "sum"), dtype)
    return _folded(
        x, axis, keepdims, lambda t, d, k: tg.sum(t, d, k, dtype=wanted), "sum"
    )


def prod(
    x: Any, /, *, axis: Any = None, dtype: DType | None = None,
    keepdims: builtins.bool = False,
) -> Any:  # fmt: skip
    """Product over axes."""
    wanted = _summed_dtype(check_kind(tensor_of(x, "prod"), _NUMERIC, "prod"), dtype)

    def fold(t: Tensor, dims: Any, keep: builtins.bool) -> Any:
        if isinstance(dims, int):
            return tg.prod(t, dims, keep, dtype=wanted)
        for dim in sorted(dims, reverse=True):
            t = tg.prod(t, dim, keep, dtype=wanted)
        return t

    return _folded(x, axis, keepdims, fold, "prod")


def mean(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """Mean over axes."""
    check_kind(tensor_of(x, "mean"), ("float", "complex"), "mean")
    return _folded(x, axis, keepdims, tg.mean, "mean")


def _spread(name: str, x: Any, axis: Any, correction: float, keepdims: Any) -> Any:
    check_kind(tensor_of(x, name), ("float",), name)
    function = getattr(tg, name)

    def fold(t: Tensor, d: Any, k: builtins.bool) -> Any:
        return function(t, d, correction=correction, keepdim=k)

    return _folded(x, axis, keepdims, fold, name)


def std(
    x: Any, /, *, axis: Any = None, correction: float = 0.0,
    keepdims: builtins.bool = False,
) -> Any:  # fmt: skip
    """Standard deviation over axes."""
    return _spread("std", x, axis, correction, keepdims)


def var(
    x: Any, /, *, axis: Any = None, correction: float = 0.0,
    keepdims: builtins.bool = False,
) -> Any:  # fmt: skip
    """Variance over axes."""
    return _spread("var", x, axis, correction, keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """Largest element over axes; NaN if there is one."""
    check_kind(tensor_of(x, "max"), _REAL, "max")
    return _folded(x, axis, keepdims, tg.amax, "max")


def min(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """Smallest element over axes; NaN if there is one."""
    check_kind(tensor_of(x, "min"), _REAL, "min")
    return _folded(x, axis, keepdims, tg.amin, "min")


def all(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """Whether all elements over axes are true (not zero)."""
    return _folded(_truth(x), axis, keepdims, tg.all, "all")


def any(x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """Whether any element over axes is true (not zero)."""
    return _folded(_truth(x), axis, keepdims, tg.any, "any")


def _truth(x: Any) -> Any:
    tensor = tensor_of(x, "all and any")
    if tensor.dtype.kind == "bool":
        return x
    return adopt(tg.ne(tensor, 0), x)


def count_nonzero(
    x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False
) -> Any:
    """Number of elements over axes that are not zero."""
    truth = _truth(x)
    return _folded(truth, axis, keepdims, tg.sum, "count_nonzero")


def _place(name: str, x: Any, axis: int | None, keepdims: builtins.bool) -> Any:
    tensor = check_kind(tensor_of(x, name), _REAL, name)
    function = getattr(tg, name)
    if axis is not None:
        (place,) = axes_of(axis, tensor.ndim, name)
        return adopt(function(tensor, place, keepdims), x)
    found = function(tg.reshape(tensor, (-1,)), 0)
    return adopt(tg.reshape(found, (1,) * tensor.ndim) if keepdims else found, x)


def argmax(
    x: Any, /, *, axis: int | None = None, keepdims: builtins.bool = False
) -> Any:
    """Place of the largest element, the first one of several."""
    return _place("argmax", x, axis, keepdims)


def argmin(
    x: Any, /, *, axis: int | None = None, keepdims: builtins.bool = False
) -> Any:
    """Place of the smallest element, the first one of several."""
    return _place("argmin", x, axis, keepdims)


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """Places of the elements that are not zero, one array for each axis."""
    tensor = tensor_of(x, "nonzero")
    if tensor.ndim == 0:
        raise ArgumentError("nonzero takes arrays with dimensions")
    return tuple(adopt(part, x) for part in tg.nonzero(tensor, as_tuple=True))


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Places where elements of `x2` go in the sorted vector `x1`."""
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    first, second = promoted("searchsorted", tensor_of(x1, "searchsorted"), x2)
    check_kind(first, _REAL, "searchsorted")
    if sorter is not None:
        places = sorter.to(tg.int64)
        first = tg.take_along_dim(first, places, 0)
    return adopt(tg.searchsorted(first, second, side=side), x1, x2)


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Elements of `x1` where a condition holds, else of `x2`."""
    mask = tensor_of(condition, "where")
    if mask.dtype.kind != "bool":
        raise ArgumentTypeError(f"where: a condition is bool, not {mask.dtype.name}")
    first, second = promoted("where", x1, x2)
    return adopt(tg.where(mask, first, second), condition, x1, x2)


def _scan(
    name: str, x: Any, axis: int | None, dtype: DType | None, initial: Any
) -> Any:
    tensor = check_kind(tensor_of(x, name), _NUMERIC, name)
    if axis is None and tensor.ndim != 1:
        raise ArgumentError(f"{name}: axis can be left out for vectors only")
    (place,) = axes_of(0 if axis is None else axis, tensor.ndim, name)
    wanted = _summed_dtype(tensor, dtype)
    found = getattr(tg, name)(tensor, place, dtype=wanted)
    if initial is not None:
        sizes = list(found.shape)
        sizes[place] = 1
        first = tg.full(sizes, initial, dtype=wanted, device=tensor.device)
        found = tg.cat([first, found], place)
    return adopt(found, x)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: DType | None = None,
    include_initial: builtins.bool = False,
) -> Any:  # fmt: skip
    """Sum of the elements so far."""
    return _scan("cumsum", x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: DType | None = None,
    include_initial: builtins.bool = False,
) -> Any:  # fmt: skip
    """Product of the elements so far."""
    return _scan("cumprod", x, axis, dtype, 1 if include_initial else None)


def diff(
    x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Any:
    """Differences of neighbours along an axis."""
    tensor = check_kind(tensor_of(x, "diff"), _NUMERIC, "diff")
    axes_of(axis, tensor.ndim, "diff")
    return adopt(tg.diff(tensor, n, axis, prepend, append), x)


__all__ = [
    "all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod",
    "cumulative_sum", "diff", "max", "mean", "min", "nonzero", "prod", "searchsorted",
    "std", "sum", "var", "where",
]  # fmt: skip
