"""Canonicalization: of several equal forms, one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from tracegrad.ir.builder import rebuilt
from tracegrad.ir.graph import Graph, Node, Operand, Value
from tracegrad.ir.rewriting import rewrite
from tracegrad.ir.traversal import position_of
from tracegrad.passes.manager import Pass
from tracegrad.passes.view_rules import VIEW_RULES
from tracegrad.spec import TensorSpec


@final
@dataclass(frozen=True, slots=True)
class Canonicalize(Pass):
    """Bring operands and chains of views to one form.

    Operands of commutative operators stand in the order of their definitions, numbers
    last. Chains of views are merged by the rules of `tracegrad.passes.view_rules`.
    Attributes have one form already: ``bind`` saw to it.

    ::

        graph f(%x: f32[2, 3], %w: f32[2, 3]) {
          %t: f32[3, 2] strides[1, 3] = transpose(%x, dim0=1, dim1=0)
          %v: f32[2, 3] = transpose(%t, dim0=0, dim1=1)
          %a: f32[2, 3] = add(%w, %v)
          %y: f32[2, 3] = mul(2.0, %a)
          return %y
        }

    becomes::

        graph f(%x: f32[2, 3], %w: f32[2, 3]) {
          %t: f32[3, 2] strides[1, 3] = permute(%x, dims=[1, 0])
          %a: f32[2, 3] = add(%x, %w)
          %y: f32[2, 3] = mul(%a, 2.0)
          return %y
        }
    """

    name: ClassVar[str] = "canonicalize"

    def run(self, graph: Graph) -> Graph:
        """Return the graph in canonical form."""
        # Views first: what they are replaced by stands earlier in the order.
        graph = rewrite(graph, VIEW_RULES)
        position = position_of(graph)
        nodes = [_ordered(node, position) for node in graph.nodes]
        if all(a is b for a, b in zip(nodes, graph.nodes, strict=True)):
            return graph
        return rebuilt(graph, nodes, {})


def _ordered(node: Node, position: dict[Value, int]) -> Node:
    """Return the node of a commutative operator with its operands in order."""
    if not node.operator.commutative or any(map(_is_complex, node.inputs)):
        return node

    def place(operand: Operand) -> int:
        return position[operand] if isinstance(operand, Value) else len(position)

    inputs = tuple(sorted(node.inputs, key=place))
    if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
        return node
    return Node(
        node.operator, inputs, node.attributes, node.results, node.location, node.scope
    )


def _is_complex(operand: Operand) -> bool:
    """Whether the order of factors can show in the last bit.

    A complex product is two sums of products, one of which a fused multiply-add rounds.
    """
    if isinstance(operand, Value):
        spec = operand.spec
        return isinstance(spec, TensorSpec) and spec.dtype.is_complex
    return isinstance(operand, complex)
