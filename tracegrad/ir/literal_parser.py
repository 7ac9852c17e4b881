"""Reading specs, numbers, elements and attributes' values."""

from __future__ import annotations

import binascii
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracegrad.device import CPU, Device, device
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dtypes import BY_CODE, DType
from tracegrad.errors import DeviceError, DTypeError, ParseError
from tracegrad.ir.literals import (
    array_of_base64,
    element_of_bits,
    float_of_bits,
    laid_out,
)
from tracegrad.ir.tokens import Cursor, Token
from tracegrad.sizes import Dimension, Shape, numel, parse_size
from tracegrad.spec import ScalarSpec, Spec, StateSpec, TensorSpec

_SCALARS = ("bool", "int", "float", "complex")
_ENGINES = ("mt19937", "philox")
# A symbolic size is a sum of products; nothing else may reach `parse_size`.
_SIZE_SYMBOLS = ("+", "*", "//", "-", "(", ")")
SubGraphParser = Callable[[], Any]

# -- specs ---------------------------------------------------------------------


def parse_spec(cursor: Cursor) -> Spec:
    """Return the spec that begins here."""
    token = cursor.take_kind("word", "a spec such as f32[2, 3]")
    if token.text == "state":
        return _state_spec(cursor)
    if token.text in _SCALARS and not cursor.at("["):
        return ScalarSpec(token.text)  # type: ignore[arg-type]
    dtype = BY_CODE.get(token.text)
    if dtype is None:
        cursor.fail(
            f"no dtype is called {token.text!r}; there are {', '.join(BY_CODE)}", token
        )
    return _tensor_spec(cursor, dtype)


def _state_spec(cursor: Cursor) -> Spec:
    cursor.expect("<")
    engine = cursor.take_kind("word", "an engine such as mt19937")
    if engine.text not in _ENGINES:
        cursor.fail(f"no engine is called {engine.text!r}", engine)
    cursor.expect(">")
    return StateSpec(engine.text)


def _tensor_spec(cursor: Cursor, dtype: DType) -> TensorSpec:
    start = cursor.token
    shape = _sizes(cursor)
    if any(isinstance(size, int) and size < 0 for size in shape):
        cursor.fail("a size can't be negative", start)
    strides: Shape | None = None
    if cursor.accept("strides"):
        at = cursor.token
        strides = _sizes(cursor)
        if len(strides) != len(shape):
            cursor.fail(f"{len(shape)} sizes have {len(strides)} strides", at)
    where = _device(cursor, cursor.take()) if cursor.accept("@") else CPU
    return TensorSpec(dtype, shape, strides or (), where)


def _sizes(cursor: Cursor) -> Shape:
    cursor.expect("[", " and sizes")
    sizes: list[Dimension] = []
    while not cursor.accept("]"):
        if sizes:
            cursor.expect(",", " or ']' after a size")
        sizes.append(_size(cursor, "]"))
    return tuple(sizes)


def _size(cursor: Cursor, end: str) -> Dimension:
    """Return the size that reaches to the next comma or to `end`."""
    start = cursor.token
    parts: list[str] = []
    depth = 0
    while depth > 0 or not (cursor.at(",") or cursor.at(end)):
        token = cursor.token
        known = token.kind in ("word", "number") or token.text in _SIZE_SYMBOLS
        if not known:
            cursor.expected("a size such as 3 or 2*B + 1")
        depth += (token.text == "(") - (token.text == ")")
        parts.append(cursor.take().text)
    text = " ".join(parts)
    try:
        return parse_size(text)
    except (ParseError, ValueError, ArithmeticError, RecursionError):
        cursor.fail(f"{text!r} is not a size", start)


def _device(cursor: Cursor, token: Token) -> Device:
    index = None
    if cursor.accept(":"):
        index = parse_integer(cursor)
    try:
        kind = device(token.text).type
    except DeviceError as error:
        cursor.fail(str(error.args[0]), token)
    return Device(kind, index)


# -- numbers -------------------------------------------------------------------


def parse_integer(cursor: Cursor) -> int:
    """Return the integer that stands here."""
    token = cursor.take_kind("number", "an integer")
    found = _number(cursor, token)
    if not isinstance(found, int):
        cursor.fail(f"expected an integer, found {token}", token)
    return found


def _number(cursor: Cursor, token: Token) -> int | float:
    integral = not set(token.text) & set(".eE")
    try:
        return int(token.text) if integral else float(token.text)
    except ValueError:
        cursor.fail("the integer has too many digits", token)


def _bits(cursor: Cursor, width: int) -> int | None:
    """Return the bits in ``nan(0x7fc00001)``, or None for ``nan``."""
    if not cursor.accept("("):
        return None
    token = cursor.take_kind("bits", "the bits of a NaN such as 0x7fc00001")
    cursor.expect(")")
    bits = int(token.text, 16)
    if bits >> width:
        cursor.fail(f"expected {width} bits, found {token}", token)
    return bits


def _nan(cursor: Cursor) -> float:
    token = cursor.token
    bits = _bits(cursor, 64)
    value = float("nan") if bits is None else float_of_bits(bits)
    if value == value:
        cursor.fail("these bits are not those of a NaN", token)
    return value


def _complex(cursor: Cursor) -> complex:
    parts: list[float] = []
    for end in (",", ")"):
        token = cursor.token
        part = _plain_literal(cursor)
        if type(part) is not float:
            cursor.fail("a complex number has two floats", token)
        parts.append(part)
        cursor.expect(end)
    return complex(*parts)


# -- literals ------------------------------------------------------------------


def parse_literal(cursor: Cursor, sub_graph: SubGraphParser) -> Any:
    """Return the value of an attribute that begins here."""
    if cursor.at("graph"):
        return sub_graph()
    if cursor.accept("["):
        return _sequence(cursor, sub_graph)
    token = cursor.token
    if token.kind == "word" and token.text in OPERATORS and _is_step(cursor):
        return _step(cursor, sub_graph)
    return _plain_literal(cursor)


def _sequence(cursor: Cursor, sub_graph: SubGraphParser) -> tuple[Any, ...]:
    values: list[Any] = []
    while not cursor.accept("]"):
        if values:
            cursor.expect(",", " or ']' after a value")
        values.append(parse_literal(cursor, sub_graph))
    return tuple(values)


def _is_step(cursor: Cursor) -> bool:
    return cursor.token.text not in _WORDS and cursor.token.text not in _CALLS


def _step(cursor: Cursor, sub_graph: SubGraphParser) -> tuple[Any, ...]:
    """Return a view of a path: operator, attributes, index of the result."""
    operator = OPERATORS[cursor.take().text]
    cursor.expect("(", f" after {operator.name}")
    attributes: list[tuple[str, Any]] = []
    while not cursor.accept(")"):
        if attributes:
            cursor.expect(",", " or ')' after an attribute")
        name = cursor.take_kind("word", "an attribute").text
        cursor.expect("=", f" after {name}")
        attributes.append((name, parse_literal(cursor, sub_graph)))
    index = 0
    if cursor.accept("["):
        index = parse_integer(cursor)
        cursor.expect("]")
    return (operator, tuple(attributes), index)


def _plain_literal(cursor: Cursor) -> Any:
    token = cursor.token
    if token.kind == "string":
        return cursor.take_string("a string")
    if token.kind == "number":
        return _number(cursor, cursor.take())
    if cursor.accept("-"):
        cursor.expect("inf", " after '-'")
        return float("-inf")
    if token.kind != "word":
        cursor.expected("a value")
    cursor.take()
    if token.text in _WORDS:
        return _WORDS[token.text]
    if token.text == "nan":
        return _nan(cursor)
    if token.text in _CALLS and cursor.accept("("):
        return _CALLS[token.text](cursor)
    if token.text in BY_CODE:
        return BY_CODE[token.text]
    return _device(cursor, token)


def _size_call(cursor: Cursor) -> Dimension:
    found = _size(cursor, ")")
    cursor.expect(")")
    return found


def _device_call(cursor: Cursor) -> Device:
    kind = cursor.take_string("the device's name in quotes")
    index = parse_integer(cursor) if cursor.accept(",") else None
    cursor.expect(")")
    return Device(kind, index)


def _operator_call(cursor: Cursor) -> OpDef:
    token = cursor.take_kind("word", "an operator")
    if token.text not in OPERATORS:
        cursor.fail(f"no operator is called {token.text!r}", token)
    cursor.expect(")")
    return OPERATORS[token.text]


_WORDS: dict[str, Any] = {
    "None": None,
    "True": True,
    "False": False,
    "inf": float("inf"),
}
_CALLS: dict[str, Callable[[Cursor], Any]] = {
    "complex": _complex,
    "size": _size_call,
    "device": _device_call,
    "operator": _operator_call,
}

# -- the elements of constants -------------------------------------------------


def parse_elements(cursor: Cursor, spec: TensorSpec) -> Any:
    """Return the array of a constant with the spec `spec`."""
    token = cursor.token
    size = numel(spec.shape)
    if not isinstance(size, int):
        cursor.fail(f"a constant has no symbolic size such as {size}", token)
    elements = _element_array(cursor, spec)
    if elements.size != size:
        cursor.fail(f"expected {size} elements, found {elements.size}", token)
    try:
        return laid_out(elements, spec)
    except (MemoryError, ValueError, OverflowError):
        cursor.fail(f"no memory for a constant with the strides of {spec}", token)


def _element_array(cursor: Cursor, spec: TensorSpec) -> np.ndarray[Any, Any]:
    token = cursor.token
    try:
        dtype = spec.dtype.numpy
        if cursor.accept("base64"):
            return _base64(cursor, spec)
        cursor.expect("[", " and elements")
        found: list[Any] = []
        while not cursor.accept("]"):
            if found:
                cursor.expect(",", " or ']' after an element")
            found.append(_element(cursor, spec.dtype))
    except DTypeError as error:
        cursor.fail(str(error), token)
    array = np.empty(len(found), dtype)
    for index, element in enumerate(found):
        array[index] = element
    return array


def _base64(cursor: Cursor, spec: TensorSpec) -> np.ndarray[Any, Any]:
    cursor.expect("(")
    token = cursor.token
    text = cursor.take_string("the bytes in quotes")
    cursor.expect(")")
    try:
        return array_of_base64(text, spec)
    except (ValueError, binascii.Error):
        cursor.fail(f"these are not the bytes of {spec.dtype.name} elements", token)


def _element(cursor: Cursor, dtype: DType) -> Any:
    token = cursor.token
    if dtype.kind == "float":
        return _real_element(cursor, dtype.numpy)
    if dtype.kind == "complex":
        return _complex_element(cursor, dtype)
    found = _plain_literal(cursor)
    if type(found) is not (bool if dtype.kind == "bool" else int):
        cursor.fail(f"expected an element of {dtype.name}, found {token}", token)
    try:
        return dtype.numpy.type(found)
    except OverflowError:
        cursor.fail(f"{found} is out of range for {dtype.name}", token)


def _real_element(cursor: Cursor, dtype: np.dtype[Any]) -> Any:
    token = cursor.token
    if cursor.accept("nan"):
        bits = _bits(cursor, 8 * dtype.itemsize)
        found = float("nan") if bits is None else element_of_bits(bits, dtype)
        if found == found:
            cursor.fail("these bits are not those of a NaN", token)
        return dtype.type(found)
    found = _plain_literal(cursor)
    if type(found) not in (int, float):
        cursor.fail(f"expected a number, found {token}", token)
    with np.errstate(over="ignore", under="ignore"):
        element = np.asarray(found, np.float64).astype(dtype)[()]
    if np.isinf(element) and not math.isinf(found):
        cursor.fail(f"{token} is out of range for {dtype.name}", token)
    return element


def _complex_element(cursor: Cursor, dtype: DType) -> Any:
    real = dtype.to_real().numpy
    cursor.expect("complex", " and its two parts")
    cursor.expect("(")
    parts = np.empty(2, real)
    for index, end in enumerate((",", ")")):
        parts[index] = _real_element(cursor, real)
        cursor.expect(end)
    return parts.view(dtype.numpy)[0]
