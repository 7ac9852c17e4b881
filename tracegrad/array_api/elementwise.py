"""Element-wise functions of the standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tracegrad as tg
from tracegrad.array_api.arrays import (
    adopt,
    check_kind,
    promoted,
    tensor_of,
)
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentTypeError

Kinds = tuple[str, ...]
_BOOL: Kinds = ("bool",)
_INTEGRAL: Kinds = ("bool", "int")
_INT: Kinds = ("int",)
_FLOAT: Kinds = ("float",)
_FLOATING: Kinds = ("float", "complex")
_REAL: Kinds = ("int", "float")
_NUMERIC: Kinds = ("int", "float", "complex")
_COMPLEX: Kinds = ("complex",)
_ANY: Kinds = ("bool", "int", "float", "complex")

# The standard's name: ours, and the kinds for which it is defined.
_UNARY: dict[str, tuple[str, Kinds]] = {
    "abs": ("abs", _NUMERIC), "acos": ("acos", _FLOATING),
    "acosh": ("acosh", _FLOATING), "asin": ("asin", _FLOATING),
    "asinh": ("asinh", _FLOATING), "atan": ("atan", _FLOATING),
    "atanh": ("atanh", _FLOATING), "bitwise_invert": ("bitwise_not", _INTEGRAL),
    "ceil": ("ceil", _REAL), "cos": ("cos", _FLOATING), "cosh": ("cosh", _FLOATING),
    "exp": ("exp", _FLOATING), "expm1": ("expm1", _FLOATING),
    "floor": ("floor", _REAL), "imag": ("imag", _COMPLEX),
    "isfinite": ("isfinite", _NUMERIC), "isinf": ("isinf", _NUMERIC),
    "isnan": ("isnan", _NUMERIC), "log": ("log", _FLOATING),
    "log1p": ("log1p", _FLOATING), "log2": ("log2", _FLOATING),
    "log10": ("log10", _FLOATING), "logical_not": ("logical_not", _BOOL),
    "negative": ("neg", _NUMERIC), "positive": ("positive", _NUMERIC),
    "reciprocal": ("reciprocal", _FLOATING), "signbit": ("signbit", _FLOAT),
    "sin": ("sin", _FLOATING), "sinh": ("sinh", _FLOATING),
    "sqrt": ("sqrt", _FLOATING), "square": ("square", _NUMERIC),
    "tan": ("tan", _FLOATING), "tanh": ("tanh", _FLOATING), "trunc": ("trunc", _REAL),
}  # fmt: skip
_BINARY: dict[str, tuple[str, Kinds]] = {
    "add": ("add", _NUMERIC), "atan2": ("atan2", _FLOAT),
    "bitwise_and": ("bitwise_and", _INTEGRAL),
    "bitwise_left_shift": ("bitwise_left_shift", _INT),
    "bitwise_or": ("bitwise_or", _INTEGRAL),
    "bitwise_right_shift": ("bitwise_right_shift", _INT),
    "bitwise_xor": ("bitwise_xor", _INTEGRAL), "copysign": ("copysign", _FLOAT),
    "divide": ("div", _FLOATING), "equal": ("eq", _ANY),  "greater": ("gt", _REAL),
    "greater_equal": ("ge", _REAL), "hypot": ("hypot", _FLOAT),
    "less": ("lt", _REAL), "less_equal": ("le", _REAL),
    "logaddexp": ("logaddexp", _FLOAT), "logical_and": ("logical_and", _BOOL),
    "logical_or": ("logical_or", _BOOL), "logical_xor": ("logical_xor", _BOOL),
    "maximum": ("maximum", _REAL), "minimum": ("minimum", _REAL),
    "multiply": ("mul", _NUMERIC), "not_equal": ("ne", _ANY), "pow": ("pow", _NUMERIC),
    "subtract": ("sub", _NUMERIC),
}  # fmt: skip


def _unary(name: str, ours: str, kinds: Kinds) -> Callable[..., Any]:
    def function(x: Any, /) -> Any:
        tensor = check_kind(tensor_of(x, name), kinds, name)
        return adopt(getattr(tg, ours)(tensor), x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Apply `tracegrad.{ours}` to each element."
    return function


def _binary(name: str, ours: str, kinds: Kinds) -> Callable[..., Any]:
    def function(x1: Any, x2: Any, /) -> Any:
        first, second = promoted(name, x1, x2)
        check_kind(first, kinds, name)
        return adopt(getattr(tg, ours)(first, second), x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Apply `tracegrad.{ours}` to each pair of elements."
    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _unary(name, ours, kinds) for name, (ours, kinds) in _UNARY.items()
}
FUNCTIONS |= {
    name: _binary(name, ours, kinds) for name, (ours, kinds) in _BINARY.items()
}


def _enter(function: Callable[..., Any]) -> Callable[..., Any]:
    FUNCTIONS[function.__name__] = function
    return function


@_enter
def conj(x: Any, /) -> Any:
    """Complex conjugate of each element; a real number is its own."""
    return adopt(tg.conj(check_kind(tensor_of(x, "conj"), _NUMERIC, "conj")), x)


@_enter
def real(x: Any, /) -> Any:
    """Real part of each element."""
    tensor = check_kind(tensor_of(x, "real"), _NUMERIC, "real")
    return adopt(tg.real(tensor) if tensor.is_complex() else tg.clone(tensor), x)


@_enter
def sign(x: Any, /) -> Any:
    """Sign of each element: NaN of NaN, ``x / abs(x)`` of a complex number."""
    tensor = check_kind(tensor_of(x, "sign"), _NUMERIC, "sign")
    if tensor.dtype.kind == "int":
        return adopt(tg.sign(tensor), x)
    if tensor.is_complex():
        return adopt(tg.sgn(tensor), x)
    return adopt(tg.where(tg.isnan(tensor), tensor, tg.sign(tensor)), x)


@_enter
def round(x: Any, /) -> Any:
    """Round each element to the nearest integer, halves to even ones."""
    tensor = check_kind(tensor_of(x, "round"), _NUMERIC, "round")
    if not tensor.is_complex():
        return adopt(tg.round(tensor), x)
    parts = tg.round(tg.real(tensor)), tg.round(tg.imag(tensor))
    return adopt(tg.complex(*parts), x)


@_enter
def floor_divide(x1: Any, x2: Any, /) -> Any:
    """Quotient of each pair of elements, rounded down; infinities stay."""
    first, second = promoted("floor_divide", x1, x2)
    check_kind(first, _REAL, "floor_divide")
    found = tg.floor_divide(first, second)
    if first.dtype.kind == "float":
        # NumPy gives NaN for an infinity divided by a finite number.
        stays = tg.isinf(first) & tg.isfinite(second)
        found = tg.where(stays, tg.div(first, second), found)
    return adopt(found, x1, x2)


@_enter
def remainder(x1: Any, x2: Any, /) -> Any:
    """Remainder of each pair of elements, with the sign of the divisor."""
    first, second = promoted("remainder", x1, x2)
    check_kind(first, _REAL, "remainder")
    found = tg.remainder(first, second)
    if first.dtype.kind == "float":
        found = tg.where(found == 0, tg.copysign(found, second), found)
    return adopt(found, x1, x2)


@_enter
def nextafter(x1: Any, x2: Any, /) -> Any:
    """Return the next number after each element, towards another; no derivative."""
    first, second = promoted("nextafter", x1, x2)
    check_kind(first, _FLOAT, "nextafter")
    arrays = (t.detach().numpy() for t in (first, second))  # type: ignore[attr-defined]
    return adopt(tg.from_numpy(np.asarray(np.nextafter(*arrays))), x1, x2)


@_enter
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Bound each element; the result has the dtype of `x`."""
    tensor = check_kind(tensor_of(x, "clip"), _REAL, "clip")
    found: Tensor = tensor
    for bound, choose in ((min, tg.maximum), (max, tg.minimum)):
        if bound is None:
            continue
        first, second = promoted("clip", found, _bound(bound, tensor))
        found = choose(first, second)
    found = tg.clone(tensor) if found is tensor else found
    return adopt(found.to(tensor.dtype), x, min, max)  # type: ignore[attr-defined]


def _bound(bound: Any, x: Tensor) -> Any:
    if isinstance(bound, Tensor) and bound.dtype.kind != x.dtype.kind:
        raise ArgumentTypeError(
            f"clip: a bound of {bound.dtype.name} for an array of {x.dtype.name}"
        )
    return bound
