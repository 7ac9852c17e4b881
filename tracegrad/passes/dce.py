"""Dead code elimination: what nobody needs is not computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, final

from tracegrad.ir.graph import Graph, Node
from tracegrad.ir.traversal import live_nodes
from tracegrad.passes.manager import Pass


def can_raise(node: Node) -> bool:
    """Whether the node can raise for some values of its operands.

    What a composite can raise is known once it is expanded.
    """
    if node.operator.may_raise or node.operator.family == "composite":
        return True
    return any(
        can_raise(inner)
        for _, value in node.attributes
        if isinstance(value, Graph)
        for inner in value.nodes
    )


@final
@dataclass(frozen=True, slots=True)
class DeadCodeElimination(Pass):
    """Drop nodes and constants that no output, check or write needs.

    An operation that can raise stays, so that errors are those of eager mode. A random
    draw stays if the generator's next state is written, also when its numbers are not
    used. Inputs stay: they are the signature.

    ::

        graph f(%x: f32[3]) {
          const %c: f32[1] = [2.0]
          %a: f32[3] = exp(%x)
          %b: f32[3] = add(%a, %c)
          %y: f32[3] = neg(%x)
          return %y
        }

    becomes::

        graph f(%x: f32[3]) {
          %y: f32[3] = neg(%x)
          return %y
        }
    """

    name: ClassVar[str] = "dce"

    def run(self, graph: Graph) -> Graph:
        """Return the graph without what nobody needs."""
        nodes = live_nodes(graph, filter(can_raise, graph.nodes))
        used = {value for node in nodes for value in node.operands()}
        used.update(graph.required())
        constants = tuple(c for c in graph.constants if c.value in used)
        if len(nodes) == len(graph.nodes) and len(constants) == len(graph.constants):
            return graph
        return replace(graph, nodes=tuple(nodes), constants=constants)
