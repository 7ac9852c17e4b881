"""Fusion: groups of nodes that become one kernel.

A group has one iteration domain, the shape of its full-size values, and at most one
set of reduced axes. Its values are *full* (one element per point of the domain) or
*row* (one element per point outside the reduced axes). Pointwise operators,
reductions over the same axes, and views that only add or drop dimensions of size 1
or broadcast rows back belong to it; so softmax or layer norm, forward or backward,
is one group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, final

from tracegrad.ir.axes import Axes, Domain, add_node, start_domain
from tracegrad.ir.builder import rebuilt
from tracegrad.ir.fused import fused
from tracegrad.ir.graph import Graph, Node, Value
from tracegrad.passes.manager import Pass
from tracegrad.spec import TensorSpec

# Above this, a kernel's source gets long and its registers few.
MAX_NODES = 64

Reason: TypeAlias = str


@final
@dataclass(slots=True)
class _Group:
    """Nodes that run as one unit, in order."""

    nodes: list[Node]
    domain: Domain | None
    axes: dict[Value, Axes] = field(default_factory=dict)
    first: int = 0
    last: int = 0


@final
@dataclass(frozen=True, slots=True)
class Unfused:
    """Why a node did not join the group of one of its producers."""

    producer: Node
    user: Node
    reason: Reason


@final
class _Fuser:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.index = {id(node): i for i, node in enumerate(graph.nodes)}
        self.producer = graph.producers()
        self.group_of: dict[int, _Group] = {}
        self.groups: list[_Group] = []
        self.unfused: list[Unfused] = []

    def run(self) -> None:
        for node in self.graph.nodes:
            self._place(node)

    def _place(self, node: Node) -> None:
        joined: _Group | None = None
        for producer in self._producers(node):
            group = self.group_of[id(producer)]
            if group is joined:
                continue
            reason = self._why_not(node, group, joined)
            if reason:
                self.unfused.append(Unfused(producer, node, reason))
                continue
            joined = self._join(node, group, joined)
        if joined is None:
            self._start(node)

    def _producers(self, node: Node) -> list[Node]:
        """Return the producers, the latest first: they are the likeliest to fit."""
        found = {
            id(self.producer[v]): self.producer[v]
            for v in node.operands()
            if v in self.producer
        }
        return sorted(found.values(), key=lambda n: -self.index[id(n)])

    def _start(self, node: Node) -> None:
        axes: dict[Value, Axes] = {}
        domain = _start_domain(node)
        if domain is not None:
            found = add_node(node, domain, axes)
            domain = None if isinstance(found, str) else found
        place = self.index[id(node)]
        group = _Group([node], domain, axes, place, place)
        self.groups.append(group)
        self.group_of[id(node)] = group

    def _why_not(
        self, node: Node, group: _Group, joined: _Group | None
    ) -> Reason | None:
        if group.domain is None:
            return f"{group.nodes[0].operator.name} is no part of a fused kernel"
        count = len(group.nodes) + (len(joined.nodes) if joined else 1)
        if count > MAX_NODES:
            return f"the kernel would have more than {MAX_NODES} operators"
        fits = _fit(_merged(node, group, joined, self.index), group, joined)
        if isinstance(fits, str):
            return fits
        if self._makes_cycle(node, group, joined):
            return "a node outside the kernel lies between"
        return None

    def _join(self, node: Node, group: _Group, joined: _Group | None) -> _Group:
        nodes = _merged(node, group, joined, self.index)
        fits = _fit(nodes, group, joined)
        assert not isinstance(fits, str)
        group.domain, group.axes = fits
        group.nodes = nodes
        group.first = self.index[id(nodes[0])]
        group.last = self.index[id(nodes[-1])]
        if joined is not None:
            self.groups.remove(joined)
        for member in nodes:
            self.group_of[id(member)] = group
        return group

    def _makes_cycle(self, node: Node, group: _Group, joined: _Group | None) -> bool:
        """Return whether the merged group would depend on itself from outside."""
        inside = {id(group)} | ({id(joined)} if joined else set())
        members = [node, *group.nodes, *(joined.nodes if joined else ())]
        first = min(group.first, joined.first if joined else group.first)
        # Where no group lies on both sides of `first`, nothing before it leads back.
        separate = not any(g.first < first <= g.last for g in self.groups)
        pending = [
            self.group_of[id(p)]
            for member in members
            for p in self._producers(member)
            if id(p) in self.group_of and id(self.group_of[id(p)]) not in inside
        ]
        seen: set[int] = set()
        while pending:
            current = pending.pop()
            if id(current) in inside:
                return True
            if id(current) in seen or (separate and current.last < first):
                continue
            seen.add(id(current))
            for member in current.nodes:
                pending.extend(self.group_of[id(p)] for p in self._producers(member))
        return False


def _merged(
    node: Node, group: _Group, joined: _Group | None, index: dict[int, int]
) -> list[Node]:
    nodes = [*group.nodes, *(joined.nodes if joined else (node,))]
    return sorted(nodes, key=lambda n: index[id(n)])


def _fit(
    nodes: list[Node], group: _Group, joined: _Group | None
) -> Reason | tuple[Domain, dict[Value, Axes]]:
    """Return the domain and axes of the merged group, or why it does not fit."""
    if joined is not None and joined.domain is None:
        return f"{joined.nodes[0].operator.name} is no part of a fused kernel"
    assert group.domain is not None
    shape = group.domain.shape
    if joined is not None and joined.domain is not None:
        shape = max(shape, joined.domain.shape, key=_extent)
    else:
        new = _start_domain(nodes[-1])
        if new is None:
            return f"{nodes[-1].operator.name} is no part of a fused kernel"
        shape = max(shape, new.shape, key=_extent)
    domain = start_domain(nodes, shape)
    axes: dict[Value, Axes] = {}
    for member in nodes:
        found = add_node(member, domain, axes)
        if isinstance(found, str):
            return found
        domain = found
    return domain, axes


def _extent(shape: Any) -> tuple[int, int]:
    total = 1
    for size in shape:
        # A size of 0 is no smaller than one that broadcasts or is reduced.
        total *= size if isinstance(size, int) and size else 1 << 20
    return total, len(shape)


def _start_domain(node: Node) -> Domain | None:
    """Return the domain of a node alone, or None if it is never fused."""
    if not node.results:
        return None
    spec = node.result.spec
    if not isinstance(spec, TensorSpec):
        return None
    family = node.operator.family
    if family == "pointwise" or node.operator.facts.get("broadcasts"):
        return Domain(spec.shape)
    if family == "reduction" and "reduction" in node.operator.facts:
        operand = node.inputs[0]
        assert isinstance(operand, Value)
        assert isinstance(operand.spec, TensorSpec)
        return Domain(operand.spec.shape)
    if node.operator.is_view and len(node.results) == 1:
        return Domain(spec.shape)
    return None


def _worth_it(group: _Group) -> bool:
    """Return whether a group has work beyond views."""
    return (
        len(group.nodes) > 1
        and group.domain is not None
        and any(not node.operator.is_view for node in group.nodes)
    )


def fuse(graph: Graph) -> Graph:
    """Return `graph` with groups of nodes put into ``fused`` nodes."""
    fuser = _Fuser(graph)
    fuser.run()
    if not any(_worth_it(group) for group in fuser.groups):
        return graph
    required = set(graph.required())
    users = graph.users()
    units: list[Node] = []
    for group in _ordered(fuser):
        if _worth_it(group):
            units.extend(_fused_node(group, required, users))
        else:
            units.extend(group.nodes)
    return rebuilt(graph, units, {})


def unfused_edges(graph: Graph) -> list[Unfused]:
    """Return each edge between nodes that fusion left, with its reason."""
    fuser = _Fuser(graph)
    fuser.run()
    return [
        u
        for u in fuser.unfused
        if fuser.group_of[id(u.producer)] is not fuser.group_of[id(u.user)]
    ]


def _ordered(fuser: _Fuser) -> Iterable[_Group]:
    """Return the groups in an order in which each follows what it uses."""
    done: set[int] = set()
    order: list[_Group] = []
    for start in sorted(fuser.groups, key=lambda g: g.first):
        stack: list[tuple[_Group, bool]] = [(start, False)]
        while stack:
            group, ready = stack.pop()
            if id(group) in done:
                continue
            if ready:
                done.add(id(group))
                order.append(group)
                continue
            stack.append((group, True))
            before = {
                id(other): other
                for node in group.nodes
                for p in fuser._producers(node)
                if (other := fuser.group_of[id(p)]) is not group
                and id(other) not in done
            }
            stack.extend((other, False) for other in before.values())
    return order


def _fused_node(
    group: _Group, required: set[Value], users: dict[Value, list[Node]]
) -> list[Node]:
    members = {id(node) for node in group.nodes}
    inner = {value for node in group.nodes for value in node.results}
    inputs = list(
        dict.fromkeys(
            v for node in group.nodes for v in node.operands() if v not in inner
        )
    )
    outputs = [
        value
        for node in group.nodes
        for value in node.results
        if value in required or any(id(u) not in members for u in users.get(value, ()))
    ]
    stand_ins = {v: Value(v.name, v.spec) for v in inputs}
    results = {v: Value(v.name, v.spec) for v in outputs}
    name = "_".join(dict.fromkeys(_names(group)))[:60]
    sub = rebuilt(
        Graph(name, (), tuple(group.nodes), tuple(outputs)), group.nodes, stand_ins
    )
    sub = _with_inner_results(sub, results, tuple(stand_ins.values()))
    last = group.nodes[-1]
    return [
        Node(
            fused,
            (tuple(inputs),),
            (("graph", sub),),
            tuple(outputs),
            last.location,
            last.scope,
        )
    ]


def _with_inner_results(
    sub: Graph, results: dict[Value, Value], inputs: tuple[Value, ...]
) -> Graph:
    """Return the sub-graph with its own values for those the outer graph has."""
    renamed = rebuilt(sub, sub.nodes, results)
    nodes = tuple(
        Node(
            n.operator,
            n.inputs,
            n.attributes,
            tuple(results.get(v, v) for v in n.results),
            n.location,
            n.scope,
        )
        for n in renamed.nodes
    )
    return Graph(sub.name, inputs, nodes, renamed.outputs)


def _names(group: _Group) -> list[str]:
    return [n.scope or n.operator.name for n in group.nodes if not n.operator.is_view]


@final
@dataclass(frozen=True, slots=True)
class Fuse(Pass):
    """Put groups of nodes that can be one kernel into ``fused`` nodes.

    ::

        graph f(%x: f32[4, 8]) {
          %e: f32[4, 8] = exp(%x)
          %s: f32[4, 1] = sum(%e, dim=[1], keepdim=True, dtype=None)
          %y: f32[4, 8] = div(%e, %s)
          return %y
        }

    becomes::

        graph f(%x: f32[4, 8]) {
          %y: f32[4, 8] = fused([%x], graph=graph exp_sum_div(%x: f32[4, 8]) {
            %e: f32[4, 8] = exp(%x)
            %s: f32[4, 1] = sum(%e, dim=[1], keepdim=True, dtype=None)
            %y: f32[4, 8] = div(%e, %s)
            return %y
          })
          return %y
        }
    """

    name: ClassVar[str] = "fuse"

    def run(self, graph: Graph) -> Graph:
        """Return the graph with fused nodes."""
        return fuse(graph)
