"""Helpers of rules: bring a cotangent to another shape and dtype."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.inplace import freeze_path
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, from_numpy_dtype
from tracegrad.sizes import Shape
from tracegrad.spec import TensorSpec


def spread(ct: Tensor, shape: Shape, dim: tuple[int, ...], keepdim: bool) -> Tensor:
    """Return `ct`, the cotangent of a reduction over `dim`, expanded to `shape`."""
    if not keepdim and dim and len(dim) < len(shape):
        kept = tuple(1 if i in dim else s for i, s in enumerate(shape))
        ct = FUNCTIONS["reshape"].function(ct, *kept)
    if ct._array.shape == shape:
        return ct
    return OPERATORS["expand"](ct, *shape)  # type: ignore[no-any-return]


def sum_to_shape(input: Tensor, shape: Shape) -> Tensor:
    """Return `input` summed over the dimensions that broadcasting added to `shape`."""
    own = input._array.shape
    if own == shape:
        return input
    extra = len(own) - len(shape)
    dims = tuple(range(extra)) + tuple(
        i + extra for i, s in enumerate(shape) if s == 1 and own[i + extra] != 1
    )
    keep = tuple(d for d in dims if d >= extra)
    if not keep:
        return OPERATORS["sum"](input, dims)  # type: ignore[no-any-return]
    summed = OPERATORS["sum"](input, keep, True)
    if extra:
        summed = OPERATORS["sum"](summed, tuple(range(extra)))
    return summed  # type: ignore[no-any-return]


def fit(ct: Tensor, spec: tuple[Shape, Any]) -> Tensor:
    """Return `ct` with an operand's shape and dtype."""
    shape, dtype = spec
    if ct._array.shape != shape:
        ct = sum_to_shape(ct, shape)
    if ct._array.dtype != dtype:
        wanted = dtype if isinstance(dtype, DType) else from_numpy_dtype(dtype)
        if ct.dtype is not wanted:
            ct = OPERATORS["cast"](ct, wanted)
    return ct


def zeros_of(spec: tuple[Shape, Any], like: Tensor) -> Tensor:
    """Return zeros of an operand's shape and dtype, on the device of `like`."""
    shape, dtype = spec
    wanted = dtype if isinstance(dtype, DType) else from_numpy_dtype(dtype)
    return OPERATORS["full"](shape, 0, wanted, like.device)  # type: ignore[no-any-return]


def written_into_zeros(
    ct: Tensor, spec: tuple[Shape, Any], operator: OpDef, **attributes: Any
) -> Tensor:
    """Return zeros of `spec` with `ct` in the part that a view operator reaches."""
    path = freeze_path(((operator, attributes, 0),))
    return OPERATORS["view_write"](zeros_of(spec, ct), ct, path)  # type: ignore[no-any-return]


def _zeros_like(self: Tensor) -> Tensor:
    return zeros_of((self._array.shape, self._array.dtype), self)


def _masked_select_or_zero(self: Tensor, mask: Tensor) -> Tensor:
    return OPERATORS["where"](mask, self, 0)  # type: ignore[no-any-return]


Tensor.zeros_like = _zeros_like  # type: ignore[attr-defined]
Tensor.masked_select_or_zero = _masked_select_or_zero  # type: ignore[attr-defined]


def _zeros_of_spec(spec: TensorSpec) -> Tensor:
    return OPERATORS["full"](spec.shape, 0, spec.dtype, spec.device)  # type: ignore[no-any-return]


Tensor.zeros_of_spec = staticmethod(_zeros_of_spec)  # type: ignore[attr-defined]
