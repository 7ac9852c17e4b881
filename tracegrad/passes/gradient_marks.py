"""Removes what only says where gradients flow, from graphs that need no derivative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from tracegrad.ir.builder import rebuilt
from tracegrad.ir.graph import Graph, Node, Value
from tracegrad.ir.traversal import escaping, may_share_memory, with_bases
from tracegrad.passes.manager import Pass


@final
@dataclass(frozen=True, slots=True)
class RemoveGradientMarks(Pass):
    """Replace detach and graft by the values that they mark.

    ``graft(old, new)`` has the value of new. It stays where both end in the hands of
    the user, as two tensors.

    ::

        graph f(%x: f32[4]) {
          %d: f32[4] = detach(%x)
          %y: f32[4] = exp(%d)
          return %y
        }

    becomes::

        graph f(%x: f32[4]) {
          %y: f32[4] = exp(%x)
          return %y
        }
    """

    name: ClassVar[str] = "remove-gradient-marks"

    def run(self, graph: Graph) -> Graph:
        """Return the graph without them."""
        return _without_marks(graph)


def _without_marks(graph: Graph) -> Graph:
    """Return `graph` with detach and graft nodes replaced by their values."""
    producers = graph.producers()
    held = set(escaping(graph))
    replaced: dict[Value, Value] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        name = node.operator.facts.get("gradient_only")
        if name is None:
            nodes.append(node)
            continue
        operand = node.inputs[node.operator.operand_index[name]]
        assert isinstance(operand, Value)
        value = replaced.get(operand, operand)
        if node.result in held and not may_share_memory(node.operator):
            memory = set(with_bases(value, producers))
            if not held.isdisjoint(memory):
                # Two tensors in the user's hands, the one copied from the other.
                nodes.append(node)
                continue
            held.update(memory)
        replaced[node.result] = value
    return rebuilt(graph, nodes, replaced) if replaced else graph
