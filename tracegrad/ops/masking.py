"""Elements chosen by a mask: selected, filled, scattered."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_, int64
from tracegrad.errors import DTypeError, ShapeError
from tracegrad.ops._families import composite
from tracegrad.ops._inplace import inplace_form
from tracegrad.ops.casts import cast
from tracegrad.ops.creation import filled
from tracegrad.ops.index_operators import index, nonzero_places
from tracegrad.ops.indexing import as_element
from tracegrad.ops.scans import cumsum
from tracegrad.ops.selection import where
from tracegrad.ops.views import expand, reshape, select
from tracegrad.sizes import broadcast_shapes, shape_text


def _check_mask(name: str, mask: Tensor) -> None:
    if mask.dtype is not bool_:
        raise DTypeError(f"{name}: a mask must be bool, not {mask.dtype.name}")


@public_function()
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the elements where `mask` holds, as a vector.

    Parameters
    ----------
    input, mask : Tensor, shapes that broadcast
        The mask is bool.

    Raises
    ------
    DTypeError
        If the mask is not bool.
    ShapeError
        If the shapes do not broadcast.
    """
    _check_mask("masked_select", mask)
    shape = broadcast_shapes(input._array.shape, mask._array.shape)
    flat = reshape(expand(input, *shape), -1) if 0 not in shape else reshape(input, 0)
    places = nonzero_places(reshape(expand(mask, *shape), *flat._array.shape))
    return index(flat, (select(places, 1, 0),), (0,))  # type: ignore[no-any-return]


@public_function()
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Return `input` with a number where `mask` holds, in the dtype of `input`.

    Parameters
    ----------
    input, mask : Tensor, shapes that broadcast
        The mask is bool.
    value : number or Tensor, shape ()

    Raises
    ------
    DTypeError
        If the mask is not bool, or the number can't be stored.
    ShapeError
        If the value has dimensions, or the shapes do not broadcast.
    """
    _check_mask("masked_fill", mask)
    number = as_element(value, input)
    if number.ndim:
        raise ShapeError(
            f"masked_fill: the value must be a number or a 0-dim tensor, not of shape "
            f"{shape_text(number.shape)}"
        )
    if number.dtype is not input.dtype:
        number = cast(number, input.dtype)
    return where(mask, number, input)  # type: ignore[no-any-return]


@composite(
    public=False,
    method=False,
    examples=lambda rng: [
        ((rng.standard_normal((2, 3)), np.eye(2, 3) > 0, rng.standard_normal(6)), {})
    ],
)
def scattered_by_mask(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The tensor with the elements of a source, in order, where the mask holds."""
    shape = input._array.shape
    places = cumsum(cast(reshape(mask, -1), int64), 0) - 1
    nowhere = filled((), 0, int64, input.device)
    chosen = where(reshape(mask, -1), places, nowhere)
    values = index(reshape(source, -1), (chosen,), (0,))
    return where(mask, reshape(values, *shape), input)  # type: ignore[no-any-return]


@public_function()
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return `input` with the elements of `source`, in order, where `mask` holds.

    Parameters
    ----------
    input, mask : Tensor, shapes that broadcast
        The mask is bool.
    source : Tensor, dtype of `input`
        At least as many elements as the mask has true ones.

    Raises
    ------
    DTypeError
        If the mask is not bool, or the dtypes differ.
    ShapeError
        If the source has too few elements.
    """
    _check_mask("masked_scatter", mask)
    if source.dtype is not input.dtype:
        raise DTypeError(
            f"masked_scatter: the source has dtype {source.dtype.name}, the tensor "
            f"{input.dtype.name}"
        )
    shape = broadcast_shapes(input._array.shape, mask._array.shape)
    wide, chosen = expand(input, *shape), expand(mask, *shape)
    if source.numel() < wide.numel():
        wanted = int(chosen.sum().item())
        if source.numel() < wanted:
            raise ShapeError(
                f"masked_scatter: {source.numel()} source elements for {wanted} places"
            )
        if wanted == 0:
            return wide.clone()  # type: ignore[no-any-return]
    if wide.numel() == 0:
        return wide.clone()  # type: ignore[no-any-return]
    return scattered_by_mask(wide, chosen, source)  # type: ignore[no-any-return]


for _function in (masked_fill, masked_scatter):
    inplace_form(_function, _function.__name__)
