"""Python numbers as C literals that have the same bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracegrad.codegen.c_family.language import Language
from tracegrad.codegen.c_family.types import c_type, compute_dtype, least_integer
from tracegrad.dtypes import DType, float32


def literal(value: Any, dtype: DType, language: Language) -> str:
    """Return a Python number as an expression of `dtype`'s value type.

    Integers wrap at the dtype's width; infinities end at an integer's limits, which is
    what the neutral element of a maximum means there.

    Parameters
    ----------
    value : bool, int, float or complex
    dtype : DType
    language : Language
    """
    if dtype.kind == "bool":
        return "true" if value and value != -math.inf else "false"
    if dtype.kind == "int":
        return _integer(value, dtype)
    if dtype.kind == "complex":
        part = dtype.to_real()
        number = complex(value)
        inner = [_floating(p, part, language) for p in (number.real, number.imag)]
        return f"{c_type(dtype).value}{{{', '.join(inner)}}}"
    return _floating(value, compute_dtype(dtype), language)


def _integer(value: int | float, dtype: DType) -> str:
    bits = 8 * dtype.itemsize
    least = -(1 << (bits - 1)) if dtype.signed else 0
    if isinstance(value, float) and math.isinf(value):
        number = least if value < 0 else least + (1 << bits) - 1
    else:
        number = (int(value) - least) % (1 << bits) + least
    if number == least and dtype.signed:
        return least_integer(dtype)
    return f"{number}{'ll' if dtype.itemsize == 8 else ''}"


def _floating(value: float, dtype: DType, language: Language) -> str:
    single = dtype is float32
    with np.errstate(over="ignore"):
        number = np.float32(value) if single else np.float64(value)
    if np.isfinite(number):
        # NumPy prints the shortest text that reads back as the same number.
        text = str(number)
        return text + "f" if single else text
    if single:
        return language.float_of_bits(int(number.view(np.uint32)))
    return language.double_of_bits(int(number.view(np.uint64)))
