"""Common subexpression elimination: what is computed twice is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, final

from tracegrad.ir.builder import rebuilt, substituted
from tracegrad.ir.graph import Graph, Node, Value
from tracegrad.ir.printer import literal
from tracegrad.ir.traversal import escaping
from tracegrad.passes.manager import Pass
from tracegrad.spec import StateSpec

_Key: TypeAlias = tuple[Any, ...]


@final
@dataclass(frozen=True, slots=True)
class CommonSubexpressions(Pass):
    """Let nodes of one operator, operands and attributes be one node.

    Numbers and attributes are compared by type and bits. Random draws are never
    merged, nor are two values whose memory a user can get hold of both: they are two
    tensors in eager mode. What differs in carrying a gradient has other operands, as
    ``detach`` is an operator.

    ::

        graph f(%x: f32[3]) {
          %a: f32[3] = exp(%x)
          %b: f32[3] = exp(%x)
          %y: f32[3] = add(%a, %b)
          return %y
        }

    becomes::

        graph f(%x: f32[3]) {
          %a: f32[3] = exp(%x)
          %y: f32[3] = add(%a, %a)
          return %y
        }
    """

    name: ClassVar[str] = "cse"

    def run(self, graph: Graph) -> Graph:
        """Return the graph in which equal nodes are one."""
        outside = escaping(graph)
        first: dict[_Key, Node] = {}
        replaced: dict[Value, Value] = {}
        nodes: list[Node] = []
        held = set(outside)
        for node in graph.nodes:
            key = _key(node, replaced)
            earlier = None if key is None else first.setdefault(key, node)
            if earlier is None or earlier is node or _both_held(earlier, node, held):
                nodes.append(node)
                continue
            for old, new in zip(node.results, earlier.results, strict=True):
                replaced[old] = new
                if old in held:
                    held.add(new)
        return rebuilt(graph, nodes, replaced) if replaced else graph


def _both_held(a: Node, b: Node, held: set[Value]) -> bool:
    return not held.isdisjoint(a.results) and not held.isdisjoint(b.results)


def _key(node: Node, replaced: dict[Value, Value]) -> _Key | None:
    """Return what equal nodes share, or None for a node that has no equal."""
    values = (*node.operands(), *node.results)
    if node.operator.is_random or any(isinstance(v.spec, StateSpec) for v in values):
        return None
    operands = tuple(
        _operand_key(substituted(operand, replaced)) for operand in node.inputs
    )
    attributes = tuple((name, literal(value)) for name, value in node.attributes)
    return (node.operator.name, operands, attributes)


def _operand_key(operand: Any) -> Any:
    if isinstance(operand, Value):
        return operand
    if isinstance(operand, tuple):
        return tuple(map(_operand_key, operand))
    return literal(operand)
