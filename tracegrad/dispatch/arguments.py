"""From a user's call to operands and attributes, by the operator's signature."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.dispatch.argument_errors import (
    fits,
    given_twice,
    kind_of,
    missing,
    too_many,
    unexpected,
    wrong_type,
)
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.operator import AttributeDef, OpDef, OperandDef, own_name
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import dtype_given
from tracegrad.errors import TracegradError

_EMPTY = inspect.Parameter.empty
_SEQUENCE = "a sequence of Tensors"
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
        p.name: as_attribute(operator, p, given[p.name])
        if p.name in given
        else _take(operator, given, p)
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
        raise too_many(operator.name, operator.signature, len(names), len(args))
    for written, value in kwargs.items():
        name = own_name(written, operator.signature.parameters)
        if name in given:
            raise given_twice(operator.name, operator.signature, name)
        if name not in operator.signature.parameters:
            raise unexpected(operator.name, operator.signature, written)
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
    raise missing(operator.name, operator.signature, given)


def as_operand(operator: OpDef, parameter: OperandDef, value: Any) -> Any:
    """Return `value` as the kind of operand that `parameter` states."""
    if parameter.kind == "tensors":
        return _as_tensors(operator, parameter, value)
    if parameter.kind == "state":
        if not isinstance(value, Generator):
            raise wrong_type(operator.name, parameter.name, "a Generator", value)
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
    raise wrong_type(operator.name, parameter.name, "a Tensor", value)


def _as_tensors(operator: OpDef, parameter: OperandDef, value: Any) -> Any:
    if not isinstance(value, Sequence):
        raise wrong_type(operator.name, parameter.name, _SEQUENCE, value)
    for item in value:
        if not isinstance(item, Tensor):
            raise wrong_type(operator.name, parameter.name, _SEQUENCE, item)
    return tuple(value)


def as_attribute(operator: OpDef, parameter: AttributeDef, value: Any) -> Any:
    """Return an attribute's value, hashable, of the type that its annotation states.

    Raises
    ------
    ArgumentTypeError
        If it is of another type.
    """
    value = hashable(value)
    kind = kind_of(parameter.annotation)
    if parameter.variadic and kind == "int":
        kind = "integers"
    if kind is None:
        return value
    if kind == "dtype" and (value is not None or "None" in parameter.annotation):
        return dtype_given(value, f"{operator.name}(): argument {parameter.name!r}")
    if kind == "dtype" or not fits(kind, value, parameter.annotation):
        raise wrong_type(operator.name, parameter.name, parameter.annotation, value)
    return value


def hashable(value: Any) -> Any:
    """Return an attribute's value with lists as tuples."""
    if isinstance(value, list | tuple):
        return tuple(hashable(v) for v in value)
    if isinstance(value, np.bool_ | np.number):
        return value.item()
    if isinstance(value, Tensor) and value.numel() == 1:
        return value.item()
    return value
