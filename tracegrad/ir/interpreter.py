"""The reference interpreter: a graph's meaning, through the eager kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracegrad.device import on_device
from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.tensor import wrap
from tracegrad.errors import ArgumentError
from tracegrad.ir.graph import Constant, Graph, Node, Operand, Value
from tracegrad.spec import StateSpec, TensorSpec


def interpret(graph: Graph, *inputs: Any) -> tuple[Any, ...]:
    """Run `graph` node by node and return its outputs.

    Nothing is written back; see `interpret_all` for the values that would be.

    Parameters
    ----------
    graph : Graph
    *inputs : Tensor, number or Generator
        One for each graph input. A Generator is copied, not advanced.

    Raises
    ------
    ArgumentError
        If the number of inputs is wrong.
    """
    values = interpret_all(graph, inputs)
    return tuple(values[v] for v in graph.outputs)


def interpret_all(graph: Graph, inputs: Sequence[Any]) -> dict[Value, Any]:
    """Run `graph` and return every value."""
    if len(inputs) != len(graph.inputs):
        raise ArgumentError(
            f"graph {graph.name} takes {len(graph.inputs)} inputs, not {len(inputs)}"
        )
    values: dict[Value, Any] = {}
    for value, given in zip(graph.inputs, inputs, strict=True):
        values[value] = _own_state(given)
    for constant in graph.constants:
        values[constant.value] = wrap(_placed(constant))
    for node in graph.nodes:
        _run(node, values)
    return values


def _placed(constant: Constant) -> Any:
    spec = constant.value.spec
    assert isinstance(spec, TensorSpec)
    return on_device(constant.array, spec.device)


def _own_state(given: Any) -> Any:
    if not isinstance(given, Generator):
        return given
    copied = Generator()
    copied.engine = given.engine.clone()
    return copied


def _run(node: Node, values: dict[Value, Any]) -> None:
    operands = tuple(_lookup(operand, values) for operand in node.inputs)
    found = bind(node.operator, operands, dict(node.attributes))
    results = list(found) if isinstance(found, tuple) else [found]
    if len(results) < len(node.results):
        # The states are threaded linearly, so that the one generator, advanced in
        # place, is the state before and after.
        results.append(_state_of(node, values))
    for value, result in zip(node.results, results, strict=True):
        values[value] = result


def _state_of(node: Node, values: dict[Value, Any]) -> Any:
    for operand in node.inputs:
        if isinstance(operand, Value) and isinstance(operand.spec, StateSpec):
            return values[operand]
    raise AssertionError(f"{node.operator.name} has no state")


def _lookup(operand: Operand, values: dict[Value, Any]) -> Any:
    if isinstance(operand, Value):
        return values[operand]
    if isinstance(operand, tuple):
        return tuple(values[v] for v in operand)
    return operand
