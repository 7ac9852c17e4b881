"""The target ``numpy``: a program as a Python module that needs NumPy only."""

from __future__ import annotations

from tracegrad.codegen.environment import render
from tracegrad.codegen.numpy.emitter import Emitter
from tracegrad.codegen.numpy.instructions import Array, Body
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
    graph = program.graph
    entry = graph.name
    text = render(
        "numpy/program.py.j2",
        title=f"{graph.name}: emitted by tracegrad for NumPy.",
        imports=_imports(emitter, body),
        functions=list(emitter.library.functions.values()),
        numbers=numbers,
        arena_lines=arena_lines(body, memory),
        arena_names=[name for name, _ in arena_names(body, memory)],
        entry=entry,
        parameters=", ".join([*_parameters(emitter, graph), "arena"]),
        body=lines_of(body),
        returned=[a.name if isinstance(a, Array) else a for a in body.returned],
        commits=commit_texts(body.commits),
    )
    constants = {_name(emitter.arrays[c.value]): c.array for c in graph.constants}
    return Source("numpy", text, entry, "make_arena", constants, emitter.library.names)


def _parameters(emitter: Emitter, graph: Graph) -> list[str]:
    values = [*graph.inputs, *(c.value for c in graph.constants)]
    return [_name(emitter.arrays[value]) for value in values]


def _name(argument: Array | str) -> str:
    return argument.name if isinstance(argument, Array) else argument


def _imports(emitter: Emitter, body: Body) -> list[str]:
    lines = ["import numpy as np", *emitter.library.imports.values()]
    if not {"DType", "Operator"}.isdisjoint(emitter.library.functions):
        lines.insert(0, "from typing import NamedTuple\n")
    if any("ml_dtypes" in line for line in lines_of(body)):
        lines.insert(0, "import ml_dtypes")
    return lines
