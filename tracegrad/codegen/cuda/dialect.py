"""How CUDA C spells what the C family leaves open."""

from __future__ import annotations

from tracegrad.codegen.c_family.helpers import Helpers
from tracegrad.codegen.c_family.language import Language
from tracegrad.codegen.c_family.types import c_type
from tracegrad.dtypes import DType

_LOOPS = frozenset({"i", "row", "column"})
_LOCALS = frozenset(
    {
        *("step", "lane", "first", "own", "active", "begin", "limit", "end"),
        *("partial", "tile", "a", "b", "y", "offset"),
        *("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"),
        *("std", "cuda", "nvcuda"),
    }
)

CUDA = Language(
    inline="__device__ __forceinline__",
    float_of_bits=lambda bits: f"__int_as_float({bits:#x})",
    double_of_bits=lambda bits: f"__longlong_as_double({bits:#x}ll)",
    reserved=_LOOPS | _LOCALS | {f"{name}_{k}" for name in _LOOPS for k in range(64)},
)

_BASIC = {
    "tg_bits": (
        "{inline} unsigned int tg_bits(float value) {\n"
        "    return __float_as_uint(value);\n}\n"
    ),
    "tg_float": (
        "{inline} float tg_float(unsigned int bits) {\n"
        "    return __uint_as_float(bits);\n}\n"
    ),
}
_EVERY_LANE = "0xffffffffu"


def cuda_helpers() -> Helpers:
    """Return an empty collection of helper functions."""
    return Helpers(CUDA, _BASIC)


def from_lane(call: str, value: str, lane: str, dtype: DType) -> str:
    """Return the expression that reads another lane's variable.

    Parameters
    ----------
    call : str
        The shuffle function.
    value : str
        A variable.
    lane : str
        The function's last argument.
    dtype : DType
        Of the variable; shuffles move 4 or 8 bytes.
    """
    if dtype.kind == "complex":
        parts = (f"{call}({_EVERY_LANE}, {value}.{p}, {lane})" for p in ("re", "im"))
        return f"{c_type(dtype).value}{{{', '.join(parts)}}}"
    if dtype.itemsize < 4:
        kind = c_type(dtype).value
        return f"({kind}){call}({_EVERY_LANE}, (int){value}, {lane})"
    return f"{call}({_EVERY_LANE}, {value}, {lane})"
