"""What NumPy's functions do with tensors: NumPy's arguments to our operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float64, int64
from tracegrad.errors import ArgumentTypeError
from tracegrad.ops.numpy_functions import (
    IMPLEMENTATIONS,
    Implementation,
    as_tensor,
    call,
    in_dtype,
    missing,
    numpy_dtype,
    put,
)


def _implements(*functions: Any) -> Callable[[Implementation], Implementation]:
    def enter(implementation: Implementation) -> Implementation:
        IMPLEMENTATIONS.update(dict.fromkeys(functions, implementation))
        return implementation

    return enter


def _fold(name: str, function: Any, floats: bool = False) -> None:
    """Enter a reduction: ``function(a, axis, dtype, out, keepdims)``."""

    def reduce(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None,
        keepdims: Any = False, **unknown: Any,
    ) -> Any:  # fmt: skip
        _refuse(name, unknown)
        x = in_dtype(as_tensor(a), dtype)
        if floats and x.dtype.kind in ("int", "bool"):
            x = in_dtype(x, float64)
        return put(out, _folded(name, x, axis, keepdims is True))

    IMPLEMENTATIONS[function] = reduce


def _folded(name: str, x: Tensor, axis: Any, keepdims: bool) -> Any:
    if axis is None:
        axis = tuple(range(x.ndim))
    if name in ("prod", "any", "all") and isinstance(axis, tuple):
        for dim in sorted((d % max(x.ndim, 1) for d in axis), reverse=True):
            x = call(name, x, dim, keepdims)
        return x
    return x if axis == () and x.ndim == 0 else call(name, x, axis, keepdims)


def _refuse(name: str, options: dict[str, Any]) -> None:
    """Refuse options of NumPy's that have another value than their default."""
    no_value = np._NoValue
    given = {k: v for k, v in options.items() if v is not no_value and v is not None}
    given = {k: v for k, v in given.items() if not (k == "where" and v is True)}
    if given:
        raise ArgumentTypeError(f"np.{name} of tensors does not take {sorted(given)}")


_FOLDS: tuple[tuple[str, Any, bool], ...] = (
    ("sum", np.sum, False), ("mean", np.mean, True), ("nansum", np.nansum, False),
    ("nanmean", np.nanmean, True), ("prod", np.prod, False),
)  # fmt: skip
for _name, _function, _floats in _FOLDS:
    _fold(_name, _function, _floats)


def _extreme(name: str, *functions: Any) -> None:
    @_implements(*functions)
    def reduce(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False,
        **unknown: Any,
    ) -> Any:  # fmt: skip
        _refuse(name, unknown)
        return put(out, _folded(name, as_tensor(a), axis, keepdims is True))


_extreme("amax", np.max, np.amax)
_extreme("amin", np.min, np.amin)
_extreme("any", np.any)
_extreme("all", np.all)


def _spread(name: str, function: Any) -> None:
    @_implements(function)
    def reduce(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0,
        keepdims: Any = False, *, correction: Any = np._NoValue, **unknown: Any,
    ) -> Any:  # fmt: skip
        _refuse(name, unknown)
        x = in_dtype(as_tensor(a), dtype)
        x = x if x.dtype.kind in ("float", "complex") else in_dtype(x, float64)
        less = ddof if correction is np._NoValue else correction
        dims = tuple(range(x.ndim)) if axis is None else axis
        found = call(name, x, dims, correction=less, keepdim=keepdims is True)
        return put(out, found)


_spread("var", np.var)
_spread("std", np.std)


def _place(name: str, function: Any) -> None:
    @_implements(function)
    def find(
        a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False
    ) -> Any:
        return put(out, call(name, as_tensor(a), axis, keepdims is True))


_place("argmax", np.argmax)
_place("argmin", np.argmin)


def _scan(name: str, function: Any) -> None:
    @_implements(function)
    def scan(
        a: Any, axis: int | None = None, dtype: Any = None, out: Any = None
    ) -> Any:
        x = in_dtype(as_tensor(a), dtype)
        x = x.reshape(-1) if axis is None else x  # type: ignore[attr-defined]
        return put(out, call(name, x, 0 if axis is None else axis))


_scan("cumsum", np.cumsum)
_scan("cumprod", np.cumprod)


def _same(name: str, function: Any, *keywords: str) -> None:
    """Enter a function whose arguments, after the first, are those of an operator."""

    @_implements(function)
    def apply(a: Any, *args: Any, **kwargs: Any) -> Any:
        named = dict(zip(keywords, args, strict=False)) | kwargs
        return call(name, as_tensor(a), *[named[k] for k in keywords if k in named])


_SAME: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("swapaxes", np.swapaxes, ("axis1", "axis2")),
    ("movedim", np.moveaxis, ("source", "destination")),
    ("broadcast_to", np.broadcast_to, ("shape",)),
    ("tile", np.tile, ("reps",)),
    ("diag", np.diag, ("k",)),
    ("diagonal", np.diagonal, ("offset", "axis1", "axis2")),
    ("tril", np.tril, ("k",)),
    ("triu", np.triu, ("k",)),
    ("roll", np.roll, ("shift", "axis")),
    ("unsqueeze", np.expand_dims, ("axis",)),
    ("real", np.real, ()),
    ("imag", np.imag, ()),
    ("angle", np.angle, ()),
    ("sinc", np.sinc, ()),
    ("fliplr", np.fliplr, ()),
    ("flipud", np.flipud, ()),
    ("atleast_1d", np.atleast_1d, ()),
)  # fmt: skip
for _name, _function, _keywords in _SAME:
    _same(_name, _function, *_keywords)


@_implements(np.trace)
def _trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
    out: Any = None,
) -> Any:  # fmt: skip
    lines = call("diagonal", in_dtype(as_tensor(a), dtype), offset, axis1, axis2)
    return put(out, lines.sum(-1))


def _of_two(name: str, function: Any) -> None:
    @_implements(function)
    def apply(a: Any, b: Any, out: Any = None) -> Any:
        return put(out, call(name, as_tensor(a), as_tensor(b)))


_of_two("outer", np.outer)
_of_two("kron", np.kron)
_of_two("inner", np.inner)
_of_two("vdot", np.vdot)


@_implements(np.dot)
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    x, y = as_tensor(a), as_tensor(b)
    if x.ndim == 0 or y.ndim == 0:
        return put(out, x * y)
    if y.ndim <= 2:
        return put(out, call("matmul", x, y))
    return put(out, call("tensordot", x, y, ([x.ndim - 1], [y.ndim - 2])))


@_implements(np.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    if not isinstance(axes, int):
        axes = [[d] if isinstance(d, int) else list(d) for d in axes]
    return call("tensordot", as_tensor(a), as_tensor(b), axes)


@_implements(np.einsum)
def _einsum(subscripts: str, *operands: Any, optimize: Any = False) -> Any:
    return call("einsum", subscripts, *map(as_tensor, operands))


@_implements(np.reshape)
def _reshape(a: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    _refuse("reshape", {} if order == "C" else {"order": order})
    return as_tensor(a).reshape(shape)


@_implements(np.ravel)
def _ravel(a: Any, order: str = "C") -> Any:
    return _reshape(a, -1, order)


@_implements(np.transpose)
def _transpose(a: Any, axes: Any = None) -> Any:
    x = as_tensor(a)
    return call("permute", x, tuple(reversed(range(x.ndim))) if axes is None else axes)


@_implements(np.squeeze)
def _squeeze(a: Any, axis: Any = None) -> Any:
    x = as_tensor(a)
    return call("squeeze", x) if axis is None else call("squeeze", x, axis)


@_implements(np.repeat)
def _repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    counts = repeats if isinstance(repeats, int) else as_tensor(repeats)
    return call("repeat_interleave", as_tensor(a), counts, axis)


@_implements(np.flip)
def _flip(m: Any, axis: Any = None) -> Any:
    x = as_tensor(m)
    dims = tuple(range(x.ndim)) if axis is None else axis
    return call("flip", x, (dims,) if isinstance(dims, int) else dims)


def _all_tensors(arrays: Any) -> list[Any]:
    return [as_tensor(a) for a in arrays]


@_implements(np.concatenate)
def _concatenate(
    arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Any:  # fmt: skip
    parts = _all_tensors(arrays)
    if axis is None:
        parts = [part.reshape(-1) for part in parts]
    return put(out, in_dtype(call("cat", parts, axis or 0), dtype))


@_implements(np.stack)
def _stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Any:  # fmt: skip
    return put(out, in_dtype(call("stack", _all_tensors(arrays), axis), dtype))


def _joined(name: str, function: Any) -> None:
    @_implements(function)
    def apply(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
        return in_dtype(call(name, _all_tensors(tup)), dtype)


_joined("vstack", np.vstack)
_joined("hstack", np.hstack)
_joined("dstack", np.dstack)
_joined("column_stack", np.column_stack)


@_implements(np.split, np.array_split)
def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    parts = indices_or_sections
    if not isinstance(parts, int):
        parts = tuple(int(place) for place in parts)
    return list(call("tensor_split", as_tensor(ary), parts, axis))


@_implements(np.where)
def _where(condition: Any, *choices: Any) -> Any:
    if not choices:
        return tuple(as_tensor(condition).nonzero(as_tuple=True))
    mask = as_tensor(condition)
    mask = mask if mask.dtype.kind == "bool" else mask != 0
    x, y = (
        c if isinstance(c, int | float | complex) else as_tensor(c) for c in choices
    )
    return call("where", mask, x, y)


@_implements(np.clip)
def _clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None,
    max: Any = None, **unknown: Any,
) -> Any:  # fmt: skip
    _refuse("clip", unknown)
    low = a_min if min is None or min is np._NoValue else min
    high = a_max if max is None or max is np._NoValue else max
    bounds = [None if b is np._NoValue else b for b in (low, high)]
    return put(out, call("clamp", as_tensor(a), *bounds))


@_implements(np.round, np.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return put(out, call("round", as_tensor(a), decimals=decimals))


@_implements(np.sort)
def _sort(a: Any, axis: int | None = -1, **unknown: Any) -> Any:
    _refuse("sort", {k: v for k, v in unknown.items() if k not in ("kind", "stable")})
    x = as_tensor(a)
    x = x.reshape(-1) if axis is None else x
    return call("sort", x, -1 if axis is None else axis)[0]


@_implements(np.argsort)
def _argsort(a: Any, axis: int | None = -1, **unknown: Any) -> Any:
    _refuse(
        "argsort", {k: v for k, v in unknown.items() if k not in ("kind", "stable")}
    )
    x = as_tensor(a)
    x = x.reshape(-1) if axis is None else x
    return call("argsort", x, -1 if axis is None else axis)


@_implements(np.take)
def _take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Any:
    _refuse("take", {} if mode == "raise" else {"mode": mode})
    x, places = as_tensor(a), as_tensor(indices).to(int64)
    if axis is None:
        return put(out, x.reshape(-1)[places])
    dims = (slice(None),) * (axis % x.ndim)
    return put(out, x[(*dims, places)])


@_implements(np.take_along_axis)
def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    return call("take_along_dim", as_tensor(arr), as_tensor(indices).to(int64), axis)


@_implements(np.diff)
def _diff(a: Any, n: int = 1, axis: int = -1, **unknown: Any) -> Any:
    _refuse("diff", unknown)
    return call("diff", as_tensor(a), n, axis)


@_implements(np.nan_to_num)
def _nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    return call("nan_to_num", as_tensor(x), nan, posinf, neginf)


@_implements(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    tensor = as_tensor(x)
    if (
        ord is not None
        and (axis is None or isinstance(axis, tuple))
        and tensor.ndim > 1
    ):
        raise missing("linalg.norm of matrices with ord=")
    dims = tuple(range(tensor.ndim)) if axis is None else axis
    power = 2 if ord is None else ord
    return call("norm", tensor, power, dims, bool(keepdims))


@_implements(np.average)
def _average(a: Any, axis: Any = None, weights: Any = None, **unknown: Any) -> Any:
    _refuse("average", {k: v for k, v in unknown.items() if v is not False})
    if weights is None:
        return IMPLEMENTATIONS[np.mean](a, axis)
    x, w = as_tensor(a), as_tensor(weights)
    if w.ndim != x.ndim and isinstance(axis, int):
        sizes = [1] * x.ndim
        sizes[axis] = -1
        w = w.reshape(sizes)
    total = IMPLEMENTATIONS[np.sum]
    return total(x * w, axis) / total(w + call("zeros_like", x), axis)


@_implements(np.ptp)
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    x, keep = as_tensor(a), keepdims is True
    return put(out, _folded("amax", x, axis, keep) - _folded("amin", x, axis, keep))


@_implements(np.quantile)
def _quantile(a: Any, q: Any, axis: Any = None, out: Any = None, **unknown: Any) -> Any:
    method = unknown.pop("method", "linear")
    keepdims = unknown.pop("keepdims", False) is True
    unknown = {k: v for k, v in unknown.items() if v is not False}
    _refuse("quantile", unknown)
    x = as_tensor(a)
    if isinstance(axis, tuple):
        raise missing("quantile with several axes")
    places = in_dtype(as_tensor(q), x.dtype)
    found = call("quantile", x, places, axis, keepdims, interpolation=method)
    return put(out, found)


@_implements(np.percentile)
def _percentile(a: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    return _quantile(a, as_tensor(q) / 100, *args, **kwargs)


@_implements(np.median)
def _median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    return _quantile(a, 0.5, axis, out, keepdims=keepdims)


@_implements(np.count_nonzero)
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return _folded("sum", as_tensor(a) != 0, axis, keepdims)


@_implements(np.pad)
def _pad(array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    x = as_tensor(array)
    value = options.pop("constant_values", 0)
    if mode != "constant" or options or not isinstance(value, int | float | complex):
        raise missing(f"pad with mode={mode!r} or several values")
    pairs = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    widths = [int(w) for pair in reversed(pairs.tolist()) for w in pair]
    return OPERATORS["constant_pad"](x, tuple(widths), value)


def _like(name: str, function: Any) -> None:
    @_implements(function)
    def make(
        a: Any, *value: Any, dtype: Any = None, shape: Any = None, **rest: Any
    ) -> Any:
        _refuse(name, {k: v for k, v in rest.items() if k in ("device",)})
        x = as_tensor(a)
        wanted = x.dtype if dtype is None else numpy_dtype(dtype)
        if shape is not None:
            sizes = (shape,) if isinstance(shape, int) else tuple(shape)
            x = call("empty", sizes, dtype=wanted, device=x.device)
        if "fill_value" in rest:
            value = (rest["fill_value"],)
        return call(name, x, *value, dtype=wanted)


_like("zeros_like", np.zeros_like)
_like("ones_like", np.ones_like)
_like("full_like", np.full_like)
_like("empty_like", np.empty_like)


@_implements(np.copy)
def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return as_tensor(a).clone()


@_implements(np.isclose)
def _isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    return call("isclose", as_tensor(a), as_tensor(b), rtol, atol, equal_nan)


@_implements(np.shape)
def _shape(a: Any) -> Any:
    return tuple(a.shape)


@_implements(np.ndim)
def _ndim(a: Any) -> Any:
    return a.ndim


@_implements(np.size)
def _size(a: Any, axis: int | None = None) -> Any:
    return a.numel() if axis is None else a.shape[axis]
