"""Graphs for networkx, Graphviz and Mermaid."""

import subprocess
import sys

import networkx as nx

import tracegrad.ir as ir
from tests.support.random_graphs import random_graphs
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dtypes import float32
from tracegrad.ir.diagrams import to_dot, to_mermaid
from tracegrad.ir.graph import Graph, Node, Value
from tracegrad.location import Location
from tracegrad.spec import TensorSpec

TEXT = """\
graph f(%x: f32[3], %w: f32[3] grad) {
  const %c: f32[3] = [1.0, 2.0, 3.0]
  %y: f32[3] = add(%x, %c)  # model.py:7
  %z: f32[3] = mul(%y, %y)
  bind %w.grad <- %z
  return %z
}"""


def test_networkx() -> None:
    found = ir.parse(TEXT).to_networkx()
    assert nx.is_directed_acyclic_graph(found)
    kinds = [kind for _, kind in found.nodes(data="kind")]
    assert kinds == ["input", "input", "constant", "node", "node", "end", "end"]
    edges = [(a, b, v.name, p) for a, b, v, p in edge_data(found)]
    assert edges == [
        ("n0", "n3", "x", 0),
        ("n2", "n3", "c", 1),
        ("n3", "n4", "y", 0),
        ("n3", "n4", "y", 1),
        ("n4", "n5", "z", 0),
        ("n4", "n6", "z", 0),
    ]


def edge_data(found: nx.MultiDiGraph) -> list:
    return [
        (a, b, data["value"], data["position"])
        for a, b, data in sorted(found.edges(data=True), key=lambda e: (e[1], e[0]))
    ]


def test_random_graphs_are_acyclic(seed: int) -> None:
    for graph in random_graphs(seed, count=20):
        found = graph.to_networkx()
        assert nx.is_directed_acyclic_graph(found)
        uses = sum(len(list(node.operands())) for node in graph.nodes)
        assert found.number_of_edges() == uses + len(list(graph.required()))


def test_dot() -> None:
    lines = to_dot(ir.parse(TEXT)).splitlines()
    assert lines[0] == 'digraph "f" {'
    assert lines[4] == '  n3 [shape=box, label="add()\\n%y: f32[3]\\nmodel.py:7"];'
    assert '  n3 -> n4 [label="%y"];' in lines


def test_mermaid() -> None:
    lines = to_mermaid(ir.parse(TEXT)).splitlines()
    assert lines[0] == "flowchart TD"
    assert lines[4] == '  n3["add()<br/>%y: f32[3]<br/>model.py:7"]'
    assert '  n3 -->|"%y"| n4' in lines


def test_users_text_is_escaped() -> None:
    evil = '"];\nhack -> "<script>'
    x = Value("x", TensorSpec(float32, ()))
    y = Value("y", x.spec)
    node = Node(OPERATORS["exp"], (x,), (), (y,), Location(evil, 3))
    graph = Graph(evil, (x,), (node,), (y,))
    dot = to_dot(graph)
    assert len(dot.splitlines()) == 7
    assert '\\"];\\nhack -> \\"<script>' in dot
    mermaid = to_mermaid(graph)
    assert len(mermaid.splitlines()) == 6
    assert "<script>" not in mermaid


def test_networkx_is_loaded_when_asked_for() -> None:
    script = "import sys, tracegrad.ir; assert 'networkx' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
