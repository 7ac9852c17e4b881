"""Graph to Executable: a straight line through passes, code generation and runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from tracegrad.codegen.numpy.target import emit_numpy
from tracegrad.codegen.program import program_of
from tracegrad.codegen.source import Source
from tracegrad.ir.graph import Graph
from tracegrad.passes.pipeline import PIPELINE
from tracegrad.runtime.executable import Executable


@final
@dataclass(frozen=True, slots=True)
class Compiled:
    """What compiling a graph gave.

    Attributes
    ----------
    graph : Graph
        After the passes.
    source : Source
    executable : Executable
    """

    graph: Graph
    source: Source
    executable: Executable


def optimized(graph: Graph) -> Graph:
    """Return `graph` after all passes."""
    for _, run in PIPELINE:
        graph = run(graph)
    return graph


def compile_graph(graph: Graph, target: str = "numpy") -> Compiled:
    """Return `graph` compiled for a target."""
    final_graph = optimized(graph)
    source = emit_numpy(program_of(final_graph))
    return Compiled(final_graph, source, Executable(source))
