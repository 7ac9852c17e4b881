"""The report of a captured function, in sentences."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

from tracegrad.compiler import target_for, unfused_reasons
from tracegrad.config import config
from tracegrad.ir.graph import Graph

# Beyond these a line says how many more there are.
_MAX_NAMES = 8
_MAX_LINES = 4


@final
@dataclass(slots=True)
class _Program:
    """What is said of one program.

    Attributes
    ----------
    exits : dict of str to int
        Lines whose check sent a call to another program, and how often.
    """

    graph: Graph
    compiled: Any
    guards: int
    wanted: str
    reasons: list[str]
    exits: dict[str, int] = field(default_factory=dict)


@final
class Explanation:
    """What happened to a captured function; its ``str`` is the report."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._programs: dict[int, _Program] = {}
        self._eager: list[str] = []

    def captured(self, specialization: Any, wanted: str, misses: Sequence[str]) -> None:
        """Note a new program, and why the others did not fit."""
        program = _Program(
            specialization.graph,
            specialization.compiled,
            specialization.guards.count,
            wanted,
            list(dict.fromkeys(misses)),
        )
        self._programs[id(specialization)] = program
        self._log(_program_lines(len(self._programs), program))

    def left(self, specialization: Any, check: Any) -> None:
        """Note that a check sent a call away from a program."""
        program = self._programs.get(id(specialization))
        if program is not None:
            place = str(check.location or "an unknown line")
            program.exits[place] = program.exits.get(place, 0) + 1

    def fell_back(self, reason: str) -> None:
        """Note, once, why calls run eagerly."""
        line = f"ran eagerly: {reason}"
        if line not in self._eager:
            self._eager.append(line)
            self._log([line])

    def summary(self) -> str:
        """Return in a few words what there is so far."""
        if not self._programs and not self._eager:
            return "not called yet"
        parts = [_count(len(self._programs), "program")]
        if self._eager:
            parts.append(f"{_count(len(self._eager), 'reason')} to run eagerly")
        return ", ".join(parts)

    def _log(self, lines: list[str]) -> None:
        if "capture" in config.log:
            text = "".join(f"capture: {self.name}: {line}\n" for line in lines)
            sys.stderr.write(text)

    def __str__(self) -> str:
        lines: list[str] = []
        for number, program in enumerate(self._programs.values(), 1):
            lines.extend(_program_lines(number, program))
        lines.extend(self._eager or ())
        if not self._programs:
            what = "no call was captured" if lines else "not called yet"
            lines.append(f"{what}: graph is None and source is empty")
        return "\n".join([f"{self.name}:", *(f"  {line}" for line in lines)])

    __repr__ = __str__


def _program_lines(number: int, program: _Program) -> list[str]:
    graph = program.graph
    names = _listed([value.name for value in graph.inputs])
    lines = [
        f"program {number}: captured {_count(len(graph.nodes), 'operator')} of "
        f"{names}; {_count(program.guards, 'guard')}; target {_target(program)}"
    ]
    kernels = program.compiled.source.kernels
    if kernels:
        launched = _listed(list(kernels))
        lines.append(f"  {_count(len(kernels), 'kernel')} for the device: {launched}")
    lines += [f"  made because {reason}" for reason in program.reasons[:_MAX_LINES]]
    places = dict.fromkeys(str(c.location or "?") for c in graph.checks)
    for place in places:
        times = program.exits.get(place, 0)
        left = f", which sent {_count(times, 'call')} elsewhere" if times else ""
        lines.append(f"  holds for the value that was taken at {place}{left}")
    lines += [f"  not fused: {text}" for text in _shortened(unfused_reasons(graph))]
    return lines


def _target(program: _Program) -> str:
    name = program.compiled.source.language
    if program.wanted != "auto":
        return f"{name}, as asked"
    where = "cuda" if target_for(program.graph, "auto") == "cuda" else "the CPU"
    return f"{name}, for the tensors are on {where}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _listed(names: list[str]) -> str:
    if not names:
        return "no inputs"
    shown = ", ".join(names[:_MAX_NAMES])
    more = len(names) - _MAX_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - _MAX_LINES
    if more <= 0:
        return lines
    return [*lines[:_MAX_LINES], f"and {_count(more, 'edge')} more"]
