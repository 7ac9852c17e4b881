"""Decomposition: composites are expanded into what their bodies are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.ir.builder import GraphBuilder, Names, rebuilt, substituted
from tracegrad.ir.graph import Graph, Node, Operand, Value
from tracegrad.ir.rewriting import names_of
from tracegrad.ir.verifier import same_layout
from tracegrad.passes.manager import Pass
from tracegrad.passes.spec_recorder import SpecRecorder, StandIn
from tracegrad.spec import StateSpec


@final
@dataclass(frozen=True, slots=True)
class Decompose(Pass):
    """Expand composites until there are none.

    A body runs on spec-only tensors under a recorder. Its nodes have the line of the
    composite, and its name as their scope.

    ::

        graph f(%x: f32[2, 3]) {
          %y: f32[2, 3] = softmax(%x, dim=1, dtype=None)  # m:7
          return %y
        }

    becomes::

        graph f(%x: f32[2, 3]) {
          %amax: f32[2, 1] = amax(%x, dim=[1], keepdim=True)  # m:7 softmax
          %sub: f32[2, 3] = sub(%x, %amax)  # m:7 softmax
          %exp: f32[2, 3] = exp(%sub)  # m:7 softmax
          %sum: f32[2, 1] = sum(%exp, dim=[1], keepdim=True, dtype=None)  # m:7 softmax
          %y: f32[2, 3] = div(%exp, %sum)  # m:7 softmax
          return %y
        }
    """

    name: ClassVar[str] = "decompose"

    keep_derivable: bool = False
    """Keep composites that state a derivative of their own."""

    def run(self, graph: Graph) -> Graph:
        """Return the graph without composites."""
        while any(map(self._expands, graph.nodes)):
            graph = _expanded(graph, self._expands)
        return graph

    def _expands(self, node: Node) -> bool:
        if node.operator.family != "composite":
            return False
        return not (self.keep_derivable and node.operator.vjp_rules)


def _expanded(graph: Graph, expands: Callable[[Node], bool]) -> Graph:
    """Return the graph with composites replaced by their bodies, once."""
    names = names_of(graph)
    nodes: list[Node] = []
    constants = list(graph.constants)
    replaced: dict[Value, Value] = {}
    for node in graph.nodes:
        if not expands(node):
            nodes.append(node)
            continue
        builder, values = _run_body(node, replaced, names)
        constants.extend(builder.constants)
        renamed = _take_over(node, builder.nodes, values, replaced)
        nodes.extend(_renamed(inner, renamed) for inner in builder.nodes)
    found = rebuilt(graph, nodes, replaced)
    return replace(found, constants=tuple(constants))


def _take_over(
    node: Node,
    inner: list[Node],
    values: list[Value],
    replaced: dict[Value, Value],
) -> dict[Value, Value]:
    """Return which values of the body become the composite's results.

    A result that the body does not make itself, such as its operand, is replaced.
    """
    made = {value for each in inner for value in each.results}
    renamed: dict[Value, Value] = {}
    for value, old in zip(values, node.results, strict=True):
        own = value in made and value not in renamed
        if own and same_layout(value.spec, old.spec):
            renamed[value] = old
        else:
            replaced[old] = renamed.get(value, value)
    return renamed


def _run_body(
    node: Node, replaced: dict[Value, Value], names: Names
) -> tuple[GraphBuilder, list[Value]]:
    """Return what the body of a composite records, and the values of its results."""
    builder = GraphBuilder(node.operator.name)
    builder.names = names
    recorder = SpecRecorder(builder)
    recorder.location = node.location
    recorder.scope = node.scope or node.operator.name
    operands = [_stand_in(recorder, substituted(o, replaced)) for o in node.inputs]
    body = node.operator.body
    assert body is not None
    grad = set_grad_enabled(False)
    try:
        with recorder:
            result = body(*operands, **dict(node.attributes))
    finally:
        set_grad_enabled(grad)
    results = result if isinstance(result, tuple) else (result,)
    values = [recorder.value_of(tensor) for tensor in results]
    if len(values) < len(node.results):
        values.append(_next_state(operands))
    return builder, values


def _stand_in(recorder: SpecRecorder, operand: Operand) -> Any:
    if isinstance(operand, Value):
        return recorder.tensor_for(operand)
    if isinstance(operand, tuple):
        return tuple(map(recorder.tensor_for, operand))
    return operand


def _next_state(operands: list[Any]) -> Value:
    """Return the state that the last draw of a body left."""
    (state,) = (
        operand.value
        for operand in operands
        if isinstance(operand, StandIn) and isinstance(operand.value.spec, StateSpec)
    )
    return state


def _renamed(node: Node, renamed: dict[Value, Value]) -> Node:
    return Node(
        node.operator,
        tuple(substituted(operand, renamed) for operand in node.inputs),
        node.attributes,
        tuple(renamed.get(value, value) for value in node.results),
        node.location,
        node.scope,
    )
