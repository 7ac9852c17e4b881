"""Canonicalization: of several equal forms, one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

from tracegrad.dispatch.tensor import wrap
from tracegrad.errors import TracegradError
from tracegrad.ir.builder import rebuilt, result_specs
from tracegrad.ir.graph import Attributes, Graph, Node, Operand, Value
from tracegrad.ir.rewriting import rewrite
from tracegrad.ir.traversal import position_of
from tracegrad.ir.verifier import same_layout
from tracegrad.passes.manager import Pass
from tracegrad.passes.view_rules import VIEW_RULES
from tracegrad.spec import TensorSpec


@final
@dataclass(frozen=True, slots=True)
class Canonicalize(Pass):
    """Bring operands, attributes and chains of views to one form.

    Operands of commutative operators stand in the order of their definitions, numbers
    last. Attributes have the form that the operator calls canonical. Chains of views
    are merged by the rules of `tracegrad.passes.view_rules`.

    ::

        graph f(%x: f32[2, 3], %w: f32[2, 3]) {
          %t: f32[3, 2] strides[1, 3] = transpose(%x, dim0=-1, dim1=0)
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
        graph = rewrite(_with_canonical_attributes(graph), VIEW_RULES)
        position = position_of(graph)
        return _mapped(graph, lambda node: _ordered(node, position))


def _with_canonical_attributes(graph: Graph) -> Graph:
    return _mapped(graph, _canonical)


def _mapped(graph: Graph, change: Any) -> Graph:
    """Return `graph` with another form of its nodes; itself if there is none."""
    nodes = [_kept_if_equal(node, change(node)) for node in graph.nodes]
    if all(a is b for a, b in zip(nodes, graph.nodes, strict=True)):
        return graph
    return rebuilt(graph, nodes, {})


def _kept_if_equal(node: Node, other: Node) -> Node:
    """Return the other form, unless a result would have another spec."""
    if other is node:
        return node
    specs = result_specs(other.operator, other.inputs, dict(other.attributes))
    same = map(same_layout, specs, [value.spec for value in node.results])
    return other if all(same) else node


def _changed(node: Node, inputs: tuple[Operand, ...], attributes: Attributes) -> Node:
    return Node(
        node.operator, inputs, attributes, node.results, node.location, node.scope
    )


# -- attributes ---------------------------------------------------------------------


def _canonical(node: Node) -> Node:
    canonical = node.operator.facts.get("canonical")
    if canonical is None:
        return node
    before = dict(node.attributes)
    try:
        found = canonical(tuple(map(_spec_only, node.inputs)), before)
    except TracegradError:
        return node
    if found == before:
        return node
    return _changed(node, node.inputs, tuple((name, found[name]) for name in before))


def _spec_only(operand: Operand) -> Any:
    if isinstance(operand, tuple):
        return tuple(map(_spec_only, operand))
    if isinstance(operand, Value) and isinstance(operand.spec, TensorSpec):
        return wrap(operand.spec)
    return operand


# -- the order of operands --------------------------------------------------------------


def _ordered(node: Node, position: dict[Value, int]) -> Node:
    if not node.operator.commutative:
        return node

    def place(operand: Operand) -> int:
        return position[operand] if isinstance(operand, Value) else len(position)

    inputs = tuple(sorted(node.inputs, key=place))
    same = all(a is b for a, b in zip(inputs, node.inputs, strict=True))
    return node if same else _changed(node, inputs, node.attributes)
