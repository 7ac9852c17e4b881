"""Python's operators on tensors, in terms of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.inplace import apply_inplace
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor

# Python's name: the operator's name.
_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}
_COMPARING = {"gt": "gt", "eq": "eq"}


def _reflected(call: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Tensor, other: Any) -> Any:
        return call(other, self)

    return method


def _augmented(operator: OpDef) -> Callable[..., Any]:
    def method(self: Tensor, other: Any) -> Any:
        return apply_inplace(operator, (self, other), {})

    return method


def install() -> None:
    """Attach Python's operators and the public functions that are methods."""
    for python_name, name in _BINARY.items():
        operator = OPERATORS[name]
        call = operator.facts["fast"] or operator.call
        swapped = call if operator.commutative else _reflected(call)
        setattr(Tensor, f"__{python_name}__", call)
        setattr(Tensor, f"__r{python_name}__", swapped)
        setattr(Tensor, f"__i{python_name}__", _augmented(operator))
    for python_name, name in _COMPARING.items():
        setattr(Tensor, f"__{python_name}__", OPERATORS[name].call)
    Tensor.__neg__ = OPERATORS["neg"].call  # type: ignore[attr-defined]
    for definition in FUNCTIONS.values():
        if definition.method:
            setattr(Tensor, definition.name, definition.function)
    Tensor.__matmul__ = FUNCTIONS["matmul"].function  # type: ignore[attr-defined]
