"""Conversions between element types, by the one total definition.

- The real dtype of a complex number is its real part.
- A float becomes an integer through int32, or int64 for int64 and uint8; NaN and what
  does not fit become the least number, as x86 processors have it.
- A half type is rounded to nearest, ties to even.
"""

from __future__ import annotations

from tracegrad.codegen.c_family.helpers import Helpers
from tracegrad.codegen.c_family.types import HALF, c_type, compute_dtype
from tracegrad.dtypes import DType, float16, float64, int64, uint8


def cast(text: str, source: DType, target: DType, helpers: Helpers) -> str:
    """Return an expression of `source`'s value type as one of `target`'s.

    Parameters
    ----------
    text : str
        A name or a literal, or an expression in parentheses.
    source, target : DType
    helpers : Helpers
        Is told of functions that are needed.
    """
    if source is target or (source in HALF and target is compute_dtype(source)):
        return text
    if source.kind == "complex":
        return _from_complex(text, source, target, helpers)
    if target.kind == "complex":
        helpers(c_type(target).value)
        part = target.to_real()
        return f"{c_type(target).value}{{{cast(text, source, part, helpers)}, 0}}"
    if target.kind == "bool":
        return f"({text} != 0)"
    if target in HALF:
        return rounded(_to_float(text, source, target, helpers), target, helpers)
    if source.kind == "float" and target.kind == "int":
        return _to_integer(text, source, target, helpers)
    return f"({c_type(target).value}){text}"


def _from_complex(text: str, source: DType, target: DType, helpers: Helpers) -> str:
    helpers(c_type(source).value)
    if target.kind == "bool":
        return f"({text}.re != 0 || {text}.im != 0)"
    if target.kind == "complex":
        helpers(c_type(target).value)
        part = c_type(target.to_real()).value
        name = c_type(target).value
        return f"{name}{{({part}){text}.re, ({part}){text}.im}}"
    return cast(f"{text}.re", source.to_real(), target, helpers)


def _to_float(text: str, source: DType, target: DType, helpers: Helpers) -> str:
    if source is float64 and target is float16:
        return f"{helpers('tg_round_to_odd')}({text})"
    return text if c_type(source).value == "float" else f"(float){text}"


def _to_integer(text: str, source: DType, target: DType, helpers: Helpers) -> str:
    wide = "i64" if target in (int64, uint8) else "i32"
    helper = helpers(f"tg_{wide}_of_{compute_dtype(source).code}")
    call = f"{helper}({text})"
    return call if target.code == wide else f"({c_type(target).value}){call}"


def rounded(text: str, dtype: DType, helpers: Helpers) -> str:
    """Return a float expression rounded to the half type `dtype`."""
    return f"{helpers(f'tg_{dtype.code}_round')}({text})"


def loaded(text: str, dtype: DType, helpers: Helpers) -> str:
    """Return an element of memory as a value."""
    if dtype.kind == "complex":
        helpers(c_type(dtype).value)
    return f"{helpers(f'tg_{dtype.code}_load')}({text})" if dtype in HALF else text


def stored(text: str, dtype: DType, helpers: Helpers) -> str:
    """Return a value as an element of memory."""
    return f"{helpers(f'tg_{dtype.code}_store')}({text})" if dtype in HALF else text
