"""Places along a dimension named by a vector of indices, and flat elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_
from tracegrad.errors import DTypeError, ElementIndexError, IndexRangeError, ShapeError
from tracegrad.ops._families import primitive
from tracegrad.ops._functions import METHODS
from tracegrad.ops._indices import (
    add_at,
    check_elements,
    check_indices,
    check_integers,
)
from tracegrad.ops._inplace import inplace_form
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.creation import filled
from tracegrad.ops.gathering import gathered, row_major
from tracegrad.ops.indexing import as_element
from tracegrad.ops.selection import where
from tracegrad.ops.shaping import zeros_of
from tracegrad.ops.views import expand, reshape
from tracegrad.sizes import Shape, broadcast_shapes, shape_text
from tracegrad.spec import TensorSpec

# -- index_select and its relatives ----------------------------------------------------


def _check_vector(name: str, index: TensorSpec) -> None:
    check_integers(name, index)
    if index.ndim > 1:
        raise IndexRangeError(f"{name}: the index must be a vector, not {index.ndim}-d")


def _index_select_abstract(
    input: TensorSpec, dim: int, index: TensorSpec
) -> TensorSpec:
    _check_vector("index_select", index)
    shape = input.shape
    if shape:
        shape = (*shape[:dim], index.size, *shape[dim + 1 :])
    return TensorSpec(input.dtype, shape, (), input.device)


def _index_select_kernel(xp: Any, input: Any, index: Any, dim: int) -> Any:
    source = xp.atleast_1d(input)
    check_elements("index_select", index, source.shape[dim], dim)
    found = xp.take(source, xp.atleast_1d(index), axis=dim)
    return xp.ascontiguousarray(found).reshape(
        input.shape if input.ndim == 0 else found.shape
    )


@primitive(
    "gather",
    name="index_select",
    abstract=lambda input, index, dim: _index_select_abstract(input, dim, index),
    kernel=_index_select_kernel,
    linear_in=("input",),
    may_raise=True,
    public=False,
    method=False,
    examples=lambda rng: [((rng.standard_normal((2, 3)), np.array([2, 0, 2]), 1), {})],
)
def selected(input: Tensor, index: Tensor, dim: int) -> Tensor:
    """Places of a vector of indices along a dimension."""


def _check_places(
    name: str, input: TensorSpec, dim: int, index: TensorSpec, source: TensorSpec
) -> None:
    _check_vector(name, index)
    if input.dtype is not source.dtype:
        raise DTypeError(
            f"{name}: the source has dtype {source.dtype.name}, the tensor "
            f"{input.dtype.name}; cast it with source.to(dtype)"
        )
    wanted = (*input.shape[:dim], index.size, *input.shape[dim + 1 :])
    have = source.shape if input.ndim else (source.size,)
    if (wanted if input.ndim else (index.size,)) != have:
        raise ShapeError(
            f"{name}: the source has shape {shape_text(source.shape)}, wanted is "
            f"{shape_text(wanted)}"
        )


def _index_add_abstract(
    input: TensorSpec, index: TensorSpec, source: TensorSpec, dim: int
) -> TensorSpec:
    _check_places("index_add", input, dim, index, source)
    return row_major(input)


def _place_parts(
    xp: Any, name: str, input: Any, index: Any, source: Any, dim: int
) -> Any:
    result = xp.array(xp.atleast_1d(input), copy=True, order="C")
    places = xp.atleast_1d(index)
    check_elements(name, places, result.shape[dim], dim)
    key = (slice(None),) * dim + (places,)
    return result, key, xp.atleast_1d(source)


def _index_add_kernel(xp: Any, input: Any, index: Any, source: Any, dim: int) -> Any:
    result, key, values = _place_parts(xp, "index_add", input, index, source, dim)
    return add_at(xp, result, key, values).reshape(input.shape)


def _place_examples(rng: Any) -> Any:
    target, source = rng.standard_normal((2, 3)), rng.standard_normal((2, 2))
    return [((target, np.array([2, 0]), source, 1), {})]


@primitive(
    "gather",
    name="index_add",
    abstract=_index_add_abstract,
    kernel=_index_add_kernel,
    may_raise=True,
    public=False,
    method=False,
    examples=_place_examples,
)
def added_at(input: Tensor, index: Tensor, source: Tensor, dim: int) -> Tensor:
    """The tensor with a source added at a vector of indices along a dimension."""


def _index_copy_abstract(
    input: TensorSpec, index: TensorSpec, source: TensorSpec, dim: int
) -> TensorSpec:
    _check_places("index_copy", input, dim, index, source)
    return row_major(input)


def _index_copy_kernel(xp: Any, input: Any, index: Any, source: Any, dim: int) -> Any:
    result, key, values = _place_parts(xp, "index_copy", input, index, source, dim)
    result[key] = values
    return result.reshape(input.shape)


@primitive(
    "gather",
    name="index_copy",
    abstract=_index_copy_abstract,
    kernel=_index_copy_kernel,
    may_raise=True,
    public=False,
    method=False,
    examples=_place_examples,
)
def copied_at(input: Tensor, index: Tensor, source: Tensor, dim: int) -> Tensor:
    """The tensor with a source put at a vector of indices along a dimension."""


def _source_at(ct: Tensor, index: Tensor, source_spec: Any, dim: int) -> Tensor:
    return reshape(selected(ct, index, dim), *source_spec[0])  # type: ignore[no-any-return]


def _zeroed_at(ct: Tensor, index: Tensor, source_spec: Any, dim: int) -> Tensor:
    return copied_at(ct, index, zeros_of(source_spec, ct), dim)  # type: ignore[no-any-return]


def _selected_spec(input_spec: Any, index: Tensor, dim: int) -> Shape:
    shape: Shape = input_spec[0]
    return (*shape[:dim], index.numel(), *shape[dim + 1 :]) if shape else ()


selected.vjp(
    input=lambda ct, index, input_spec, dim: added_at(
        zeros_of(input_spec, ct), index, ct, dim
    )
)
added_at.vjp(
    input=lambda ct: ct,
    source=lambda ct, index, source_spec, dim: _source_at(ct, index, source_spec, dim),
).jvp(
    input=lambda t: t,
    source=lambda t, index, input_spec, dim: added_at(
        zeros_of(input_spec, t), index, t, dim
    ),
)
copied_at.vjp(
    input=lambda ct, index, source_spec, dim: _zeroed_at(ct, index, source_spec, dim),
    source=lambda ct, index, source_spec, dim: _source_at(ct, index, source_spec, dim),
).jvp(
    input=lambda t, index, source_spec, dim: _zeroed_at(t, index, source_spec, dim),
    source=lambda t, index, input_spec, dim: copied_at(
        zeros_of(input_spec, t), index, t, dim
    ),
)


@public_function()
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the places `index` along `dim`, a copy.

    Parameters
    ----------
    input : Tensor, shape (...)
    dim : int
    index : Tensor, shape (n,), int64 or int32
        Not negative.

    Raises
    ------
    IndexRangeError
        If an index is out of range.
    """
    place = canonical_dim("index_select", dim, input.ndim)
    return selected(input, index, place)  # type: ignore[no-any-return]


@public_function()
def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1
) -> Tensor:
    """Return `input` with `alpha` times `source` added at `index` along `dim`.

    Raises
    ------
    IndexRangeError
        If an index is out of range or negative.
    ShapeError
        If the source's shape does not fit.
    """
    place = canonical_dim("index_add", dim, input.ndim)
    scaled = source if alpha == 1 else source * alpha
    return added_at(input, index, scaled, place)  # type: ignore[no-any-return]


@public_function()
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return `input` with `source` put at `index` along `dim`.

    Raises
    ------
    IndexRangeError
        If an index is out of range or negative.
    ShapeError
        If the source's shape does not fit.
    """
    place = canonical_dim("index_copy", dim, input.ndim)
    return copied_at(input, index, source, place)  # type: ignore[no-any-return]


@public_function()
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Return `input` with a number put at `index` along `dim`.

    Raises
    ------
    IndexRangeError
        If an index is out of range.
    ShapeError
        If `value` is a tensor with dimensions.
    """
    place = canonical_dim("index_fill", dim, input.ndim)
    number = as_element(value, input)
    if number.ndim:
        raise ShapeError("index_fill: the value must be a number or a 0-dim tensor")
    _selected_spec((input._array.shape, None), index, place)
    if input.ndim == 0:
        return copied_at(input, index, number, place)  # type: ignore[no-any-return]
    if number.dtype is not input.dtype:
        number = number.to(input.dtype)  # type: ignore[attr-defined]
    size = input._array.shape[place]
    nowhere = filled((size,), False, bool_, input.device)
    named = nowhere.index_put((index,), filled((), True, bool_, input.device))
    # A place that is named twice is filled once.
    around = (*(1,) * place, size, *(1,) * (input.ndim - place - 1))
    return where(reshape(named, *around), number, input)  # type: ignore[no-any-return]


for _function in (index_add, index_copy, index_fill):
    inplace_form(_function, _function.__name__)


# -- flat: take, put -------------------------------------------------------------------


def _take_abstract(input: TensorSpec, index: TensorSpec) -> TensorSpec:
    if index.dtype.name != "int64":
        raise ElementIndexError(
            f"take: the index must be int64, not {index.dtype.name}"
        )
    return TensorSpec(input.dtype, index.shape, (), input.device)


def _take_kernel(xp: Any, input: Any, index: Any) -> Any:
    check_indices("take", index, input.size, -input.size, 0)
    return input.reshape(-1)[index.reshape(-1)].reshape(index.shape)


@primitive(
    "gather",
    abstract=_take_abstract,
    kernel=_take_kernel,
    linear_in=("input",),
    may_raise=True,
    examples=lambda rng: [
        ((rng.standard_normal((2, 3)), np.array([[0, -1], [0, 4]])), {})
    ],
)
def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements at indices, counted as if there were one dimension; negative too."""


def _take_vjp(ct: Tensor, index: Tensor, input_spec: Any) -> Tensor:
    shape, dtype = input_spec
    flat = zeros_of(((math.prod(shape),), dtype), ct)
    added = flat.index_put((reshape(index, -1),), reshape(ct, -1), True)  # type: ignore[attr-defined]
    return reshape(added, *shape)  # type: ignore[no-any-return]


take.vjp(input=_take_vjp)


def _put(
    input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False
) -> Tensor:
    """Return `input` with `source` put at indices into its flat elements.

    Raises
    ------
    IndexRangeError
        If an index is out of range, or there are not as many as source elements.
    """
    if source.numel() != index.numel():
        raise IndexRangeError(
            f"put: {source.numel()} source elements for {index.numel()} indices"
        )
    flat = reshape(input, -1)
    done = flat.index_put((reshape(index, -1),), reshape(source, -1), accumulate)
    return reshape(done, *input._array.shape)  # type: ignore[no-any-return]


METHODS["put"] = _put
inplace_form(_put, "put")


@public_function(method=False)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return the elements at `indices` along `dim`, the other dimensions broadcast.

    Without `dim`, of the flat elements.

    Raises
    ------
    ElementIndexError
        If an index is out of range.
    ShapeError
        If the shapes do not broadcast outside `dim`.
    """
    if dim is None:
        return gathered(reshape(input, -1), reshape(indices, -1), 0)  # type: ignore[no-any-return]
    if input.ndim != indices.ndim:
        raise ShapeError(
            f"take_along_dim: the index has {indices.ndim} dimensions, the tensor "
            f"{input.ndim}"
        )
    place = canonical_dim("take_along_dim", dim, input.ndim)
    own, wanted = input._array.shape, indices._array.shape
    common = broadcast_shapes(
        (*own[:place], 1, *own[place + 1 :]), (*wanted[:place], 1, *wanted[place + 1 :])
    )
    source = expand(input, *common[:place], own[place], *common[place + 1 :])
    places = expand(indices, *common[:place], wanted[place], *common[place + 1 :])
    return gathered(source, places, place)  # type: ignore[no-any-return]


METHODS["take_along_dim"] = take_along_dim
