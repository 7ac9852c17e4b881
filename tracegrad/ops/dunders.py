"""Python's operators on tensors, in terms of ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.fast import operand
from tracegrad.dispatch.inplace import apply_inplace
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS, OpDef, public_form
from tracegrad.dispatch.plans import planned_inplace
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentTypeError, ElementError
from tracegrad.location import is_published, publish
from tracegrad.ops._functions import METHODS

# Python's name: the operator's name.
_BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
_COMPARING = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
_UNARY = {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}

# Never equal to a tensor, which is an answer; no other operator has one for them.
_DATA = (bytes, dict, list, set, str, tuple, type(None))
_EQUALITIES = ("eq", "ne")

_Method = Callable[..., Any]


def _binary(operator: OpDef) -> _Method:
    """Return the method of an operator that has no fast form."""

    def method(self: Any, other: Any) -> Any:
        try:
            operands = (operand(operator, self), operand(operator, other))
        except ArgumentTypeError:
            if other.__class__ in _DATA and operator.name not in _EQUALITIES:
                raise
            # Python then asks the other object, and raises a TypeError itself.
            return NotImplemented
        return bind(operator, operands)

    return OpDef.planned(method)


def _reflected(call: _Method) -> _Method:
    def method(self: Tensor, other: Any) -> Any:
        return call(other, self)

    return method


def _augmented(operator: OpDef) -> _Method:
    def method(self: Tensor, other: Any) -> Any:
        return apply_inplace(operator, (self, operand(operator, other)), {})

    return planned_inplace(method)


def _unary(operator: OpDef) -> _Method:
    def method(self: Tensor) -> Any:
        return bind(operator, (self,))

    return OpDef.planned(method)


def _pow(self: Any, exponent: Any, modulo: None = None) -> Any:
    try:
        return FUNCTIONS["pow"].function(self, exponent)
    except ArgumentTypeError:
        return NotImplemented


def _ipow(self: Tensor, exponent: Any) -> Any:
    return METHODS["pow_"](self, exponent)


def _contains(self: Any, element: Any) -> bool:
    """Return whether any element equals `element`, which broadcasts."""
    if not isinstance(element, Tensor | bool | int | float | complex):
        raise ElementError(
            f"a tensor contains numbers and tensors, not {type(element).__name__}"
        )
    return bool((self == element).any())


def _set(python_name: str, method: _Method) -> None:
    name = f"__{python_name}__"
    if method.__module__ == __name__:
        publish(method, name)
    setattr(Tensor, name, method)


def _publish_methods() -> None:
    """Let methods that modules gave Tensor be known by their public names."""
    for name, method in list(vars(Tensor).items()):
        if isinstance(method, FunctionType) and _is_to_publish(name, method):
            setattr(Tensor, name, public_form(method, name))


def _is_to_publish(name: str, method: FunctionType) -> bool:
    # Those of the class statement have their names.
    own = method.__module__ == Tensor.__module__
    return not (own or name.startswith("_") or is_published(method))


def install() -> None:
    """Give Tensor its methods and Python's operators, once all are defined."""
    for definition in FUNCTIONS.values():
        if definition.method:
            setattr(Tensor, definition.name, definition.function)
    for name, method in METHODS.items():
        known = FUNCTIONS.get(name)
        same = known is not None and inspect.unwrap(known.function) is method
        setattr(Tensor, name, known.function if known and same else method)
    _publish_methods()
    for python_name, name in _BINARY.items():
        operator = OPERATORS[name]
        call = operator.facts["fast"] or _binary(operator)
        swapped = call if operator.commutative else _reflected(call)
        _set(python_name, call)
        _set("r" + python_name, swapped)
        _set("i" + python_name, _augmented(operator))
    for python_name, name in _COMPARING.items():
        _set(python_name, _binary(OPERATORS[name]))
    for python_name, name in _UNARY.items():
        _set(python_name, OPERATORS[name].facts["fast"] or _unary(OPERATORS[name]))
    _set("pos", FUNCTIONS["positive"].function)
    _set("pow", _pow)
    _set("rpow", _reflected(_pow))
    _set("ipow", _ipow)
    _set("contains", _contains)
    _set("matmul", FUNCTIONS["matmul"].function)
    _set("rmatmul", _reflected(FUNCTIONS["matmul"].function))
