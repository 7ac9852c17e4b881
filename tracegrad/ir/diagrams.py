"""A graph as boxes and arrows, and the text of these for Graphviz and Mermaid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from tracegrad.ir.graph import BindGrad, Graph, Node, Value
from tracegrad.ir.printer import literal, value_definition, value_use

_SHAPES = {"input": "ellipse", "constant": "ellipse", "node": "box", "end": "ellipse"}
_CORNERS = {
    "input": ("([", "])"),
    "constant": ("([", "])"),
    "node": ("[", "]"),
    "end": ("([", "])"),
}


@final
@dataclass(frozen=True, slots=True)
class Box:
    """What a diagram shows as one thing.

    Attributes
    ----------
    name : str
        Unique in the diagram.
    kind : str
        ``input``, ``constant``, ``node`` or ``end`` (a return, a write or a check).
    label : str
    node : Node or None
    """

    name: str
    kind: str
    label: str
    node: Node | None = None


@final
@dataclass(frozen=True, slots=True)
class Arrow:
    """A value on its way from the box that defines it to one that uses it."""

    source: str
    target: str
    value: Value
    position: int


def diagram(graph: Graph) -> tuple[list[Box], list[Arrow]]:
    """Return the boxes and the arrows of a graph, in its order."""
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    home: dict[Value, str] = {}

    def add(kind: str, label: str, node: Node | None = None) -> str:
        boxes.append(Box(f"n{len(boxes)}", kind, label, node))
        return boxes[-1].name

    def use(target: str, values: Iterator[Value]) -> None:
        for position, value in enumerate(values):
            arrows.append(Arrow(home[value], target, value, position))

    for value in graph.inputs:
        home[value] = add("input", value_definition(value))
    for constant in graph.constants:
        value = constant.value
        home[value] = add("constant", f"const {value_definition(value)}")
    for node in graph.nodes:
        name = add("node", _label(node), node)
        home.update(dict.fromkeys(node.results, name))
        use(name, node.operands())
    for label, values in _ends(graph):
        use(add("end", label), iter(values))
    return boxes, arrows


def _label(node: Node) -> str:
    attributes = ", ".join(f"{name}={literal(v)}" for name, v in node.attributes)
    results = ", ".join(map(value_definition, node.results))
    place = "" if node.location is None else f"\n{node.location}"
    return f"{node.operator.name}({attributes})\n{results}{place}"


def _ends(graph: Graph) -> Iterator[tuple[str, list[Value]]]:
    for check in graph.checks:
        yield f"check {literal(check.expected)}", [check.value]
    for write in graph.writes:
        kind = "bind grad of" if isinstance(write, BindGrad) else "write"
        values = [] if write.value is None else [write.value]
        yield f"{kind} {value_use(write.target)}", values
    yield "return", list(graph.outputs)


def to_dot(graph: Graph) -> str:
    """Return `graph` in Graphviz' language."""
    boxes, arrows = diagram(graph)
    lines = [f"digraph {_dot_string(graph.name)} {{"]
    lines += [
        f"  {box.name} [shape={_SHAPES[box.kind]}, label={_dot_string(box.label)}];"
        for box in boxes
    ]
    lines += [
        f"  {a.source} -> {a.target} [label={_dot_string(value_use(a.value))}];"
        for a in arrows
    ]
    return "\n".join([*lines, "}"])


def _dot_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"' + escaped.replace("\r", " ").replace("\n", "\\n").replace("\0", " ") + '"'
    )


def to_mermaid(graph: Graph) -> str:
    """Return `graph` in Mermaid's language."""
    boxes, arrows = diagram(graph)
    lines = ["flowchart TD"]
    for box in boxes:
        left, right = _CORNERS[box.kind]
        lines.append(f"  {box.name}{left}{_mermaid_string(box.label)}{right}")
    lines += [
        f"  {a.source} -->|{_mermaid_string(value_use(a.value))}| {a.target}"
        for a in arrows
    ]
    return "\n".join(lines)


def _mermaid_string(text: str) -> str:
    """Return `text` in quotes, with all but plain characters as entities."""
    shown = (_entity(character) for character in text)
    return '"' + "".join(shown) + '"'


def _entity(character: str) -> str:
    if character == "\n":
        return "<br/>"
    plain = character.isalnum() or character in " %:=,.()_-[]"
    return character if plain else f"#{ord(character)};"
