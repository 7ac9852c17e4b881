"""Questions about a whole graph that several passes ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tracegrad.dispatch.operator import OpDef
from tracegrad.ir.graph import Graph, Node, Value, WriteState


def live_nodes(graph: Graph, also: Iterable[Node] = ()) -> list[Node]:
    """Return, in order, the nodes that outputs, checks, writes or `also` need."""
    needed = set(graph.required())
    kept = set(map(id, also))
    found: list[Node] = []
    for node in reversed(graph.nodes):
        if id(node) in kept or not needed.isdisjoint(node.results):
            needed.update(node.operands())
            found.append(node)
    found.reverse()
    return found


def may_share_memory(operator: OpDef) -> bool:
    """Whether a result may lie in the memory of an operand.

    What a composite returns is not known before it is expanded.
    """
    return (
        operator.is_view
        or operator.may_alias
        or operator.family == "view"
        or operator.body is not None
    )


def escaping(graph: Graph) -> frozenset[Value]:
    """Return the values whose memory somebody outside the graph can hold.

    Inputs and constants, which are there before, and everything from which an
    output or a write is made by views. Two such values are never to become one, as
    who writes into the one would change the other. Writes count because they take
    place one after another, at the commit, when an input may have changed already.
    """
    found = set(graph.inputs)
    found.update(constant.value for constant in graph.constants)
    found.update(graph.outputs)
    found.update(
        write.value
        for write in graph.writes
        if write.value is not None and not isinstance(write, WriteState)
    )
    for node in reversed(graph.nodes):
        if may_share_memory(node.operator) and not found.isdisjoint(node.results):
            found.update(node.operands())
    return frozenset(found)


def with_bases(value: Value, producers: Mapping[Value, Node]) -> Iterator[Value]:
    """Iterate over `value` and those whose memory it may lie in."""
    pending = [value]
    while pending:
        current = pending.pop()
        yield current
        node = producers.get(current)
        if node is not None and may_share_memory(node.operator):
            pending.extend(node.operands())


def position_of(graph: Graph) -> dict[Value, int]:
    """Return for each value how many are defined before it."""
    values = [*graph.inputs, *(constant.value for constant in graph.constants)]
    values.extend(value for node in graph.nodes for value in node.results)
    return {value: position for position, value in enumerate(values)}
