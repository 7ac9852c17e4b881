"""From a graph to its text; `tracegrad.ir.parser` states the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tracegrad.device import Device, device
from tracegrad.dispatch.operator import OpDef
from tracegrad.dtypes import BY_CODE, DType
from tracegrad.errors import DeviceError, VerifyError
from tracegrad.ir.graph import (
    Attributes,
    BindGrad,
    Check,
    Constant,
    Graph,
    Node,
    Value,
    WriteBack,
    WriteStorage,
)
from tracegrad.ir.literals import array_text, complex_text, float_text, word
from tracegrad.location import Location
from tracegrad.sizes import SymbolicSize

# What a location may consist of without quotes.
PLAIN_FILE = re.compile(r"[^\s'\"#\\:]+")

_INDENT = "  "
# A header longer than this has one input per line.
_HEADER_WIDTH = 100
# Longer lines do not push the column of the locations to the right.
_LOCATION_COLUMN = 76

# A line of the body and what stands after it.
_Line = tuple[str, str]


def graph_text(graph: Graph) -> str:
    """Return the text of `graph`, which `tracegrad.ir.parse` reads."""
    return "\n".join([_header(graph), *_aligned(list(_body(graph))), "}"])


def _header(graph: Graph) -> str:
    inputs = [value_definition(value) for value in graph.inputs]
    name = word(graph.name)
    line = f"graph {name}({', '.join(inputs)}) {{"
    if len(line) <= _HEADER_WIDTH:
        return line
    each = "".join(f"\n{_INDENT * 2}{text}," for text in inputs)
    return f"graph {name}({each}\n) {{"


def value_definition(value: Value) -> str:
    """Return ``%name: spec``."""
    grad = " grad" if value.requires_grad else ""
    return f"{value_use(value)}: {value.spec}{grad}"


def value_use(value: Value) -> str:
    """Return ``%name``."""
    return "%" + word(value.name)


def _body(graph: Graph) -> Iterator[_Line]:
    for constant in graph.constants:
        yield _constant_line(constant), ""
    for node in graph.nodes:
        yield node_text(node), _comment(node.location, node.scope)
    for check in graph.checks:
        yield _check_line(check), _comment(check.location)
    for write in graph.writes:
        yield _write_line(write), _comment(write.location)
    yield f"return {_uses(graph.outputs)}".rstrip(), ""


def _uses(values: Iterable[Value]) -> str:
    return ", ".join(map(value_use, values))


def _constant_line(constant: Constant) -> str:
    value = constant.value
    text = array_text(constant.array, value.spec.dtype)  # type: ignore[union-attr]
    return f"const {value_definition(value)} = {text}"


def node_text(node: Node) -> str:
    """Return a node's line without its location."""
    results = ", ".join(map(value_definition, node.results)) or "()"
    inputs = [literal(operand) for operand in node.inputs]
    arguments = ", ".join(inputs + _attribute_texts(node.attributes))
    return f"{results} = {node.operator.name}({arguments})"


def _attribute_texts(attributes: Attributes) -> list[str]:
    return [f"{name}={literal(value)}" for name, value in attributes]


def _check_line(check: Check) -> str:
    return f"check {value_use(check.value)} == {literal(check.expected)}"


def _write_line(write: WriteBack) -> str:
    target, value = value_use(write.target), literal(write.value)
    if isinstance(write, WriteStorage):
        return f"write {target} <- {value} bumps {write.bumps}"
    if isinstance(write, BindGrad):
        return f"bind {target}.grad <- {value}"
    return f"state {target} <- {value}"


def _comment(location: Location | None, scope: str = "") -> str:
    """Return ``# model.py:12 scope``, ``# - scope`` or nothing."""
    if location is None and not scope:
        return ""
    place = "-"
    if location is not None:
        file = location.file
        plain = PLAIN_FILE.fullmatch(file) and file.isprintable()
        place = f"{file if plain else repr(file)}:{location.line}"
    return f"# {place} {word(scope)}" if scope else f"# {place}"


def _aligned(lines: list[_Line]) -> Iterator[str]:
    """Yield the lines of a body, with the locations in one column."""
    # A line that holds a sub-graph is several; the location follows the last.
    widths = [len(text.rpartition("\n")[2]) for text, comment in lines if comment]
    column = max((w for w in widths if w <= _LOCATION_COLUMN), default=0) + 2
    for text, comment in lines:
        first, *rest = text.split("\n")
        shown = "\n".join([first, *(_INDENT + line for line in rest)])
        last = len(text.rpartition("\n")[2])
        gap = " " * max(column - last, 2) if comment else ""
        yield f"{_INDENT}{shown}{gap}{comment}"


# -- operands and attributes ---------------------------------------------------


def literal(value: Any) -> str:
    """Return the text of an operand or of an attribute's value.

    Values of different bits or types have different texts (``1``, ``1.0`` and
    ``True``; ``0.0`` and ``-0.0``), so that the text also serves as their identity.

    Raises
    ------
    VerifyError
        If a value of this type can't stand in a graph.
    """
    for kind, text in _LITERALS:
        if isinstance(value, kind):
            found: str = text(value)
            return found
    raise VerifyError(
        f"an attribute in a graph can't be of type {type(value).__name__}: {value!r}"
    )


def _tuple_text(values: tuple[Any, ...]) -> str:
    if is_path_step(values):
        return _step_text(*values)
    return "[" + ", ".join(map(literal, values)) + "]"


def is_path_step(values: tuple[Any, ...]) -> bool:
    """Whether a tuple is one view of a path: operator, attributes, result index."""
    return (
        len(values) == 3
        and isinstance(values[0], OpDef)
        and isinstance(values[1], tuple)
        and type(values[2]) is int
    )


def _step_text(operator: OpDef, attributes: Attributes, index: int) -> str:
    arguments = ", ".join(_attribute_texts(attributes))
    which = f"[{index}]" if index else ""
    return f"{operator.name}({arguments}){which}"


def _device_text(value: Device) -> str:
    plain = value.type not in BY_CODE and word(value.type) == value.type
    try:
        device(value.type)
    except DeviceError:
        plain = False
    if plain:
        return str(value)
    number = "" if value.index is None else f", {value.index}"
    return f"device({value.type!r}{number})"


_LITERALS: tuple[tuple[Any, Any], ...] = (
    (Value, value_use),
    (bool, repr),
    (int, int.__repr__),
    (float, float_text),
    (complex, complex_text),
    (str, str.__repr__),
    (type(None), repr),
    (tuple, _tuple_text),
    (DType, lambda value: value.code),
    (Device, _device_text),
    (SymbolicSize, lambda value: f"size({value})"),
    (OpDef, lambda value: f"operator({value.name})"),
    (Graph, graph_text),
)

# `str` of a graph and of its nodes is stated here, one module above their data.
Graph.__str__ = graph_text  # type: ignore[method-assign, assignment]
Node.__str__ = node_text  # type: ignore[method-assign, assignment]
