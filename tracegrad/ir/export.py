"""A graph for networkx, the toolbox of graph algorithms."""

from __future__ import annotations

from typing import Any

import networkx as nx  # type: ignore[import-untyped]

from tracegrad.ir.diagrams import diagram
from tracegrad.ir.graph import Graph


def to_networkx(graph: Graph) -> Any:
    r"""Return `graph` as a directed graph with parallel edges.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    networkx.MultiDiGraph
        Its nodes are inputs, constants, nodes, writes, checks and the return, with
        the attributes ``kind``, ``label`` and ``node`` (the Node, or None). Its edges
        are uses, with ``value`` and ``position`` among the user's operands.

    Examples
    --------
    >>> from tracegrad.ir import parse
    >>> text = "graph f(%x: f32[3]) {\n %y: f32[3] = add(%x, %x)\n return %y\n}"
    >>> to_networkx(parse(text)).number_of_edges()
    3
    """
    boxes, arrows = diagram(graph)
    found: Any = nx.MultiDiGraph(name=graph.name)
    for box in boxes:
        found.add_node(box.name, kind=box.kind, label=box.label, node=box.node)
    for arrow in arrows:
        found.add_edge(
            arrow.source, arrow.target, value=arrow.value, position=arrow.position
        )
    return found
