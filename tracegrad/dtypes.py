"""Element types and PyTorch's type promotion.

One table answers which dtype a result has; eager mode, abstract evaluation,
derivative rules and every target ask it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, final

import numpy as np

from tracegrad.errors import ArgumentTypeError, DTypeError, ElementTypeError

_KIND_ORDER = {"bool": 0, "int": 1, "float": 2, "complex": 3}


@final
class DType:
    """An element type, such as ``tracegrad.float32``.

    Attributes
    ----------
    name : str
        PyTorch's name.
    kind : {"bool", "int", "float", "complex"}
        The category of type promotion.
    itemsize : int
        Size of one element, in bytes.
    code : str
        The short name used in graph text (``f32``).
    """

    __slots__ = ("_numpy", "code", "itemsize", "kind", "name", "signed")

    def __init__(self, name: str, kind: str, itemsize: int, code: str) -> None:
        self.name = name
        self.kind = kind
        self.itemsize = itemsize
        self.code = code
        self.signed = name != "uint8" and kind != "bool"
        self._numpy: np.dtype[Any] | None = (
            None if name == "bfloat16" else np.dtype(name)
        )

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype that stores it.

        Raises
        ------
        DTypeError
            For bfloat16 when the package ml_dtypes is not installed.
        """
        if self._numpy is None:
            self._numpy = _bfloat16_of_ml_dtypes()
        return self._numpy

    @property
    def is_floating_point(self) -> bool:
        """Whether it is a real floating type."""
        return self.kind == "float"

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex type."""
        return self.kind == "complex"

    @property
    def is_signed(self) -> bool:
        """Whether it can hold negative values."""
        return self.signed

    def to_real(self) -> DType:
        """Return the dtype of the real part."""
        return _REAL_OF.get(self, self)

    def to_complex(self) -> DType:
        """Return the complex dtype of the same precision."""
        return _COMPLEX_OF.get(self, complex64)

    def __repr__(self) -> str:
        return f"tracegrad.{self.name}"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (dtype_named, (self.name,))


def _bfloat16_of_ml_dtypes() -> np.dtype[Any]:
    if find_spec("ml_dtypes") is None:
        raise DTypeError(
            "bfloat16 arrays need the package ml_dtypes: "
            "pip install 'tracegrad[bfloat16]'"
        )
    found: np.dtype[Any] = np.dtype(import_module("ml_dtypes").bfloat16)
    _BY_NUMPY[found] = bfloat16
    return found


bool_ = DType("bool", "bool", 1, "bool")
uint8 = DType("uint8", "int", 1, "u8")
int8 = DType("int8", "int", 1, "i8")
int16 = DType("int16", "int", 2, "i16")
int32 = DType("int32", "int", 4, "i32")
int64 = DType("int64", "int", 8, "i64")
float16 = DType("float16", "float", 2, "f16")
bfloat16 = DType("bfloat16", "float", 2, "bf16")
float32 = DType("float32", "float", 4, "f32")
float64 = DType("float64", "float", 8, "f64")
complex64 = DType("complex64", "complex", 8, "c64")
complex128 = DType("complex128", "complex", 16, "c128")

ALL = (
    bool_, uint8, int8, int16, int32, int64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
FLOATING = (float16, bfloat16, float32, float64)
COMPLEX = (complex64, complex128)
INTEGERS = (uint8, int8, int16, int32, int64)
ALIASES = {
    "float": float32, "double": float64, "half": float16, "int": int32,
    "long": int64, "short": int16, "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip

_BY_NAME = {d.name: d for d in ALL} | ALIASES
BY_CODE = {d.code: d for d in ALL}
_BY_NUMPY: dict[np.dtype[Any], DType] = {d.numpy: d for d in ALL if d is not bfloat16}
_REAL_OF = {complex64: float32, complex128: float64}
_COMPLEX_OF = {
    float16: complex64, bfloat16: complex64,
    float32: complex64, float64: complex128,
    complex64: complex64, complex128: complex128,
}  # fmt: skip


def dtype_named(name: str) -> DType:
    """Return the dtype with PyTorch's name `name`.

    Raises
    ------
    DTypeError
        If there is no such dtype.
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        known = ", ".join(d.name for d in ALL)
        raise DTypeError(f"no dtype is named {name!r}; there are {known}") from None


# Python's types, where PyTorch takes them for dtypes.
_OF_PYTHON = {bool: bool_, int: int64, float: float64, complex: complex128}


def dtype_given(value: Any, who: str) -> DType | None:
    """Return what a user gave as an optional dtype.

    Raises
    ------
    ArgumentTypeError
        If it is none; `who` is what refuses it, such as ``tensor(): dtype``.
    """
    if value is None or isinstance(value, DType):
        return value
    found = _OF_PYTHON.get(value) if isinstance(value, type) else None
    if found is None:
        raise ArgumentTypeError(
            f"{who} must be a dtype such as tracegrad.float32, not {value!r}"
        )
    return found


def from_numpy_dtype(dtype: np.dtype[Any]) -> DType:
    """Return the dtype that stores elements of the NumPy dtype `dtype`.

    Raises
    ------
    DTypeError
        If tracegrad has no such element type (uint16, strings, objects, …).
    """
    found = _BY_NUMPY.get(dtype)
    if found is not None:
        return found
    found = _BY_NUMPY.get(dtype.newbyteorder("="))
    if found is not None:
        return found
    if dtype.name == "bfloat16":
        return dtype_of_bfloat16(dtype)
    raise ElementTypeError(
        f"NumPy's {dtype} has no counterpart here; convert the array to one of "
        + ", ".join(d.name for d in ALL)
    )


def dtype_of_bfloat16(dtype: np.dtype[Any]) -> DType:
    """Remember ml_dtypes' bfloat16 as ours and return it."""
    _BY_NUMPY[dtype] = bfloat16
    return bfloat16


class _Defaults(threading.local):
    floating: DType = float32


_defaults = _Defaults()


def get_default_dtype() -> DType:
    """Return the dtype of Python floats, float32 at start."""
    return _defaults.floating


def set_default_dtype(d: DType, /) -> None:
    """Set the dtype that Python floats and integer divisions take.

    Raises
    ------
    DTypeError
        If `d` is not a floating dtype.
    """
    given = dtype_given(d, "set_default_dtype(): dtype")
    if given is None or given not in FLOATING:
        raise DTypeError(f"set_default_dtype(): the dtype must be floating, not {d}")
    _defaults.floating = given


def dtype_of_scalar(value: complex) -> DType:
    """Return the dtype a Python number stands for in promotion."""
    if isinstance(value, bool | np.bool_):
        return bool_
    if isinstance(value, int | np.integer):
        return int64
    if isinstance(value, float | np.floating):
        return _defaults.floating
    return _defaults.floating.to_complex()


def dtype_of_kind(kind: str) -> DType:
    """Return the dtype a Python number of `kind` stands for in promotion."""
    if kind == "bool":
        return bool_
    if kind == "int":
        return int64
    if kind == "float":
        return _defaults.floating
    return _defaults.floating.to_complex()


def _promote(a: DType, b: DType) -> DType:
    if a is b:
        return a
    low, high = sorted((a, b), key=lambda d: (_KIND_ORDER[d.kind], d.itemsize))
    if low.kind != high.kind:
        if high.kind == "complex" and low.kind == "float":
            return complex128 if low is float64 else high
        return high
    if high.kind == "float" and low.itemsize == high.itemsize:
        return float32
    if high.kind == "int" and uint8 in (low, high):
        return int16 if int8 in (low, high) else high
    return high


_PROMOTED = {(a, b): _promote(a, b) for a in ALL for b in ALL}


def promote_types(type1: DType, type2: DType) -> DType:
    """Return the smallest dtype that both dtypes fit in, by PyTorch's table.

    Examples
    --------
    >>> promote_types(uint8, int8)
    tracegrad.int16

    Raises
    ------
    ArgumentTypeError
        If one of them is no dtype.
    """
    try:
        return _PROMOTED[type1, type2]
    except (KeyError, TypeError):
        given: tuple[Any, Any] = (type1, type2)
        wrong = next(d for d in given if not isinstance(d, DType))
        raise ArgumentTypeError(
            "promote_types() takes dtypes such as tracegrad.float32, not "
            f"{type(wrong).__name__}"
        ) from None


def _combine_categories(higher: DType | None, lower: DType | None) -> DType | None:
    if higher is None or lower is None:
        return higher or lower
    if higher.kind == "complex":
        return higher
    if higher.kind == "float":
        return higher.to_complex() if lower.kind == "complex" else higher
    if higher is bool_ or lower.kind in ("float", "complex"):
        return promote_types(higher, lower)
    return higher


def result_type_of(
    tensors: Iterable[DType], zero_dim: Iterable[DType], scalars: Iterable[DType]
) -> DType:
    """Return the dtype of a result from its operands' dtypes, in three classes.

    Tensors with dimensions decide; a 0-dim tensor, and after it a Python number,
    counts only where its category (bool < int < float < complex) is higher.

    Raises
    ------
    DTypeError
        If there is no operand at all.
    """
    results: list[DType | None] = []
    for group in (tensors, zero_dim, scalars):
        found: DType | None = None
        for dtype in group:
            found = dtype if found is None else promote_types(found, dtype)
        results.append(found)
    combined = _combine_categories(
        results[0], _combine_categories(results[1], results[2])
    )
    if combined is None:
        raise DTypeError("a result type needs at least one operand")
    return combined


def can_cast(from_: DType, to: DType) -> bool:
    """Return whether a value of `from_` may be stored in place as `to`.

    The category may not fall: a float does not go into an integer.
    """
    if to is bool_:
        return from_ is bool_
    return _KIND_ORDER[from_.kind] <= _KIND_ORDER[to.kind]
