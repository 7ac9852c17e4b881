"""In which order a kernel's reductions can be done.

The level of a value is the number of reductions that must end, one after the other,
before it can be computed. Reductions over values of one level share a loop.
"""

from __future__ import annotations

from tracegrad.codegen.kernel import Kernel
from tracegrad.ir.graph import Node, Value


def levels_of(kernel: Kernel) -> dict[Value, int]:
    """Return the level of each value of a kernel."""
    found = dict.fromkeys(kernel.inputs, 0)
    for node in kernel.body.nodes:
        level = max((found[v] for v in node.operands()), default=0)
        step = int("reduction" in node.operator.facts)
        found.update(dict.fromkeys(node.results, level + step))
    return found


def reductions_by_level(kernel: Kernel, levels: dict[Value, int]) -> list[list[Node]]:
    """Return the reductions over values of level 0, of level 1, and so on."""
    count = max((levels[node.result] for node in kernel.reductions), default=0)
    found: list[list[Node]] = [[] for _ in range(count)]
    for node in kernel.reductions:
        found[levels[node.result] - 1].append(node)
    return found
