"""From a program's leaves to the user's result: the call, written as one function.

What a call does around its program is the same each time: it takes arrays out of
tensors, runs, wraps what came out, and commits. Written out for one program, as guards
are, that costs half of what a loop over descriptions costs.
"""

from __future__ import annotations

import itertools
import operator
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from tracegrad.capture.numbers import evaluate
from tracegrad.capture.outputs import Bound, Fresh, InputItself, Number
from tracegrad.capture.session import Recording
from tracegrad.captured.entry import ReleasedEntry
from tracegrad.compiler import Compiled
from tracegrad.config import config
from tracegrad.dispatch.entry import INFERENCE
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.tensor import Tensor, move_retained, version_of, wrap
from tracegrad.ir.graph import Check
from tracegrad.location import Location

FAILED: Any = object()
"""What a run gives when an operator raised: nothing has happened."""


@final
class Left:
    """What a run gives when a check found another value: nothing has happened."""

    __slots__ = ("check",)

    def __init__(self, check: Check) -> None:
        self.check = check


@final
class RunWriter:
    """Writes the function that runs one program.

    Parameters
    ----------
    recording : Recording
        Of which the program was made.
    compiled : Compiled
        The program.
    states : sequence of int
        Which generators the program leaves in another state.
    put_on_tape : callable or None
        ``put_on_tape(leaves, results, returned)`` makes the call one entry of the
        tape, and gives the tensors that the commit moves, and where to.
    add_views : callable or None
        ``add_views(returned, moves)`` makes the views and aliases.
    """

    def __init__(
        self,
        recording: Recording,
        compiled: Compiled,
        states: Sequence[int],
        put_on_tape: Callable[..., Any] | None,
        add_views: Callable[..., Any] | None,
    ) -> None:
        assert recording.graph is not None
        assert recording.places is not None
        self._examples = [leaf.example for leaf in recording.inputs]
        # How inputs are computed that are no leaves.
        self._sources = [leaf.source for leaf in recording.inputs]
        self._numbers = bool(recording.numbers)
        self._handed = recording.places
        self._bumps = recording.bumps
        self._states = states
        # What backward needs comes behind the graph's outputs, then the gradients.
        self._first_bound = len(compiled.graph.outputs)
        self._writes = bool(recording.graph.writes)
        self._lines: list[str] = []
        self._names: dict[str, Any] = {
            "execute": compiled.executable,
            "put_on_tape": put_on_tape,
            "add_views": add_views,
            "checks": recording.graph.checks,
            "build": recording.build,
            "Left": Left,
            "FAILED": FAILED,
            "INFERENCE": INFERENCE,
            "ReleasedEntry": ReleasedEntry,
            "actions_of_moves": _actions_of_moves,
            "config": config,
            "exhaust": deque,
            "starmap": itertools.starmap,
            "call": operator.call,
            "setitem": operator.setitem,
            "evaluate": evaluate,
            "laid_out": _laid_out,
            "version_of": version_of,
            "wrap": wrap,
        }

    def compile(self) -> tuple[str, Callable[[Any], Any]]:
        """Return the text, and the function ``run(leaves)`` that it defines."""
        self._prepare()
        before, self._lines = self._lines, []
        self._execute()
        self._make()
        self._finish()
        acts = self._act()
        returned = ", ".join(f"t{i}" for i in self._handed.results)
        lines = [
            *before,
            "try:",
            *(f"    {line}" for line in self._lines),
            "except Exception:",
            "    if config.verify:",
            "        raise",
            "    return FAILED",
            # One call in C: no signal handler of Python runs between two writes, so
            # that an interrupt sees all or nothing.
            *(["exhaust(starmap(call, actions), 0)"] if acts else []),
            f"return build([{returned}])",
        ]
        text = "def run(leaves):\n" + "".join(f"    {line}\n" for line in lines)
        namespace = dict(self._names)
        exec(compile(text, "<run>", "exec"), namespace)
        return text, namespace["run"]

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._names)}"
        self._names[name] = value
        return name

    def _prepare(self) -> None:
        """Take the inputs out of the leaves, and compute numbers."""
        outside = [i for i, s in enumerate(self._sources) if s is None]
        if outside:
            names = "".join(f"x{i}, " for i in outside)
            rest = "*numbers" if self._numbers else ""
            self._lines.append(f"{names}{rest} = leaves")
        elif self._numbers:
            self._lines.append("numbers = leaves")
        for i, source in enumerate(self._sources):
            if source is not None:
                text = f"x{i} = evaluate({self._constant(source)}, numbers)"
                self._lines.append(text)

    def _execute(self) -> None:
        arrays = []
        for i, example in enumerate(self._examples):
            if isinstance(example, Tensor):
                arrays.append(f"x{i}._array")
            elif isinstance(example, Generator):
                arrays.append(self._engine(i))
            else:
                arrays.append(f"x{i}")
        self._lines += [
            f"results, writes = execute([{', '.join(arrays)}])",
            "if results is None:",
            "    return Left(checks[writes])",
        ]

    def _engine(self, index: int) -> str:
        if index not in self._states:
            return "None"
        self._lines.append(f"e{index} = x{index}.engine.clone()")
        return f"e{index}"

    def _make(self) -> None:
        """Make what is at each place, None for views and aliases."""
        taken = "()"
        if self._handed.takings:
            pairs = (
                f"{k}: results[{i}].item()" for k, i in self._handed.takings.items()
            )
            self._lines.append(f"taken = {{{', '.join(pairs)}}}")
            taken = "taken"
        numbers = "numbers" if self._numbers else "()"
        for index, place in enumerate(self._handed.places):
            if isinstance(place, Fresh):
                self._wrap(index, place.index, place)
            elif isinstance(place, Bound):
                self._wrap(index, self._first_bound + place.index, place)
            elif isinstance(place, InputItself):
                self._lines.append(f"t{index} = x{place.index}")
            elif isinstance(place, Number):
                source = self._constant(place.source)
                text = f"t{index} = evaluate({source}, {numbers}, {taken})"
                self._lines.append(text)
            else:
                self._lines.append(f"t{index} = None")

    def _wrap(self, index: int, result: int, place: Fresh | Bound) -> None:
        name = f"t{index}"
        self._lines.append(f"a = results[{result}]")
        if place.strides is not None:
            strides = self._constant(place.strides)
            self._lines += [
                f"if a.strides != {strides}:",
                f"    a = laid_out(a, {strides})",
            ]
        self._lines.append(f"{name} = wrap(a)")
        if isinstance(place, Fresh) and place.inference:
            self._lines.append(f"{name}._counter = INFERENCE")
        elif place.version:
            self._lines.append(f"{name}._counter = [{place.version}]")
        if isinstance(place, Fresh) and place.tape == "released":
            self._lines.append(f"{name}._node = ReleasedEntry()")

    def _finish(self) -> None:
        """Put the results on the tape, and make views of them."""
        names = "".join(f"t{i}, " for i in range(len(self._handed.places)))
        has_tape, has_views = self._names["put_on_tape"], self._names["add_views"]
        if has_tape or has_views:
            self._lines += [f"returned = [{names}]", "moves = ()"]
        if has_tape:
            inputs = "".join(f"x{i}, " for i in range(len(self._examples)))
            self._lines.append(f"moves = put_on_tape(({inputs}), results, returned)")
        if has_views:
            self._lines += ["add_views(returned, moves)", f"{names}= returned"]

    def _act(self) -> bool:
        """Gather what the commit does, in order; return whether there is anything."""
        actions = ["*writes"] if self._writes else []
        for i, times, written in self._bumps:
            # Guards hold whether an input is an inference tensor, which has no counter.
            if self._examples[i]._counter is not INFERENCE:
                self._lines.append(f"v{i} = x{i}._counter or version_of(x{i})")
                actions.append(self._bumped(i, times, written))
        for i, place in self._handed.grads:
            grad = None if place is None else f"t{place}"
            actions.append(f"(setattr, x{i}, '_grad', {grad})")
        actions += [f"(setattr, x{i}, 'engine', e{i})" for i in self._states]
        if self._names["put_on_tape"]:
            actions.append("*actions_of_moves(moves)")
        if actions:
            self._lines.append(f"actions = ({', '.join(actions)},)")
        return bool(actions)

    def _bumped(self, index: int, times: int, place: Location | None) -> str:
        """Return the action that advances a counter, and says where that was."""
        number = f"v{index}[0] + {times}"
        if place is None:
            return f"(setitem, v{index}, 0, {number})"
        whole, known = self._constant(slice(None)), self._constant(place)
        return f"(setitem, v{index}, {whole}, ({number}, {known}))"


def _actions_of_moves(moves: Sequence[tuple[Tensor, Any]]) -> list[tuple[Any, ...]]:
    actions: list[tuple[Any, ...]] = []
    for base, position in moves:
        actions.append((setattr, base, "_node", position))
        actions.append((move_retained, base, base._node, position))
    return actions


def _laid_out(array: Any, strides: tuple[int, ...]) -> Any:
    """Return a copy of an array with the strides that eager mode gives."""
    order = sorted(range(array.ndim), key=lambda d: -strides[d])
    dense = np.empty([array.shape[d] for d in order], array.dtype)
    result = dense.transpose(np.argsort(order))
    np.copyto(result, array)
    return result
