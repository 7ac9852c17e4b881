"""A kernel before any language: a loop nest over a domain with a scalar SSA body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from tracegrad.ir.axes import Axes, Domain, add_node, start_domain
from tracegrad.ir.graph import Graph, Node, Value
from tracegrad.spec import TensorSpec


@final
@dataclass(frozen=True, slots=True)
class Kernel:
    """What one kernel computes.

    Attributes
    ----------
    name : str
    body : Graph
        Pointwise operators, reductions over the domain's reduced axes, and views
        that move no element; in the order of computation.
    domain : Domain
    axes : dict of Value to Axes
        How each value lies on the domain.
    """

    name: str
    body: Graph
    domain: Domain
    axes: dict[Value, Axes]

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The values that are read, tensors and numbers."""
        return self.body.inputs

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The values that are written."""
        return self.body.outputs

    def is_full(self, value: Value) -> bool:
        """Return whether `value` has an element for each point of the domain."""
        return self.domain.is_full(self.axes[value])

    @property
    def reductions(self) -> tuple[Node, ...]:
        """The body's reductions, in order: each ends a stage."""
        return tuple(n for n in self.body.nodes if "reduction" in n.operator.facts)

    @property
    def is_pointwise(self) -> bool:
        """Whether there is no reduction."""
        return not self.reductions


def kernel_of(name: str, body: Graph) -> Kernel | None:
    """Return the kernel that computes `body`, or None if its nodes do not fit one."""
    shapes = [
        v.spec.shape
        for n in body.nodes
        for v in (*n.operands(), *n.results)
        if isinstance(v.spec, TensorSpec)
    ]
    if not shapes:
        return None
    domain = start_domain(body.nodes, max(shapes, key=_extent))
    axes: dict[Value, Axes] = {}
    for node in body.nodes:
        found = add_node(node, domain, axes)
        if isinstance(found, str):
            return None
        domain = found
    return Kernel(name, body, domain, axes)


def _extent(shape: tuple[object, ...]) -> tuple[int, int]:
    total = 1
    for size in shape:
        # A size of 0 is no smaller than one that broadcasts or is reduced.
        total *= size if isinstance(size, int) and size else 1 << 20
    return total, len(shape)
