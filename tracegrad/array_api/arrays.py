"""The array object of the standard: a Tensor whose operators follow its rules.

Differences from a plain Tensor: 0-dim arrays count fully in type promotion, operands
of different kinds are refused, and ``size`` is the number of elements. Everything else
(gradients, views, devices) is the Tensor's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, final

import tracegrad as tg
from tracegrad.device import Device
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, promote_types
from tracegrad.errors import ArgumentTypeError, DTypeError, ShapeError

# Which Python numbers may stand beside arrays of a kind.
_SCALARS: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    # A complex number makes the result complex.
    "float": (int, float, complex),
    "complex": (int, float, complex),
}
# Kinds that combine with each other.
_FAMILY = {"bool": "bool", "int": "int", "float": "float", "complex": "float"}


@final
class Array(Tensor):
    """An array of the namespace `tracegrad.array_api`."""

    __slots__ = ()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the namespace of the standard."""
        return namespace_for(api_version)

    @property
    def size(self) -> int:  # type: ignore[override]
        """The number of elements."""
        return self.numel()

    @property
    def mT(self) -> Any:  # noqa: N802 - the standard's name
        """The last two dimensions exchanged."""
        if self.ndim < 2:
            raise ShapeError(f"mT of an array of {self.ndim} dimensions; it needs two")
        return adopt(tg.swapaxes(self, -1, -2), self)

    @property
    def T(self) -> Any:  # noqa: N802 - the standard's name
        """The matrix transposed."""
        if self.ndim != 2:
            raise ShapeError(f"T of an array of {self.ndim} dimensions; use mT")
        return adopt(tg.swapaxes(self, 0, 1), self)

    def to_device(self, device: Device | str, /, *, stream: Any = None) -> Any:
        """Return the array on another device."""
        if stream is not None:
            raise ArgumentTypeError("to_device: no device here has streams")
        return adopt(self.to(device), self)  # type: ignore[attr-defined]

    def __getitem__(self, key: Any, /) -> Any:
        return adopt(Tensor.__getitem__(self, key), self)  # type: ignore[attr-defined]

    def __setitem__(self, key: Any, value: Any, /) -> None:
        if not isinstance(value, Tensor) and not scalar_fits(value, self.dtype):
            raise ArgumentTypeError(f"{value!r} can't be an element of {self.dtype}")
        if isinstance(value, complex) and self.dtype.kind != "complex":
            raise ArgumentTypeError(f"{value!r} can't be an element of {self.dtype}")
        if isinstance(value, Tensor):
            wanted = promoted_dtype([self.dtype, value.dtype], "an assignment")
            if self.dtype.kind != "complex" and wanted.kind == "complex":
                raise ArgumentTypeError("a complex array goes into complex ones only")
        Tensor.__setitem__(self, key, value)  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Any]:
        return iter([adopt(part, self) for part in Tensor.__iter__(self)])

    def __index__(self) -> int:
        if self.dtype.kind != "int":
            raise ArgumentTypeError(
                f"an index is an integer array, not one of {self.dtype.name}"
            )
        return int(self.item())

    __hash__ = Tensor.__hash__


def namespace_for(api_version: str | None) -> Any:
    """Return the namespace, for a version of the standard that it follows.

    Raises
    ------
    ArgumentTypeError
        If it is a version that it does not follow.
    """
    known = ("2021.12", "2022.12", "2023.12", "2024.12")
    if api_version is not None and api_version not in known:
        raise ArgumentTypeError(
            f"tracegrad.array_api follows the versions {known}, not {api_version!r}"
        )
    return tg.array_api


def adopt(result: Any, *sources: Any) -> Any:
    """Return a result as an `Array`, unless all arrays it comes from are Tensors.

    An operator's result is a new object, so that its class may be set.
    """
    if isinstance(result, tuple | list):
        return type(result)(adopt(part, *sources) for part in result)
    tensors = [s for s in sources if isinstance(s, Tensor)]
    plain = bool(tensors) and not any(type(t) is Array for t in tensors)
    if plain or type(result) is not Tensor or any(result is t for t in tensors):
        return result
    result.__class__ = Array
    return result


def tensor_of(value: Any, what: str) -> Tensor:
    """Return an array argument.

    Raises
    ------
    ArgumentTypeError
        If it is no array.
    """
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(f"{what} takes arrays, not {type(value).__name__}")
    return value


def check_kind(x: Tensor, kinds: tuple[str, ...], what: str) -> Tensor:
    """Refuse an array of a kind for which a function is not defined."""
    if x.dtype.kind not in kinds:
        raise ArgumentTypeError(
            f"{what} takes arrays of {' or '.join(kinds)}, not {x.dtype.name}"
        )
    return x


def promoted_dtype(dtypes: list[DType], what: str) -> DType:
    """Return the result's dtype for dtypes of one kind (float and complex are one).

    Raises
    ------
    ArgumentTypeError
        If the standard does not define it.
    """
    found = dtypes[0]
    for dtype in dtypes[1:]:
        if _FAMILY[found.kind] != _FAMILY[dtype.kind]:
            raise ArgumentTypeError(
                f"{what}: {found.name} and {dtype.name} have no common dtype in the "
                "standard; convert one with astype"
            )
        found = promote_types(found, dtype)
    return found


def scalar_fits(value: Any, dtype: DType) -> bool:
    """Return whether a Python number may stand beside arrays of a dtype."""
    if isinstance(value, bool):
        return dtype.kind == "bool"
    return dtype.kind != "bool" and isinstance(value, _SCALARS[dtype.kind])


def promoted(what: str, *operands: Any) -> list[Tensor]:
    """Return operands as tensors of their common dtype; at least one is an array."""
    arrays = [o for o in operands if isinstance(o, Tensor)]
    if not arrays:
        raise ArgumentTypeError(f"{what} takes at least one array")
    dtype = promoted_dtype([a.dtype for a in arrays], what)
    if dtype.kind == "float" and any(isinstance(o, complex) for o in operands):
        dtype = dtype.to_complex()
    return [_as(what, operand, dtype, arrays[0].device) for operand in operands]


def _as(what: str, operand: Any, dtype: DType, device: Device) -> Tensor:
    if isinstance(operand, Tensor):
        return operand.to(dtype)  # type: ignore[attr-defined, no-any-return]
    if not scalar_fits(operand, dtype):
        raise ArgumentTypeError(
            f"{what}: {operand!r} can't stand beside an array of {dtype.name}"
        )
    found: Tensor = tg.full((), operand, dtype=dtype, device=device)
    return found


# -- operators --------------------


def install(functions: dict[str, Callable[..., Any]]) -> None:
    """Give `Array` Python's operators, once the functions are defined."""
    for name, function_name in _BINARY.items():
        function = functions[function_name]
        setattr(Array, f"__{name}__", _method(function))
        setattr(Array, f"__r{name}__", _reflected(function))
        setattr(Array, f"__i{name}__", _augmented(function))
    for name, function_name in _COMPARING.items():
        setattr(Array, f"__{name}__", _method(functions[function_name]))
    for name, function_name in _UNARY.items():
        setattr(Array, f"__{name}__", _unary(functions[function_name]))


_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "pow",
    "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip
_COMPARING = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
_UNARY = {
    "neg": "negative",
    "pos": "positive",
    "abs": "abs",
    "invert": "bitwise_invert",
}


def _known(other: Any) -> bool:
    return isinstance(other, Tensor | bool | int | float | complex)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Array, other: Any, /) -> Any:
        return function(self, other) if _known(other) else NotImplemented

    return method


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Array, other: Any, /) -> Any:
        return function(other, self) if _known(other) else NotImplemented

    return method


def _augmented(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Array, other: Any, /) -> Any:
        if not _known(other):
            return NotImplemented
        value = function(self, other)
        if value.dtype is not self.dtype:
            raise DTypeError(
                f"an array of {self.dtype.name} can't hold the result of "
                f"{value.dtype.name}"
            )
        if value.shape != self.shape:
            raise ShapeError(
                f"an array of shape {list(self.shape)} can't hold the result of shape "
                f"{list(value.shape)}"
            )
        return self.copy_(value)  # type: ignore[attr-defined]

    return method


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Array) -> Any:
        return function(self)

    return method
