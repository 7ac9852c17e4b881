"""From a user's call to operands and attributes, by the operator's signature."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.operator import AttributeDef, OpDef, OperandDef, own_name
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import dtype_given
from tracegrad.errors import ArgumentTypeError, TracegradError

_EMPTY = inspect.Parameter.empty
_NUMBERS = (bool, int, float, complex)


def parse(
    operator: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the operands and the attributes of a call.

    Raises
    ------
    ArgumentTypeError
        If arguments are missing, too many, unknown or of the wrong type.
    """
    given = _by_name(operator, args, kwargs)
    operands = tuple(
        as_operand(operator, p, _take(operator, given, p)) for p in operator.operands
    )
    attributes = {
        p.name: _as_attribute(operator, p, _take(operator, given, p))
        for p in operator.attributes
    }
    canonical = operator.facts.get("canonical")
    if canonical is None:
        return operands, attributes
    try:
        return operands, canonical(operands, attributes)
    except TracegradError as error:
        error.within(operator.name)
        raise


def _by_name(
    operator: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    given: dict[str, Any] = {}
    names = _positional_names(operator)
    rest = iter(args)
    for name, variadic in names:
        if variadic:
            collected = tuple(rest)
            if collected:
                given[name] = _collapsed(collected)
            break
        try:
            given[name] = next(rest)
        except StopIteration:
            break
    left = list(rest)
    if left:
        raise ArgumentTypeError(
            f"{operator.name}() takes {len(names)} positional arguments, "
            f"{len(args)} were given"
        )
    for written, value in kwargs.items():
        name = own_name(written, operator.signature.parameters)
        if name in given or not _knows(operator, name):
            what = "twice" if name in given else f"a value for {name!r} it has not"
            raise ArgumentTypeError(f"{operator.name}() was given {what}: {name}")
        given[name] = value
    return given


@functools.cache
def _positional_names(operator: OpDef) -> list[tuple[str, bool]]:
    kinds = inspect.Parameter
    return [
        (p.name, p.kind is kinds.VAR_POSITIONAL)
        for p in operator.signature.parameters.values()
        if p.kind is not kinds.KEYWORD_ONLY
    ]


def _knows(operator: OpDef, name: str) -> bool:
    return name in operator.signature.parameters


def _collapsed(values: tuple[Any, ...]) -> Any:
    """Return ``(2, 3)`` for both ``f(2, 3)`` and ``f((2, 3))``."""
    if len(values) == 1 and isinstance(values[0], tuple | list):
        return tuple(values[0])
    return values


def _take(
    operator: OpDef, given: dict[str, Any], parameter: OperandDef | AttributeDef
) -> Any:
    if parameter.name in given:
        return given[parameter.name]
    if parameter.default is not _EMPTY:
        return parameter.default
    if isinstance(parameter, AttributeDef) and parameter.variadic:
        return ()
    raise ArgumentTypeError(f"{operator.name}() misses the argument {parameter.name!r}")


def as_operand(operator: OpDef, parameter: OperandDef, value: Any) -> Any:
    """Return `value` as the kind of operand that `parameter` states."""
    if parameter.kind == "tensors":
        return _as_tensors(operator, parameter, value)
    if parameter.kind == "state":
        if not isinstance(value, Generator):
            raise _wrong(operator, parameter, "a Generator", value)
        return value
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        return Tensor.from_numpy(value)  # type: ignore[attr-defined]
    if operator.family == "pointwise" or operator.body is not None:
        if isinstance(value, np.bool_ | np.number):
            return value.item()
        if isinstance(value, _NUMBERS):
            return value
    if value is None and parameter.kind == "optional":
        return None
    raise _wrong(operator, parameter, "a Tensor", value)


def _as_tensors(operator: OpDef, parameter: OperandDef, value: Any) -> Any:
    if isinstance(value, Tensor):
        value = tuple(value)
    if not isinstance(value, Sequence):
        raise _wrong(operator, parameter, "a sequence of Tensors", value)
    for item in value:
        if not isinstance(item, Tensor):
            raise _wrong(operator, parameter, "a sequence of Tensors", item)
    return tuple(value)


def _as_attribute(operator: OpDef, parameter: AttributeDef, value: Any) -> Any:
    """Return an attribute's value, hashable, where its annotation allows it."""
    value = hashable(value)
    kind = _kind_of(parameter.annotation)
    if kind == "dtype":
        return dtype_given(value, f"{operator.name}(): argument {parameter.name!r}")
    if kind == "integers" and _has_non_integer(value):
        raise ArgumentTypeError(
            f"{operator.name}(): argument {parameter.name!r} must be "
            f"{parameter.annotation}, not {value!r}"
        )
    return value


@functools.cache
def _kind_of(annotation: str) -> str:
    words = set(re.findall(r"\w+", annotation))
    if "DType" in words:
        return "dtype" if words <= {"DType", "None"} else ""
    return "integers" if "int" in words and words <= _INTEGER_WORDS else ""


_INTEGER_WORDS = {"int", "tuple", "None", "Sequence"}


def _has_non_integer(value: Any) -> bool:
    if value.__class__ is tuple:
        return any(map(_has_non_integer, value))
    return isinstance(value, float | complex | str | np.inexact)


def _wrong(
    operator: OpDef, parameter: OperandDef, wanted: str, value: Any
) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{operator.name}(): argument {parameter.name!r} must be {wanted}, "
        f"not {type(value).__name__}"
    )


def hashable(value: Any) -> Any:
    """Return an attribute's value with lists as tuples."""
    if isinstance(value, list | tuple):
        return tuple(hashable(v) for v in value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, Tensor) and value.numel() == 1:
        return value.item()
    return value
