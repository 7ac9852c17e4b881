"""Elements taken from, and put at, places that a tensor names along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import (
    ArgumentValueError,
    DTypeError,
    ShapeError,
)
from tracegrad.ops._families import primitive
from tracegrad.ops._indices import (
    add_at,
    check_elements,
    check_integers,
    grid_key,
)
from tracegrad.ops._inplace import inplace_form
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.casts import as_dtype
from tracegrad.ops.creation import filled, zeros_like
from tracegrad.ops.indexing import as_element
from tracegrad.ops.padding import constant_pad
from tracegrad.ops.selection import where
from tracegrad.ops.shaping import zeros_of
from tracegrad.ops.views import expand, reshape
from tracegrad.sizes import shape_text
from tracegrad.spec import TensorSpec


def _canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    return attributes | {
        "dim": canonical_dim("dim", attributes["dim"], operands[0].ndim)
    }


def _examples(rng: Any, *more: Any) -> Any:
    index = np.array([[0, 2, 1], [1, 1, 0]])
    return [((rng.standard_normal((2, 3)), 1, index, *more), {})]


# -- gather, scatter ------------------------------------------------------------------


def _check_grid(name: str, input: TensorSpec, dim: int, index: TensorSpec) -> None:
    """Refuse an index that has other dimensions or reaches over `input`."""
    check_integers(name, index)
    if index.size == 0:
        return
    if max(index.ndim, 1) != max(input.ndim, 1):
        raise ShapeError(
            f"{name}: the index has {index.ndim} dimensions, the tensor {input.ndim}; "
            "they must have as many"
        )
    if index.ndim == 0 or input.ndim == 0:
        return
    for d, (own, size) in enumerate(zip(index.shape, input.shape, strict=True)):
        if d != dim and own > size:  # type: ignore[operator]
            raise ShapeError(
                f"{name}: index of shape {shape_text(index.shape)} reaches over shape "
                f"{shape_text(input.shape)} outside dimension {dim}"
            )


def _gather_abstract(input: TensorSpec, index: TensorSpec, dim: int) -> TensorSpec:
    _check_grid("gather", input, dim, index)
    return TensorSpec(input.dtype, index.shape, (), input.device)


def _is_pick(index: Any, dim: int) -> bool:
    """Return whether one element of each row is meant, as a loss of classes wants."""
    return bool(dim == 1 and index.ndim == 2 and index.shape[1] == 1 and index.shape[0])


def _gather_kernel(xp: Any, input: Any, index: Any, dim: int) -> Any:
    if _is_pick(index, dim):
        check_elements("gather", index, input.shape[1], 1)
        return input[xp.arange(len(index)), index[:, 0]].reshape(-1, 1)
    source, places = xp.atleast_1d(input), xp.atleast_1d(index)
    if places.size == 0:
        return xp.empty(index.shape, dtype=input.dtype)
    check_elements("gather", places, source.shape[dim], dim)
    found = source[grid_key(xp, places, dim)]
    return xp.ascontiguousarray(found).reshape(index.shape)


@primitive(
    "gather",
    name="gather",
    abstract=_gather_abstract,
    kernel=_gather_kernel,
    canonical=_canonical,
    linear_in=("input",),
    may_raise=True,
    public=False,
    method=False,
    examples=lambda rng: [
        ((args[0], args[2], args[1]), {}) for args, _ in _examples(rng)
    ],
)
def gathered(input: Tensor, index: Tensor, dim: int) -> Tensor:
    """Elements at indices along a dimension, each at its own place in the others."""


@public_function()
def gather(
    input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False
) -> Tensor:
    """Return the elements at `index` along `dim`, in the shape of `index`.

    Parameters
    ----------
    input : Tensor, shape (...)
    dim : int
    index : Tensor, shape (...), int64 or int32
        As many dimensions as `input`, no larger than it except in `dim`; not negative.
    sparse_grad : bool
        Accepted for PyTorch's sake; gradients are dense.

    Raises
    ------
    ElementIndexError
        If an index is out of range.
    ShapeError
        If the shapes do not fit.
    """
    return gathered(input, index, dim)  # type: ignore[no-any-return]


def _check_source(
    name: str, input: TensorSpec, dim: int, index: TensorSpec, src: TensorSpec
) -> None:
    _check_grid(name, input, dim, index)
    if input.dtype is not src.dtype:
        raise DTypeError(
            f"{name}: the source has dtype {src.dtype.name}, the tensor "
            f"{input.dtype.name}; cast it with src.to(dtype)"
        )
    if index.size == 0:
        return
    if src.ndim != index.ndim and max(src.ndim, index.ndim) > 1:
        raise ShapeError(
            f"{name}: the source has {src.ndim} dimensions, the index {index.ndim}"
        )
    if any(i > s for i, s in zip(index.shape, src.shape, strict=False)):  # type: ignore[operator]
        raise ShapeError(
            f"{name}: index of shape {shape_text(index.shape)} reaches over the source "
            f"of shape {shape_text(src.shape)}"
        )


def row_major(input: TensorSpec) -> TensorSpec:
    """Return the spec of a fresh result like `input`."""
    return TensorSpec(input.dtype, input.shape, (), input.device)


def _scatter_abstract(
    input: TensorSpec, index: TensorSpec, src: TensorSpec, dim: int
) -> TensorSpec:
    _check_source("scatter", input, dim, index, src)
    return row_major(input)


def _scatter_parts(xp: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    """Return a copy of `input`, the key of the places, and the source's part."""
    result = xp.array(xp.atleast_1d(input), copy=True, order="C")
    places = xp.atleast_1d(index)
    check_elements("scatter", places, result.shape[dim], dim)
    part = xp.atleast_1d(src)[tuple(slice(0, size) for size in places.shape)]
    return result, grid_key(xp, places, dim), part


def _scatter_kernel(xp: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    if index.size == 0:
        return xp.array(input, copy=True, order="C")
    result, key, part = _scatter_parts(xp, input, index, src, dim)
    result[key] = part
    return result.reshape(input.shape)


def _scatter_examples(rng: Any) -> Any:
    index = np.array([[0, 2], [1, 0]])
    target, src = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    return [((target, index, src, 1), {})]


@primitive(
    "gather",
    name="scatter",
    abstract=_scatter_abstract,
    kernel=_scatter_kernel,
    may_raise=True,
    public=False,
    method=False,
    examples=_scatter_examples,
)
def scattered(input: Tensor, index: Tensor, src: Tensor, dim: int) -> Tensor:
    """The tensor with elements at indices along a dimension replaced by a source's."""


def _scatter_add_abstract(
    input: TensorSpec, index: TensorSpec, src: TensorSpec, dim: int
) -> TensorSpec:
    _check_source("scatter_add", input, dim, index, src)
    return row_major(input)


def _scatter_add_kernel(xp: Any, input: Any, index: Any, src: Any, dim: int) -> Any:
    if index.size == 0:
        return xp.array(input, copy=True, order="C")
    if _is_pick(index, dim):
        check_elements("scatter", index, input.shape[1], 1)
        result = xp.array(input, copy=True, order="C")
        result[xp.arange(len(index)), index[:, 0]] += src[: len(index), 0]
        return result
    result, key, part = _scatter_parts(xp, input, index, src, dim)
    if index.ndim and index.shape[dim] == 1:
        # One place for each: no duplicates, which only the slow form adds up.
        result[key] += part
        return result.reshape(input.shape)
    return add_at(xp, result, key, part).reshape(input.shape)


@primitive(
    "gather",
    name="scatter_add",
    abstract=_scatter_add_abstract,
    kernel=_scatter_add_kernel,
    may_raise=True,
    public=False,
    method=False,
    examples=_scatter_examples,
)
def scattered_sum(input: Tensor, index: Tensor, src: Tensor, dim: int) -> Tensor:
    """The tensor with a source's elements added at indices along a dimension."""


def _scatter_kept(ct: Tensor, index: Tensor, dim: int) -> Tensor:
    return scattered(ct, index, _zeros_at(index, ct), dim)  # type: ignore[no-any-return]


def _zeros_at(index: Tensor, like: Tensor) -> Tensor:
    zero = filled((), 0, like.dtype, like.device)
    return expand(zero, *index._array.shape)  # type: ignore[no-any-return]


def _scatter_source(ct: Tensor, index: Tensor, src_spec: Any, dim: int) -> Tensor:
    """Return the cotangent of the source: zero where the index does not reach."""
    found: Tensor = gathered(ct, index, dim)
    have, wanted = found._array.shape, src_spec[0]
    if have == wanted:
        return found
    if len(have) != len(wanted):
        return reshape(found, *wanted)  # type: ignore[no-any-return]
    beyond = [(0, w - h) for h, w in zip(have, wanted, strict=True)]
    return constant_pad(found, tuple(n for pair in beyond[::-1] for n in pair))  # type: ignore[no-any-return]


gathered.vjp(
    input=lambda ct, index, input_spec, dim: scattered_sum(
        zeros_of(input_spec, ct), index, ct, dim
    )
)
scattered.vjp(
    input=lambda ct, index, dim: _scatter_kept(ct, index, dim),
    src=lambda ct, index, src_spec, dim: _scatter_source(ct, index, src_spec, dim),
).jvp(
    input=lambda t, index, dim: _scatter_kept(t, index, dim),
    src=lambda t, index, input_spec, dim: scattered(
        zeros_of(input_spec, t), index, t, dim
    ),
)
scattered_sum.vjp(
    input=lambda ct: ct,
    src=lambda ct, index, src_spec, dim: _scatter_source(ct, index, src_spec, dim),
).jvp(
    input=lambda t: t,
    src=lambda t, index, input_spec, dim: scattered_sum(
        zeros_of(input_spec, t), index, t, dim
    ),
)


@public_function()
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return `input` with the elements of `src` added at `index` along `dim`.

    Parameters
    ----------
    input : Tensor, shape (...)
    dim : int
    index : Tensor, int64 or int32
        No larger than `src`, nor than `input` except in `dim`; not negative.
    src : Tensor, dtype of `input`

    Raises
    ------
    ElementIndexError
        If an index is out of range.
    ShapeError
        If the shapes do not fit.
    """
    return scattered_sum(  # type: ignore[no-any-return]
        input, index, src, canonical_dim("scatter_add", dim, input.ndim)
    )


@public_function()
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """Return `input` with the elements at `index` along `dim` replaced.

    Parameters
    ----------
    input : Tensor, shape (...)
    dim : int
    index : Tensor, int64 or int32
        No larger than `input` except in `dim`; not negative.
    src : Tensor or number
        Which value stands at an index that occurs twice is not defined.
    value : number, optional
        Another name for a number as `src`.
    reduce : {"add", "multiply"}, optional
        Join with the element instead.

    Raises
    ------
    ElementIndexError
        If an index is out of range.
    ShapeError
        If the shapes do not fit.
    """
    place = canonical_dim("scatter", dim, input.ndim)
    given = as_element(value if src is None else src, input)
    if not isinstance(src, Tensor):
        given = expand(given, *index._array.shape)
    if reduce is None:
        return scattered(input, index, given, place)  # type: ignore[no-any-return]
    names = {"add": "sum", "multiply": "prod"}
    if reduce not in names:
        raise ArgumentValueError(
            f"scatter: reduce is 'add' or 'multiply', not {reduce!r}"
        )
    return scatter_reduced(input, index, given, place, names[reduce], True)  # type: ignore[no-any-return]


inplace_form(scatter, "scatter")
inplace_form(scatter_add, "scatter_add")

# -- scatter_reduce -------------------------------------------------------------------

_REDUCING = ("sum", "prod", "mean", "amax", "amin")


def _scatter_reduce_abstract(
    input: TensorSpec,
    index: TensorSpec,
    src: TensorSpec,
    dim: int,
    reduce: str,
    include_self: bool,
) -> TensorSpec:
    _check_source("scatter_reduce", input, dim, index, src)
    if reduce not in _REDUCING:
        raise ArgumentValueError(
            f"scatter_reduce: reduce is one of {', '.join(_REDUCING)}, not {reduce!r}"
        )
    return row_major(input)


def _scatter_reduce_kernel(
    xp: Any,
    input: Any,
    index: Any,
    src: Any,
    dim: int,
    reduce: str,
    include_self: bool,
) -> Any:
    if index.size == 0:
        return xp.array(input, copy=True, order="C")
    result, key, part = _scatter_parts(xp, input, index, src, dim)
    if reduce == "amax" or reduce == "amin":
        if not include_self:
            result[key] = part
        at = xp.maximum.at if reduce == "amax" else xp.minimum.at
        at(result, key, part)
        return result.reshape(input.shape)
    if reduce == "prod":
        if not include_self:
            result[key] = 1
        xp.multiply.at(result, key, part)
        return result.reshape(input.shape)
    if not include_self:
        result[key] = 0
    result = add_at(xp, result, key, part)
    if reduce == "mean":
        count = xp.full(result.shape, int(include_self), dtype="int64")
        xp.add.at(count, key, 1)
        count = xp.maximum(count, 1).astype(result.dtype)
        whole = result.dtype.kind in "iu"
        result = result // count if whole else result / count
    return result.reshape(input.shape)


@primitive(
    "gather",
    name="scatter_reduce",
    abstract=_scatter_reduce_abstract,
    kernel=_scatter_reduce_kernel,
    examples=lambda rng: [
        ((*_scatter_examples(rng)[0][0], reduce, True), {}) for reduce in _REDUCING
    ],
    may_raise=True,
    public=False,
    method=False,
)
def scatter_reduced(
    input: Tensor, index: Tensor, src: Tensor, dim: int, reduce: str, include_self: bool
) -> Tensor:
    """The tensor with a source's elements joined in at indices along a dimension."""


def _counts(input: Tensor, index: Tensor, src: Tensor, dim: int, own: Any) -> Tensor:
    """Return for each place of `input` how many numbers are counted there."""
    nothing = zeros_like(input)
    return scatter_reduce(nothing, dim, index, as_dtype(src, input.dtype), "sum") + own  # type: ignore[no-any-return]


def _reached(input: Tensor, index: Tensor, dim: int) -> Any:
    """Return where something was joined in."""
    ones = zeros_like(gather(input, dim, index)) + 1
    return _counts(input, index, ones, dim, 0) > 0


def _used(src: Any, index: Any) -> Any:
    """Return the part of a source that the indices use."""
    for place, size in enumerate(index.shape):
        if size != src.shape[place]:
            src = src.narrow(place, 0, size)
    return src


def _whole(x: Any, src: Any) -> Any:
    """Return the cotangent of a source from that of the part that was used."""
    if x.shape == src.shape:
        return x
    rest = [n - m for n, m in zip(src.shape, x.shape, strict=True)]
    return constant_pad(x, tuple(n for size in rest[::-1] for n in (0, size)))


# How a result moves: with each element of the input by a factor, and of the source.
_Factors = tuple[Any, Any]


def _factors_of_extreme(
    input: Any, index: Any, src: Any, dim: int, include_self: bool, out: Any
) -> _Factors:
    """Share among the elements that are the largest, or smallest."""
    own = as_dtype(input == out, input.dtype)
    if not include_self:
        own = where(_reached(input, index, dim), 0, own)
    winners = as_dtype(src == gather(out, dim, index), src.dtype)
    count = _counts(input, index, winners, dim, own)
    return own / count, winners / gather(count, dim, index)


def _factors_of_mean(
    input: Any, index: Any, src: Any, dim: int, include_self: bool, out: Any
) -> _Factors:
    ones = zeros_like(src) + 1
    count = _counts(input, index, ones, dim, int(include_self))
    share = 1 / where(count == 0, 1, count)
    own = share if include_self else where(_reached(input, index, dim), 0, 1.0)
    return own, gather(share, dim, index)


def _factors_of_sum(
    input: Any, index: Any, src: Any, dim: int, include_self: bool, out: Any
) -> _Factors:
    own = 1.0 if include_self else where(_reached(input, index, dim), 0, 1.0)
    return own, 1.0


def _factors_of_product(
    input: Any, index: Any, src: Any, dim: int, include_self: bool, out: Any
) -> _Factors:
    """Divide the product by each factor; of a single 0 take what the others make."""

    def product(start: Any, factors: Any) -> Any:
        return scatter_reduce(
            start, dim, index, factors, "prod", include_self=include_self
        )

    filled = where(input == 0, 1, input)
    own = product(filled, src) / filled
    if not include_self:
        own = where(_reached(input, index, dim), 0, 1.0)
    zero = src == 0
    zeros = gather(_counts(input, index, zero, dim, 0), dim, index)
    single = zero & (zeros == 1)
    others = gather(product(input, where(single, 1, src)), dim, index)
    whole = gather(out, dim, index) / where(zero, 1, src)
    return own, where(single, others, whole)


_FACTORS = {
    "amax": _factors_of_extreme,
    "amin": _factors_of_extreme,
    "mean": _factors_of_mean,
    "prod": _factors_of_product,
    "sum": _factors_of_sum,
}


def _of_input(
    ct: Any,
    input: Any,
    index: Any,
    src: Any,
    dim: int,
    reduce: str,
    include_self: bool,
    out: Any,
) -> Any:
    used = _used(src, index)
    return ct * _FACTORS[reduce](input, index, used, dim, include_self, out)[0]


def _of_source(
    ct: Any,
    input: Any,
    index: Any,
    src: Any,
    dim: int,
    reduce: str,
    include_self: bool,
    out: Any,
) -> Any:
    used = _used(src, index)
    factor = _FACTORS[reduce](input, index, used, dim, include_self, out)[1]
    return _whole(gather(ct, dim, index) * factor, src)


def _along_source(
    t: Any,
    input: Any,
    index: Any,
    src: Any,
    dim: int,
    reduce: str,
    include_self: bool,
    out: Any,
) -> Any:
    used = _used(src, index)
    factor = _FACTORS[reduce](input, index, used, dim, include_self, out)[1]
    return scatter_add(zeros_like(input), dim, index, _used(t, index) * factor)


def _along_input(
    t: Any,
    input: Any,
    index: Any,
    src: Any,
    dim: int,
    reduce: str,
    include_self: bool,
    out: Any,
) -> Any:
    used = _used(src, index)
    return t * _FACTORS[reduce](input, index, used, dim, include_self, out)[0]


scatter_reduced.vjp(input=_of_input, src=_of_source).jvp(
    input=_along_input, src=_along_source
)


@public_function()
def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Return `input` with `src` joined in at `index` along `dim`.

    Parameters
    ----------
    input : Tensor, shape (...)
    dim : int
    index : Tensor, int64 or int32
    src : Tensor, dtype of `input`
    reduce : {"sum", "prod", "mean", "amax", "amin"}
        Only "sum" has a gradient.
    include_self : bool
        Whether the element that was there counts too.

    Raises
    ------
    ElementIndexError
        If an index is out of range.
    ArgumentValueError
        If `reduce` is none of these.
    """
    place = canonical_dim("scatter_reduce", dim, input.ndim)
    if reduce == "sum":
        start = input if include_self else _scatter_kept(input, index, place)
        return scattered_sum(start, index, src, place)  # type: ignore[no-any-return]
    return scatter_reduced(input, index, src, place, reduce, include_self)  # type: ignore[no-any-return]


inplace_form(scatter_reduce, "scatter_reduce")
