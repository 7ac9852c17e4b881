"""Write a pass: from a graph to an equal graph that costs less.

Run it with ``python examples/write_a_pass.py``; it needs no files and no GPU. A pass is
a pure function from Graph to Graph with a name. This one turns
``exp(x) * exp(y)`` into one ``exp`` of a sum, because an exponential costs more than a
sum. (The last digits can differ, so the package has no such pass.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

import tracegrad as tg
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.ir.graph import Graph, Node, Value
from tracegrad.ir.rewriting import names_of
from tracegrad.passes.manager import Pass, PassManager
from tracegrad.passes.pipeline import PIPELINE

# -- 1. The pass ------------------------------------------------------------------
# Graphs and nodes are frozen: a pass builds new ones. It returns the very graph that
# it was given if there is nothing to do.


@dataclass(frozen=True, slots=True)
class MergeExponentials(Pass):
    """Make ``exp(x) * exp(y)`` one exponential of a sum."""

    name: ClassVar[str] = "merge-exponentials"

    def run(self, graph: Graph) -> Graph:
        """Return the graph with products of exponentials merged."""
        names = names_of(graph)
        producers = graph.producers()
        nodes: list[Node] = []
        for node in graph.nodes:
            exponents = self._exponents(node, producers)
            if exponents is None:
                nodes.append(node)
                continue
            # Locations are passed on: the new nodes came from the user's line, too.
            total = Value(names.unique("total"), node.result.spec)
            nodes.append(Node(OPERATORS["add"], exponents, (), (total,), node.location))
            nodes.append(
                Node(OPERATORS["exp"], (total,), (), node.results, node.location)
            )
        if len(nodes) == len(graph.nodes):
            return graph
        return replace(graph, nodes=tuple(nodes))

    def _exponents(
        self, node: Node, producers: dict[Value, Node]
    ) -> tuple[Value, ...] | None:
        """Return what is raised, where a node multiplies two exponentials."""
        if node.operator.name != "mul":
            return None
        found = []
        for operand in node.inputs:
            made_by = producers.get(operand) if isinstance(operand, Value) else None
            if made_by is None or made_by.operator.name != "exp":
                return None
            (exponent,) = made_by.operands()
            # The sum must have the product's shape and dtype without a cast.
            if exponent.spec != node.result.spec:
                return None
            found.append(exponent)
        return tuple(found)


# -- 2. Try it on a graph written as text -----------------------------------------

before = tg.ir.parse("""
graph f(%x: f32[3], %y: f32[3]) {
  %a: f32[3] = exp(%x)
  %b: f32[3] = exp(%y)
  %c: f32[3] = mul(%a, %b)
  return %c
}
""")
after = MergeExponentials().run(before)
print(after)
tg.ir.verify(after)  # a pass leaves a graph that obeys the rules of the IR

# -- 3. Let dead code elimination take away what it left behind -------------------
# A PassManager runs passes in order, verifies in between and tells listeners.

passes = [MergeExponentials(), *PIPELINE]
final = PassManager(passes, verify=True, listeners=[print]).run(before)
print()
print(final)
assert str(final).count("= exp(") == 1

# -- 4. Is it equal? --------------------------------------------------------------
# The reference interpreter gives any graph its meaning.

x, y = tg.tensor([0.0, 1.0, -1.0]), tg.tensor([0.5, 0.25, 2.0])
(expected,) = tg.ir.interpret(before, x, y)
(found,) = tg.ir.interpret(final, x, y)
assert np.allclose(expected.numpy(), found.numpy(), rtol=1e-6)
assert MergeExponentials().run(after) is after
print("equal:", found.tolist())
