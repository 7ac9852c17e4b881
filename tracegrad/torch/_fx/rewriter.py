"""Replace parts of a graph that look like a pattern."""

from __future__ import annotations

from typing import Any, NamedTuple

from tracegrad.torch._fx.graph import Graph
from tracegrad.torch._fx.graph_module import GraphModule
from tracegrad.torch._fx.node import Node
from tracegrad.torch._fx.tracer import Tracer


class Match(NamedTuple):
    """Where a pattern was found.

    Attributes
    ----------
    anchor : Node
        The node that gives the pattern's result.
    nodes_map : dict
        From the pattern's nodes to the graph's.
    """

    anchor: Node
    nodes_map: dict[Node, Any]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace each place where a graph does what `pattern` does.

    Parameters
    ----------
    gm : GraphModule
    pattern, replacement : callable or GraphModule
        Functions of the same inputs.

    Returns
    -------
    list of Match
        Not overlapping, in the graph's order.
    """
    wanted, put = _graph_of(pattern), _graph_of(replacement)
    inputs = wanted.find_nodes(op="placeholder")
    (returned,) = wanted.find_nodes(op="output")
    matches: list[Match] = []
    used: set[Node] = set()
    renamed: dict[Node, Node] = {}
    for node in gm.graph.nodes:
        found: dict[Node, Any] = {}
        if not _alike(returned.args[0], node, found):
            continue
        inner = _inner(found)
        if used & inner or not _only_used_inside(inner, node):
            continue
        used |= inner
        matches.append(Match(node, found))
        given = [_current(found[each], renamed) for each in inputs]
        renamed[node] = _replace(gm.graph, node, put, given)
        _erase(gm.graph, inner)
    gm.recompile()
    return matches


def _graph_of(function: Any) -> Graph:
    if isinstance(function, GraphModule):
        return function.graph
    return Tracer().trace(function)


def _current(value: Any, renamed: dict[Node, Node]) -> Any:
    while isinstance(value, Node) and value in renamed:
        value = renamed[value]
    return value


def _alike(pattern: Any, value: Any, found: dict[Node, Any]) -> bool:
    """Whether a value of the graph is made as one of the pattern, noting pairs."""
    if isinstance(pattern, tuple | list):
        same = isinstance(value, tuple | list) and len(pattern) == len(value)
        pairs = zip(pattern, value, strict=False)
        return same and all(_alike(p, v, found) for p, v in pairs)
    if not isinstance(pattern, Node):
        return bool(pattern == value)
    if pattern in found:
        return found[pattern] is value
    found[pattern] = value
    if pattern.op == "placeholder":
        return True
    if not isinstance(value, Node) or (pattern.op, pattern.target) != (
        value.op,
        value.target,
    ):
        return False
    same_names = pattern.kwargs.keys() == value.kwargs.keys()
    return (
        same_names
        and _alike(pattern.args, value.args, found)
        and all(_alike(pattern.kwargs[k], value.kwargs[k], found) for k in value.kwargs)
    )


def _inner(found: dict[Node, Any]) -> set[Node]:
    return {
        value
        for pattern, value in found.items()
        if pattern.op != "placeholder" and isinstance(value, Node)
    }


def _only_used_inside(inner: set[Node], anchor: Node) -> bool:
    return all(set(node.users) <= inner for node in inner - {anchor})


def _replace(graph: Graph, anchor: Node, put: Graph, given: list[Any]) -> Any:
    values = dict(zip(put.find_nodes(op="placeholder"), given, strict=True))
    with graph.inserting_before(anchor):
        result = graph.graph_copy(put, values)
    anchor.replace_all_uses_with(result)
    return result


def _erase(graph: Graph, inner: set[Node]) -> None:
    for node in reversed(graph.nodes):
        if node in inner and not node.users:
            graph.erase_node(node)
