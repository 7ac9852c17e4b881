"""Running passes: verification between them, times, listeners."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias, final

from tracegrad.config import config
from tracegrad.errors import VerifyError
from tracegrad.ir.graph import Graph
from tracegrad.ir.verifier import verify


class Pass(ABC):
    """A named pure function from Graph to Graph.

    It may rely on a graph that obeys the rules of the IR and must return one. A graph
    that it leaves as it is, it returns itself. Its options are the fields of a frozen
    dataclass.

    Attributes
    ----------
    name : str
    """

    name: ClassVar[str]

    @abstractmethod
    def run(self, graph: Graph) -> Graph:
        """Return the transformed graph."""


@final
@dataclass(frozen=True, slots=True)
class PassRun:
    """What listeners hear of: one pass was run on one graph.

    Attributes
    ----------
    done : Pass
    before, after : Graph
        The same object if the pass changed nothing.
    seconds : float
    """

    done: Pass
    before: Graph
    after: Graph
    seconds: float

    def __str__(self) -> str:
        change = "unchanged"
        if self.after is not self.before:
            change = f"{len(self.before.nodes)} to {len(self.after.nodes)} nodes"
        return f"{self.done.name}: {change}, {self.seconds * 1e3:.2f} ms"


Listener: TypeAlias = Callable[[PassRun], object]


@final
@dataclass(frozen=True, slots=True)
class PassManager:
    r"""Runs passes one after another.

    Attributes
    ----------
    passes : sequence of Pass
    verify : bool
        Check the graph before the first pass and after each; ``config.verify`` does
        too.
    listeners : sequence of callable
        Each is called with a `PassRun` after each pass.

    Examples
    --------
    >>> from tracegrad.ir import parse
    >>> from tracegrad.passes.dce import DeadCodeElimination
    >>> text = "graph f(%x: f32[3]) {\n %y: f32[3] = exp(%x)\n return %x\n}"
    >>> runs = []
    >>> PassManager([DeadCodeElimination()], listeners=[runs.append]).run(parse(text))
    <graph f: 1 inputs, 0 nodes>
    >>> [(run.done.name, len(run.before.nodes)) for run in runs]
    [('dce', 1)]
    """

    passes: Sequence[Pass]
    verify: bool = False
    listeners: Sequence[Listener] = ()

    def run(self, graph: Graph) -> Graph:
        """Return what the passes make of `graph`.

        Raises
        ------
        VerifyError
            If verification is on and `graph`, or what a pass made of it, breaks a rule
            of the IR; the message names the pass.
        """
        checked = self.verify or config.verify
        if checked:
            verify(graph)
        for each in self.passes:
            started = time.perf_counter()
            after = each.run(graph)
            run = PassRun(each, graph, after, time.perf_counter() - started)
            if checked and after is not graph:
                _verify_after(each, after)
            self._tell(run)
            graph = after
        return graph

    def _tell(self, run: PassRun) -> None:
        if "passes" in config.log:
            sys.stderr.write(f"passes: {run}\n")
        for listener in self.listeners:
            listener(run)


def _verify_after(done: Pass, graph: Graph) -> None:
    try:
        verify(graph)
    except VerifyError as error:
        raise VerifyError(f"after pass {done.name}: {error}") from error
