"""The target ``numpy``: a program as a Python module that needs NumPy only."""

from __future__ import annotations

from collections.abc import Iterable

from tracegrad.codegen.environment import render
from tracegrad.codegen.numpy.emitter import Emitter
from tracegrad.codegen.numpy.instructions import Argument, Array, Body
from tracegrad.codegen.numpy.numbers import name_numbers
from tracegrad.codegen.numpy.plan import defer_writes, plan
from tracegrad.codegen.numpy.render import (
    arena_lines,
    arena_names,
    commit_texts,
    lines_of,
)
from tracegrad.codegen.program import Program
from tracegrad.codegen.source import Source
from tracegrad.ir.graph import Graph


def emit_numpy(program: Program) -> Source:
    """Return `program` as NumPy source."""
    emitter = Emitter(program)
    body = emitter.run()
    emitter.library.settle()
    numbers = emitter.numbers + name_numbers(body, emitter.names)
    defer_writes(body)
    memory = plan(body)
    names = [name for name, _ in arena_names(body, memory)]
    graph = program.graph
    entry = graph.name
    text = render(
        "numpy/program.py.j2",
        title=f"{graph.name}: emitted by tracegrad for NumPy.",
        head=_head(emitter, body, numbers),
        arena_lines="\n".join(arena_lines(body, memory)),
        arena=_tuple(names),
        has_arena=bool(names),
        entry=entry,
        parameters=", ".join([*_parameters(emitter, graph), "arena"]),
        body="\n".join(lines_of(body)),
        returned=_tuple(map(_name, body.returned)),
        writes=_listed(commit_texts(body.commits)),
    )
    constants = {_name(emitter.arrays[c.value]): c.array for c in graph.constants}
    return Source("numpy", text, entry, "make_arena", constants, emitter.library.names)


def _head(emitter: Emitter, body: Body, numbers: list[str]) -> str:
    """Return what stands before the functions: imports, helpers, constant arrays."""
    parts = ["\n".join(_imports(emitter, body)), *emitter.library.functions.values()]
    if numbers:
        parts.append("\n".join(numbers))
    return "\n\n".join(part.strip("\n") for part in parts)


def _tuple(names: Iterable[str]) -> str:
    return f"({''.join(f'{name}, ' for name in names)})".replace(", )", ",)")


def _listed(lines: list[str]) -> str:
    """Return a tuple with a line for each of its elements."""
    if not lines:
        return "()"
    return "\n".join(["(", *(f"    {line}" for line in lines), ")"])


def _parameters(emitter: Emitter, graph: Graph) -> list[str]:
    values = [*graph.inputs, *(c.value for c in graph.constants)]
    return [_name(emitter.arrays[value]) for value in values]


def _name(argument: Argument) -> str:
    return argument.name if isinstance(argument, Array) else argument


def _imports(emitter: Emitter, body: Body) -> list[str]:
    lines = ["import numpy as np", *emitter.library.imports.values()]
    if not {"DType", "Operator"}.isdisjoint(emitter.library.functions):
        lines.insert(0, "from typing import NamedTuple\n")
    if any("ml_dtypes" in line for line in lines_of(body)):
        lines.insert(0, "import ml_dtypes")
    return lines
