"""Constant folding: what does not depend on the inputs is computed now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

from tracegrad.device import CPU
from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.state import paused_recorder, set_grad_enabled
from tracegrad.dispatch.tensor import Tensor, spec_of, wrap
from tracegrad.errors import TracegradError
from tracegrad.ir.graph import Constant, Graph, Node, Operand, Value
from tracegrad.ir.traversal import escaping
from tracegrad.ir.verifier import same_layout
from tracegrad.passes.manager import Pass
from tracegrad.sizes import numel
from tracegrad.spec import Spec, StateSpec, TensorSpec


@final
@dataclass(frozen=True, slots=True)
class ConstantFold(Pass):
    """Replace nodes whose operands are known by constants.

    They are computed by the eager kernels, so that the bits are the same. A value that
    a user can get hold of is not folded, since every call has to return a fresh one;
    nor are a creation by itself (``full`` is shorter than its elements), a draw, and
    what raises.

    Attributes
    ----------
    limit : int
        The largest number of elements of a folded result.

    ::

        graph f(%x: f32[2]) {
          const %c: f32[2] = [2.0, 3.0]
          %d: f32[2] = mul(%c, 2.0)
          %y: f32[2] = add(%x, %d)
          return %y
        }

    becomes::

        graph f(%x: f32[2]) {
          const %c: f32[2] = [2.0, 3.0]
          const %d: f32[2] = [4.0, 6.0]
          %y: f32[2] = add(%x, %d)
          return %y
        }
    """

    limit: int = 4096

    name: ClassVar[str] = "constant-fold"

    def run(self, graph: Graph) -> Graph:
        """Return the graph with what is known as constants."""
        known: dict[Value, Tensor] = {
            constant.value: wrap(constant.array) for constant in graph.constants
        }
        held = escaping(graph)
        constants: list[Constant] = []
        nodes: list[Node] = []
        for node in graph.nodes:
            found = self._evaluate(node, known)
            if found is not None:
                known.update(zip(node.results, found, strict=True))
            if found is None or not node.inputs or not held.isdisjoint(node.results):
                nodes.append(node)
                continue
            constants.extend(map(_constant, node.results, found))
        if not constants:
            return graph
        return replace(
            graph, nodes=tuple(nodes), constants=(*graph.constants, *constants)
        )

    def _evaluate(
        self, node: Node, known: dict[Value, Tensor]
    ) -> tuple[Tensor, ...] | None:
        """Return the results of a node, or None if they are not to be known."""
        if any(value not in known for value in node.operands()):
            return None
        if not all(self._is_small(value.spec) for value in node.results):
            return None
        operands = tuple(_known(operand, known) for operand in node.inputs)
        grad = set_grad_enabled(False)
        try:
            with paused_recorder():
                result = bind(node.operator, operands, dict(node.attributes))
        except TracegradError:
            return None
        finally:
            set_grad_enabled(grad)
        found = result if isinstance(result, tuple) else (result,)
        specs = [value.spec for value in node.results]
        fits = all(map(same_layout, map(spec_of, found), specs))
        return found if fits else None

    def _is_small(self, spec: Spec) -> bool:
        if isinstance(spec, StateSpec) or not isinstance(spec, TensorSpec):
            return False
        size = numel(spec.shape)
        return spec.device == CPU and isinstance(size, int) and size <= self.limit


def _constant(value: Value, tensor: Tensor) -> Constant:
    return Constant(value, tensor._array)


def _known(operand: Operand, known: dict[Value, Tensor]) -> Any:
    if isinstance(operand, Value):
        return known[operand]
    if isinstance(operand, tuple):
        return tuple(known[value] for value in operand)
    return operand
