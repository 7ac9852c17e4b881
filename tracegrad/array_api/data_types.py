"""Data type functions of the standard."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import tracegrad as tg
from tracegrad.array_api.arrays import (
    adopt,
    promoted_dtype,
    scalar_fits,
    tensor_of,
)
from tracegrad.device import Device
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, dtype_of_scalar, from_numpy_dtype
from tracegrad.errors import ArgumentError, ArgumentTypeError


@final
@dataclass(frozen=True, slots=True)
class FInfo:
    """What a floating dtype can hold."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@final
@dataclass(frozen=True, slots=True)
class IInfo:
    """What an integer dtype can hold."""

    bits: int
    max: int
    min: int
    dtype: DType


def _dtype_of(value: Any) -> DType:
    found = value.dtype if isinstance(value, Tensor) else value
    if not isinstance(found, DType):
        raise ArgumentTypeError(f"an array or a dtype is wanted, not {value!r}")
    return found


def finfo(type: Any, /) -> FInfo:
    """Return the limits of a floating dtype, or of the parts of a complex one."""
    dtype = _dtype_of(type)
    if dtype.kind not in ("float", "complex"):
        raise ArgumentTypeError(f"finfo takes a floating dtype, not {dtype.name}")
    found = np.finfo(dtype.numpy)
    return FInfo(
        found.bits,
        float(found.eps),
        float(found.max),
        float(found.min),
        float(found.smallest_normal),
        from_numpy_dtype(found.dtype),
    )


def iinfo(type: Any, /) -> IInfo:
    """Return the limits of an integer dtype."""
    dtype = _dtype_of(type)
    if dtype.kind != "int":
        raise ArgumentTypeError(f"iinfo takes an integer dtype, not {dtype.name}")
    found = np.iinfo(dtype.numpy)
    return IInfo(found.bits, int(found.max), int(found.min), dtype)


def _is_of(dtype: DType, kind: str) -> builtins.bool:
    match kind:
        case "bool":
            return dtype.kind == "bool"
        case "signed integer":
            return dtype.kind == "int" and dtype.signed
        case "unsigned integer":
            return dtype.kind == "int" and not dtype.signed
        case "integral":
            return dtype.kind == "int"
        case "real floating":
            return dtype.kind == "float"
        case "complex floating":
            return dtype.kind == "complex"
        case "numeric":
            return dtype.kind != "bool"
    raise ArgumentError(f"isdtype: there is no kind {kind!r}")


def isdtype(dtype: DType, kind: Any) -> builtins.bool:
    """Return whether a dtype is of a kind, or of one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, part) for part in kind)
    if isinstance(kind, str):
        return _is_of(dtype, kind)
    return dtype is _dtype_of(kind)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the dtype of a result from arrays, dtypes and Python numbers."""
    numbers = [
        a
        for a in arrays_and_dtypes
        if isinstance(a, builtins.bool | int | float | complex)
    ]
    dtypes = [
        _dtype_of(a) for a in arrays_and_dtypes if not any(a is n for n in numbers)
    ]
    if not dtypes:
        raise ArgumentError("result_type takes at least one array or dtype")
    found = promoted_dtype(dtypes, "result_type")
    for number in numbers:
        if not scalar_fits(number, found):
            raise ArgumentTypeError(
                f"result_type: {number!r} can't stand beside {found.name}"
            )
        if found.kind == "float" and isinstance(number, complex):
            found = found.to_complex()
    return found


def can_cast(from_: Any, to: DType, /) -> builtins.bool:
    """Return whether values of a dtype, or an array, fit another by promotion."""
    own = _dtype_of(from_)
    try:
        return promoted_dtype([own, _dtype_of(to)], "can_cast") is to
    except ArgumentTypeError:
        return False


def astype(
    x: Any,
    dtype: DType,
    /,
    *,
    copy: builtins.bool = True,
    device: Device | str | None = None,
) -> Any:
    """Return an array in another dtype."""
    tensor = tensor_of(x, "astype")
    if tensor.dtype.kind == "complex" and dtype.kind != "complex":
        raise ArgumentTypeError(
            f"astype: {tensor.dtype.name} has no meaning as {dtype.name}; take real()"
        )
    found: Any = tensor.to(dtype)  # type: ignore[attr-defined]
    found = found if device is None else found.to(device)
    return adopt(found.clone() if copy and found is x else found, x)


def inferred(value: Any) -> DType:
    """Return the dtype that a Python number stands for."""
    return dtype_of_scalar(value)


bool = tg.bool
int8, int16, int32, int64 = tg.int8, tg.int16, tg.int32, tg.int64
uint8 = tg.uint8
float32, float64 = tg.float32, tg.float64
complex64, complex128 = tg.complex64, tg.complex128
