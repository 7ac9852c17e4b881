"""Rewrite rules as data, and the driver that applies a table of them.

A rule replaces the result of a node, found by a pattern, by a value that is equal to
it; users of the value go on with the new one. A new node takes the place and the name
of the old one, so that the text keeps the user's names and lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, final

from tracegrad.dispatch.operator import OPERATORS
from tracegrad.errors import TracegradError
from tracegrad.ir.builder import Names, rebuilt, result_specs, substituted
from tracegrad.ir.graph import Graph, Node, Operand, Value
from tracegrad.ir.patterns import Apply, Match, inner_patterns, match, may_both_match
from tracegrad.ir.traversal import escaping, with_bases
from tracegrad.ir.verifier import same_layout

# How much a node counts in the size that every rewrite makes smaller. What is not
# listed counts `_ORDINARY`.
_WEIGHTS = {"full": 1, "view": 1, "permute": 1, "clone": 2, "neg": 3, "div": 5}
_ORDINARY = 4
# Rewrites per node after which the driver stops. Rules make the size smaller, so that
# they end by themselves; sizes of shared values can be large, though.
_LIMIT_PER_NODE = 32


@final
class Replacement:
    """What the right side of a rule builds with."""

    def __init__(self, sweep: _Sweep, root: Node) -> None:
        self.nodes: list[Node] = []
        self._sweep = sweep
        self._root = root

    def may_become(self, value: Value) -> bool:
        """Whether the result, a fresh tensor, may be the tensor `value` instead.

        Not where both end up in somebody's hands, who would write into two at once.
        """
        if self._root.result not in self._sweep.held:
            return True
        return self._sweep.hand_over(value)

    def is_returned(self) -> bool:
        """Whether the result is itself an output, or written."""
        return self._root.result in self._sweep.required

    def apply(self, operator: str, *inputs: Operand, **attributes: Any) -> Value:
        """Add a node and return its result."""
        definition = OPERATORS[operator]
        (spec,) = result_specs(definition, inputs, attributes)
        result = Value(self._sweep.names.unique(operator), spec)
        ordered = tuple((p.name, attributes[p.name]) for p in definition.attributes)
        root = self._root
        node = Node(definition, inputs, ordered, (result,), root.location, root.scope)
        self.nodes.append(node)
        return result


RightSide: TypeAlias = Callable[[Match, Replacement], Value | None]


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """A named pair of sides.

    Attributes
    ----------
    name : str
    pattern : Apply
        The left side.
    right : callable
        ``right(match, replacement)`` builds the right side and returns its value, or
        None where the rule does not hold after all.
    example : str
        A graph to which the rule applies, once; its tests run it.
    exact : bool
        Whether the value, its dtype, its layout and whether it is fresh are kept to
        the bit for every operand.
    """

    name: str
    pattern: Apply
    right: RightSide
    example: str
    exact: bool = True


@final
class Driver:
    """Applies a table of rules until none matches.

    Where several rules match a node, the first in the table is applied.

    Parameters
    ----------
    rules : sequence of Rule
    limit : int, optional
        The largest number of rewrites; 32 for each node if not given.

    Attributes
    ----------
    applied : Counter of str
        How often each rule was applied.
    exhausted : bool
        Whether the limit ended the rewriting.
    """

    def __init__(self, rules: Sequence[Rule], limit: int | None = None) -> None:
        self._by_root: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_root.setdefault(rule.pattern.operator, []).append(rule)
        self._limit = limit
        self.applied: Counter[str] = Counter()
        self.exhausted = False

    def run(self, graph: Graph) -> Graph:
        """Return the rewritten graph; `graph` itself if no rule matched."""
        limit = self._limit or _LIMIT_PER_NODE * (len(graph.nodes) + 1)
        while not self.exhausted:
            found = _Sweep(self, graph, limit).run()
            if found is graph:
                return graph
            graph = found
        return graph

    def rules_for(self, node: Node) -> list[Rule]:
        """Return the rules whose pattern begins with the node's operator."""
        return self._by_root.get(node.operator.name, [])

    def count(self, rule: Rule, limit: int) -> None:
        """Note that a rule was applied."""
        self.applied[rule.name] += 1
        self.exhausted = self.applied.total() >= limit


@final
class _Sweep:
    """One walk over a graph, in order."""

    def __init__(self, driver: Driver, graph: Graph, limit: int) -> None:
        self._driver = driver
        self._graph = graph
        self._limit = limit
        self.names = names_of(graph)
        self._nodes: list[Node] = []
        self._producers: dict[Value, Node] = {}
        self._replaced: dict[Value, Value] = {}

    @cached_property
    def held(self) -> set[Value]:
        """The values that escape, and during the walk what takes their place."""
        return set(escaping(self._graph))

    def hand_over(self, value: Value) -> bool:
        """Let `value` escape, unless its memory is in somebody's hands already."""
        memory = set(with_bases(value, self._producers))
        free = self.held.isdisjoint(memory)
        if free:
            self.held.update(memory)
        return free

    @cached_property
    def required(self) -> frozenset[Value]:
        """The outputs, checked and written values."""
        return frozenset(self._graph.required())

    def run(self) -> Graph:
        """Return the graph after the walk; the same object if nothing changed."""
        for node in self._graph.nodes:
            self._visit(_with_operands(node, self._replaced))
        if _are_same(self._nodes, self._graph.nodes):
            return self._graph
        return rebuilt(self._graph, self._nodes, self._replaced)

    def _visit(self, node: Node) -> None:
        if self._driver.exhausted or not self._rewrite(node):
            self._add(node)

    def _rewrite(self, node: Node) -> bool:
        for rule in self._driver.rules_for(node):
            found = match(rule.pattern, node, self._producers)
            if found is not None and self._apply(rule, found):
                self._driver.count(rule, self._limit)
                return True
        return False

    def _apply(self, rule: Rule, found: Match) -> bool:
        replacement = Replacement(self, found.root)
        try:
            value = rule.right(found, replacement)
        except TracegradError:
            # An operator of the right side refuses the operands' dtypes or shapes.
            return False
        old = found.root.result
        if value is None or not same_layout(value.spec, old.spec):
            return False
        for node in _named_like(replacement.nodes, value, old):
            self._add(node)
        if all(node.result is not value for node in replacement.nodes):
            self._replaced[old] = value
        return True

    def _add(self, node: Node) -> None:
        self._nodes.append(node)
        self._producers.update(dict.fromkeys(node.results, node))


def _are_same(a: Sequence[Node], b: Sequence[Node]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def _with_operands(node: Node, replaced: dict[Value, Value]) -> Node:
    if replaced.keys().isdisjoint(node.operands()):
        return node
    inputs = tuple(substituted(operand, replaced) for operand in node.inputs)
    return Node(
        node.operator, inputs, node.attributes, node.results, node.location, node.scope
    )


def _named_like(nodes: Iterable[Node], value: Value, old: Value) -> Iterator[Node]:
    """Yield the new nodes, with the old value as the result of the one that is it."""
    for node in nodes:
        results = (old,) if node.result is value else node.results
        yield Node(
            node.operator,
            node.inputs,
            node.attributes,
            results,
            node.location,
            node.scope,
        )


def names_of(graph: Graph) -> Names:
    """Return the names of `graph`, to give unique ones beside them."""
    names = Names()
    for value in (*graph.inputs, *(constant.value for constant in graph.constants)):
        names.unique(value.name)
    for node in graph.nodes:
        for value in node.results:
            names.unique(value.name)
    return names


def rewrite(graph: Graph, rules: Sequence[Rule]) -> Graph:
    """Return `graph` with `rules` applied until none matches."""
    return Driver(rules).run(graph)


# -- what tests ask of tables --------------------------------------------------


def overlaps(rules: Sequence[Rule]) -> list[tuple[str, str]]:
    """Return the pairs of rules that some graph could match at once.

    Either at one node, where the order of the table decides, or the second at a node
    that the first looks through.
    """
    found: list[tuple[str, str]] = []
    for index, rule in enumerate(rules):
        for other in rules:
            at_root = other in rules[index + 1 :] and may_both_match(
                rule.pattern, other.pattern
            )
            inside = any(
                may_both_match(inner, other.pattern)
                for inner in inner_patterns(rule.pattern)
            )
            if at_root or inside:
                found.append((rule.name, other.name))
    return found


def size_of(value: Value, graph: Graph) -> int:
    """Return the size that rewrites make smaller.

    The weight of the nodes from which `value` is made, each counted as often as it
    is used on the way.
    """
    sizes: dict[Value, int] = {}
    for node in graph.nodes:
        own = _WEIGHTS.get(node.operator.name, _ORDINARY)
        total = own + sum(sizes.get(operand, 0) for operand in node.operands())
        sizes.update(dict.fromkeys(node.results, total))
    return sizes.get(value, 0)
