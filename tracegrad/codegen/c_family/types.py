"""How element types are stored and computed with in the C family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from tracegrad.dtypes import (
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from tracegrad.spec import ScalarSpec


@final
@dataclass(frozen=True, slots=True)
class CType:
    """One element type.

    Attributes
    ----------
    storage : str
        The type of an element in memory.
    value : str
        The type of a variable that holds one; half types are held in a float, whose
        value is always one that the half type has.
    unsigned : str
        The unsigned integer of the same width.
    """

    storage: str
    value: str
    unsigned: str


_TYPES = {
    bool_: CType("bool", "bool", "unsigned char"),
    uint8: CType("unsigned char", "unsigned char", "unsigned char"),
    int8: CType("signed char", "signed char", "unsigned char"),
    int16: CType("short", "short", "unsigned short"),
    int32: CType("int", "int", "unsigned int"),
    int64: CType("long long", "long long", "unsigned long long"),
    float16: CType("unsigned short", "float", "unsigned short"),
    bfloat16: CType("unsigned short", "float", "unsigned short"),
    float32: CType("float", "float", "unsigned int"),
    float64: CType("double", "double", "unsigned long long"),
    complex64: CType("tg_c64", "tg_c64", "unsigned long long"),
    complex128: CType("tg_c128", "tg_c128", "unsigned long long"),
}
HALF = (float16, bfloat16)

_OF_SCALARS = {
    "bool": bool_, "int": int64, "float": float64, "complex": complex128,
}  # fmt: skip


def c_type(dtype: DType) -> CType:
    """Return how `dtype` is stored and computed with."""
    return _TYPES[dtype]


def compute_dtype(dtype: DType) -> DType:
    """Return the dtype an operator computes in: float32 for the half types."""
    return float32 if dtype in HALF else dtype


def scalar_dtype(spec: ScalarSpec) -> DType:
    """Return the dtype in which a Python number is passed to a kernel."""
    return _OF_SCALARS[spec.kind]


def fields(dtype: DType) -> dict[str, str]:
    """Return what stands for the placeholders of operators' texts.

    Parameters
    ----------
    dtype : DType
        What the operator computes in.

    Notes
    -----
    ``{T}`` is the type, ``{U}`` the unsigned one, ``{t}`` the code, ``{f}`` the suffix
    of functions, ``{bits}`` the width and ``{signed}`` 0 or 1.
    """
    return {
        "T": c_type(dtype).value,
        "U": c_type(dtype).unsigned,
        "t": dtype.code,
        "f": "f" if dtype is float32 else "",
        "bits": str(8 * dtype.itemsize),
        "signed": str(int(dtype.signed)),
    }


def least_integer(dtype: DType) -> str:
    """Return the least number of an integer dtype; C has no literal for some."""
    if not dtype.signed:
        return "0"
    if dtype is int64:
        return "(-9223372036854775807ll - 1)"
    if dtype is int32:
        return "(-2147483647 - 1)"
    return f"(-{1 << (8 * dtype.itemsize - 1)})"
