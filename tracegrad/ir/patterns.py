"""Patterns: the left sides of rewrite rules, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias, final

from tracegrad.dispatch.operator import OPERATORS
from tracegrad.ir.graph import Node, Operand, Value


@final
@dataclass(frozen=True, slots=True)
class Any_:  # noqa: N801 - typing has `Any`
    """Matches every operand; the same name matches the same operand again.

    Attributes
    ----------
    name : str
    """

    name: str


@final
@dataclass(frozen=True, slots=True)
class Number:
    """Matches a Python number for which `test` holds.

    Attributes
    ----------
    name : str
    test : callable
        From the number to a bool.
    """

    name: str
    test: Callable[[Any], bool]


@final
@dataclass(frozen=True, slots=True)
class Apply:
    """Matches the result of a node; of a commutative operator in either order.

    Attributes
    ----------
    operator : str
        The operator's name.
    operands : tuple of Pattern
    name : str
        Under which the node is found in the match.
    """

    operator: str
    operands: tuple[Pattern, ...]
    name: str = ""


Pattern: TypeAlias = Any_ | Number | Apply


def apply(operator: str, *operands: Pattern, name: str = "") -> Apply:
    """Return the pattern of an operator applied to patterns."""
    return Apply(operator, operands, name)


@final
@dataclass(frozen=True, slots=True)
class Match:
    """What a pattern matched.

    Attributes
    ----------
    root : Node
    operands : mapping from str to Operand
        What the wildcards and numbers stand for.
    nodes : mapping from str to Node
        The nodes of the named applications.
    """

    root: Node
    operands: Mapping[str, Operand]
    nodes: Mapping[str, Node]

    def value(self, name: str) -> Value:
        """Return the value that a wildcard matched."""
        found = self.operands[name]
        assert isinstance(found, Value)
        return found


Found: TypeAlias = tuple[dict[str, Operand], dict[str, Node]]


def match(pattern: Apply, node: Node, producers: Mapping[Value, Node]) -> Match | None:
    """Return how `pattern` matches the first result of `node`, if it does."""
    for operands, nodes in _match_node(pattern, node, producers, ({}, {})):
        return Match(node, operands, nodes)
    return None


def _match_node(
    pattern: Apply, node: Node, producers: Mapping[Value, Node], found: Found
) -> Iterator[Found]:
    if node.operator.name != pattern.operator or len(node.results) != 1:
        return
    if len(node.inputs) != len(pattern.operands):
        return
    operands, nodes = found
    if pattern.name:
        found = (operands, {**nodes, pattern.name: node})
    for order in _orders(pattern):
        yield from _match_all(order, node.inputs, producers, found)


def _orders(pattern: Apply) -> Iterator[tuple[Pattern, ...]]:
    yield pattern.operands
    operator = OPERATORS[pattern.operator]
    if operator.commutative and len(set(pattern.operands)) > 1:
        yield from list(permutations(pattern.operands))[1:]


def _match_all(
    patterns: tuple[Pattern, ...],
    operands: tuple[Operand, ...],
    producers: Mapping[Value, Node],
    found: Found,
) -> Iterator[Found]:
    if not patterns:
        yield found
        return
    for first in _match_one(patterns[0], operands[0], producers, found):
        yield from _match_all(patterns[1:], operands[1:], producers, first)


def _match_one(
    pattern: Pattern, operand: Operand, producers: Mapping[Value, Node], found: Found
) -> Iterator[Found]:
    if isinstance(pattern, Apply):
        if isinstance(operand, Value) and operand in producers:
            yield from _match_node(pattern, producers[operand], producers, found)
        return
    if isinstance(pattern, Number):
        number = isinstance(operand, bool | int | float | complex)
        if not number or not pattern.test(operand):
            return
    elif not isinstance(operand, Value):
        return
    bound, nodes = found
    if pattern.name not in bound:
        yield {**bound, pattern.name: operand}, nodes
    elif bound[pattern.name] is operand:
        yield found


# -- overlaps ------------------------------------------------------------------


def may_both_match(a: Pattern, b: Pattern) -> bool:
    """Whether some operand could match both patterns, tests of numbers aside."""
    if isinstance(a, Apply) and isinstance(b, Apply):
        return a.operator == b.operator and any(
            all(map(may_both_match, order, b.operands)) for order in _orders(a)
        )
    kinds = {type(a), type(b)}
    return kinds == {Number} or (Any_ in kinds and Number not in kinds)


def inner_patterns(pattern: Apply) -> Iterator[Apply]:
    """Iterate over the applications below the root of `pattern`."""
    for operand in pattern.operands:
        if isinstance(operand, Apply):
            yield operand
            yield from inner_patterns(operand)
