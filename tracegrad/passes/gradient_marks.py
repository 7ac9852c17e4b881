"""Removes what only says where gradients flow, from graphs that need no derivative.

::

    %d: f32[4] = detach(%x)
    %y: f32[4] = exp(%d)

becomes ``exp(%x)``; `graft(old, new)` becomes ``new``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from tracegrad.ir.builder import rebuilt
from tracegrad.ir.graph import Graph, Node, Value
from tracegrad.passes.manager import Pass


@final
@dataclass(frozen=True, slots=True)
class RemoveGradientMarks(Pass):
    """Replace detach and graft nodes by their values."""

    name: ClassVar[str] = "remove-gradient-marks"

    def run(self, graph: Graph) -> Graph:
        """Return the graph without them."""
        return _without_marks(graph)


def _without_marks(graph: Graph) -> Graph:
    """Return `graph` with detach and graft nodes replaced by their values."""
    replaced: dict[Value, Value] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        name = node.operator.facts.get("gradient_only")
        if name is None:
            nodes.append(node)
            continue
        operand = node.inputs[node.operator.operand_index[name]]
        assert isinstance(operand, Value)
        replaced[node.result] = replaced.get(operand, operand)
    return rebuilt(graph, nodes, replaced) if replaced else graph
