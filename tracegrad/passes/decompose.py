"""Decompose: composite operators become what their bodies do.

::

    %y: f32[4, 8] = softmax(%x, dim=1)

becomes amax, sub, exp, sum and div, whose scope is ``softmax``.
"""

from __future__ import annotations

from collections.abc import Callable

from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.ir.builder import GraphBuilder, rebuilt
from tracegrad.ir.graph import Graph, Node, Operand, Value
from tracegrad.passes.spec_recorder import SpecRecorder, StandIn
from tracegrad.spec import StateSpec


def decompose(graph: Graph) -> Graph:
    """Return `graph` without composite operators."""
    while any(map(is_composite, graph.nodes)):
        graph = _expanded_once(graph, is_composite)
    return graph


def decompose_underivable(graph: Graph) -> Graph:
    """Return `graph` without composites that state no derivative of their own."""
    while any(map(_is_underivable, graph.nodes)):
        graph = _expanded_once(graph, _is_underivable)
    return graph


def is_composite(node: Node) -> bool:
    """Return whether a node is to be expanded."""
    return node.operator.body is not None and node.operator.family == "composite"


def _is_underivable(node: Node) -> bool:
    return is_composite(node) and not node.operator.vjp_rules


def builder_after(graph: Graph) -> GraphBuilder:
    """Return an empty builder that gives no name of `graph` again."""
    builder = GraphBuilder(graph.name)
    for value in all_values(graph):
        builder.names.unique(value.name)
    return builder


def all_values(graph: Graph) -> list[Value]:
    """Return every value that `graph` defines."""
    found = [*graph.inputs, *(c.value for c in graph.constants)]
    for node in graph.nodes:
        found.extend(node.results)
    return found


def _expanded_once(graph: Graph, expand: Callable[[Node], bool]) -> Graph:
    builder = builder_after(graph)
    replaced: dict[Value, Value] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        if not expand(node):
            nodes.append(node)
            continue
        start = len(builder.nodes)
        replaced.update(_expand(builder, node))
        nodes.extend(builder.nodes[start:])
    constants = (*graph.constants, *builder.constants)
    whole = Graph(
        graph.name,
        graph.inputs,
        tuple(nodes),
        graph.outputs,
        constants,
        graph.checks,
        graph.writes,
    )
    return rebuilt(whole, nodes, _resolved(replaced))


def _resolved(replaced: dict[Value, Value]) -> dict[Value, Value]:
    def last(value: Value) -> Value:
        while value in replaced:
            value = replaced[value]
        return value

    return {value: last(value) for value in replaced}


def _expand(builder: GraphBuilder, node: Node) -> dict[Value, Value]:
    """Add the nodes of the composite's body; return what its results became."""
    recorder = SpecRecorder(builder)
    recorder.location = node.location
    recorder.scope = node.scope or node.operator.name
    known: dict[Value, object] = {}

    def tensor(operand: Operand) -> object:
        if isinstance(operand, tuple):
            return tuple(map(tensor, operand))
        if not isinstance(operand, Value):
            return operand
        if operand not in known:
            known[operand] = recorder.tensor_for(operand)
        return known[operand]

    body = node.operator.body
    assert body is not None
    before = set_grad_enabled(False)
    try:
        with recorder:
            found = body(*map(tensor, node.inputs), **dict(node.attributes))
    finally:
        set_grad_enabled(before)
    results = found if isinstance(found, tuple) else (found,)
    replaced = {
        old: new.value if isinstance(new, StandIn) else recorder.value_of(new)
        for old, new in zip(node.results, results, strict=False)
    }
    for value in node.results[len(results) :]:
        assert isinstance(value.spec, StateSpec)
        replaced[value] = builder.nodes[-1].results[-1]
    return replaced
