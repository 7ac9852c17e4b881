"""The operators behind ``x[...]`` with tensors: nonzero, index, index_put."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import int64
from tracegrad.errors import DTypeError, NotSupportedError, ShapeError
from tracegrad.ops._families import primitive
from tracegrad.ops._indices import (
    add_at,
    check_indices,
    check_integers,
    indexed_shape,
    numpy_key,
)
from tracegrad.ops.shaping import fit, zeros_of
from tracegrad.ops.views import reshape, select
from tracegrad.sizes import Shape, SymbolicSize, shape_text
from tracegrad.spec import TensorSpec

# -- nonzero --------------------------------------------------------------------------


def _nonzero_abstract(input: TensorSpec) -> TensorSpec:
    if input.device.type == "meta":
        raise NotSupportedError(
            "nonzero: the number of results depends on the data, which a tensor on the "
            "meta device has not"
        )
    # The size is not known from the spec: a name of its own stands for it.
    count = SymbolicSize.named("nonzero")
    return TensorSpec(int64, (count, input.ndim), (1, count), input.device)


def _nonzero_kernel(xp: Any, input: Any) -> Any:
    if input.ndim == 0:
        return xp.zeros((int(bool(input)), 0), dtype="int64")
    # One vector for each dimension lies in one piece, as in PyTorch.
    return xp.stack(xp.nonzero(input)).astype("int64", copy=False).T


@primitive(
    "library",
    name="nonzero",
    abstract=_nonzero_abstract,
    kernel=_nonzero_kernel,
    examples=lambda rng: [((rng.integers(0, 2, (2, 5)),), {})],
    dynamic_size=True,
    public=False,
    method=False,
)
def nonzero_places(input: Tensor) -> Tensor:
    """The indices of the elements that are not 0, one row each."""


@public_function()
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not 0.

    Parameters
    ----------
    input : Tensor, shape (...) of n dimensions
    as_tuple : bool
        Give one vector for each dimension, fit for indexing, not a matrix of a row
        for each element.

    Returns
    -------
    Tensor, shape (count, n), or tuple of Tensor, shape (count,)
    """
    if not as_tuple:
        return nonzero_places(input)
    found = nonzero_places(reshape(input, 1) if input.ndim == 0 else input)
    return tuple(select(found, 1, d) for d in range(found._array.shape[1]))


@public_function()
def argwhere(input: Tensor) -> Tensor:
    """Return the indices of the elements that are not 0, a row for each."""
    return nonzero_places(input)  # type: ignore[no-any-return]


# -- index, index_put -----------------------------------------------------------------


def _check_index_specs(
    name: str, input: TensorSpec, indices: Sequence[TensorSpec], dims: tuple[int, ...]
) -> Shape:
    for index in indices:
        check_integers(name, index)
    return indexed_shape(input.shape, indices, dims)


def _index_abstract(
    input: TensorSpec, indices: Sequence[TensorSpec], dims: tuple[int, ...]
) -> TensorSpec:
    shape = _check_index_specs("index", input, indices, dims)
    return TensorSpec(input.dtype, shape, (), input.device)


def _index_kernel(xp: Any, input: Any, indices: Any, dims: tuple[int, ...]) -> Any:
    for dim, index in zip(dims, indices, strict=True):
        check_indices("index", index, input.shape[dim], -input.shape[dim], dim)
    found = input[numpy_key(indices, dims)]
    return xp.ascontiguousarray(found).reshape(found.shape)


def _index_examples(rng: Any) -> Any:
    places = [np.array([0, 1, 1]), np.array([2, -1, 0])]
    return [
        ((rng.standard_normal((2, 3, 4)), places, (0, 1)), {}),
        ((rng.standard_normal((2, 4, 3)), places, (0, 2)), {}),
    ]


@primitive(
    "gather",
    abstract=_index_abstract,
    kernel=_index_kernel,
    linear_in=("input",),
    may_raise=True,
    indices_anywhere=True,
    public=False,
    method=False,
    examples=_index_examples,
)
def index(input: Tensor, indices: Sequence[Tensor], dims: tuple[int, ...]) -> Tensor:
    """Elements at index tensors, one for each of some dimensions."""


def _index_put_abstract(
    input: TensorSpec,
    indices: Sequence[TensorSpec],
    values: TensorSpec,
    dims: tuple[int, ...],
    accumulate: bool,
) -> TensorSpec:
    shape = _check_index_specs("index_put", input, indices, dims)
    if input.dtype is not values.dtype:
        raise DTypeError(
            f"index_put: the values have dtype {values.dtype.name}, the tensor "
            f"{input.dtype.name}; cast them with values.to(dtype)"
        )
    extra = values.ndim - len(shape)
    fits = all(
        own in (1, wanted)
        for own, wanted in zip(values.shape[::-1], shape[::-1], strict=False)
    )
    if extra > 0 or not fits:
        raise ShapeError(
            f"index_put: values of shape {shape_text(values.shape)} do not fit "
            f"indexed elements of shape {shape_text(shape)}"
        )
    return TensorSpec(input.dtype, input.shape, (), input.device)


def _index_put_kernel(
    xp: Any,
    input: Any,
    indices: Any,
    values: Any,
    dims: tuple[int, ...],
    accumulate: bool,
) -> Any:
    for dim, index in zip(dims, indices, strict=True):
        check_indices("index_put", index, input.shape[dim], -input.shape[dim], dim)
    result = xp.array(input, copy=True, order="C")
    key = numpy_key(indices, dims)
    if accumulate:
        return add_at(xp, result, key, values)
    result[key] = values
    return result


def _index_put_examples(rng: Any) -> Any:
    places = [np.array([0, 1]), np.array([2, -1])]
    target, values = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 4))
    return [
        ((target, places, values, (0, 1)), {}),
        ((target, places, values, (0, 1), True), {}),
    ]


@primitive(
    "gather",
    name="index_put",
    abstract=_index_put_abstract,
    kernel=_index_put_kernel,
    may_raise=True,
    indices_anywhere=True,
    public=False,
    method=False,
    examples=_index_put_examples,
)
def put_at(
    input: Tensor,
    indices: Sequence[Tensor],
    values: Tensor,
    dims: tuple[int, ...],
    accumulate: bool = False,
) -> Tensor:
    """The tensor with elements at index tensors replaced by values, or added to.

    Which value stands at an index that occurs twice is not defined, unless they are
    added.
    """


def _put_kept(
    ct: Tensor, indices: Any, values_spec: Any, dims: Any, accumulate: bool
) -> Tensor:
    if accumulate:
        return ct
    zeros = zeros_of(((), values_spec[1]), ct)
    return put_at(ct, indices, zeros, dims)  # type: ignore[no-any-return]


index.vjp(
    input=lambda ct, indices, input_spec, dims: put_at(
        zeros_of(input_spec, ct), indices, ct, dims, True
    )
)
put_at.vjp(
    input=_put_kept,
    values=lambda ct, indices, values_spec, dims: fit(
        index(ct, indices, dims), values_spec
    ),
).jvp(
    input=lambda t, indices, values_spec, dims, accumulate: _put_kept(
        t, indices, values_spec, dims, accumulate
    ),
    values=lambda t, indices, input_spec, dims: put_at(
        zeros_of(input_spec, t), indices, t, dims, True
    ),
)
