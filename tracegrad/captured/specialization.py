"""One program of a captured function, and when and how it is run."""

from __future__ import annotations

import itertools
import operator
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from tracegrad.capture.memory import memory_pattern
from tracegrad.capture.numbers import evaluate
from tracegrad.capture.outputs import (
    Fresh,
    InputItself,
    InputView,
    Place,
    ResultView,
    Same,
)
from tracegrad.capture.session import LeafInput, Recording
from tracegrad.captured.entry import CapturedEntry, ReleasedEntry
from tracegrad.captured.guards import CompiledGuards, LeafGuard
from tracegrad.compiler import Compiled, DerivedProgram
from tracegrad.config import config
from tracegrad.dispatch.entry import LeafEntry, ResultEdge
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor, edge_of, version_of, wrap
from tracegrad.ir.graph import BindGrad, Graph, WriteState, WriteStorage
from tracegrad.spec import TensorSpec

LEFT: Any = object()
"""What a run gives when a check found another value: nothing has happened."""

FAILED: Any = object()
"""What a run gives when an operator raised: nothing has happened."""

# A write that takes place at the commit: a function and its arguments.
Action = tuple[Any, ...]

_call = operator.call
_starmap = itertools.starmap


def commit(actions: Sequence[Action]) -> None:
    """Carry out all writes in one go.

    One call in C: no signal handler of Python can run between two of them, so that an
    interrupt sees all or nothing.
    """
    deque(_starmap(_call, actions), 0)


def _tensor_guard(leaf: LeafInput) -> LeafGuard:
    tensor = leaf.example
    array = tensor._array
    tracked = edge_of(tensor) is not None
    parts = [
        "{x}.__class__ is {0}",
        "({x}._array.dtype is {1} or {x}._array.dtype == {1})",
        "{x}._array.shape == {2}",
        "{x}._array.strides == {3}",
    ]
    constants: list[Any] = [type(tensor), array.dtype, array.shape, array.strides]
    if tensor._view is None:
        parts += ["{x}._view is None", f"({{x}}._node is not None) is {tracked}"]
    else:
        parts.append(f"({{4}}({{x}}) is not None) is {tracked}")
        constants.append(edge_of)
    if edge_of(tensor).__class__ is LeafEntry:
        # Programs run no hooks; a call that recorded some ran eagerly.
        parts.append(f"{{{len(constants)}}}({{x}})")
        constants.append(_has_no_hooks)
    return LeafGuard(
        leaf.path, " and ".join(parts), tuple(constants), _described(tensor), _described
    )


def _has_no_hooks(leaf: Tensor) -> bool:
    entry = edge_of(leaf)
    return isinstance(entry, LeafEntry) and entry.hooks is None


def _described(value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"of type {type(value).__name__}"
    text = f"{value.dtype.name}{list(value.shape)}"
    if not value.is_contiguous():
        text += f" with strides {list(value.stride())}"
    return text + (" that requires grad" if value.requires_grad else "")


def _leaf_guard(leaf: LeafInput) -> LeafGuard:
    if isinstance(leaf.example, Tensor):
        return _tensor_guard(leaf)
    return LeafGuard(leaf.path, "{x}.__class__ is {0}", (type(leaf.example),))


@final
class Specialization:
    """Guards, and the program that may run where they hold.

    Attributes
    ----------
    graph : Graph
        As captured.
    compiled : Compiled
    guards : CompiledGuards
    hits : int
        How many calls it served.
    """

    def __init__(
        self,
        recording: Recording,
        compiled: Compiled,
        derived: DerivedProgram | None,
        mode: tuple[Any, ...],
    ) -> None:
        assert recording.graph is not None
        self.graph: Graph = recording.graph
        self.compiled = compiled
        self.derived = derived
        self.mode = mode
        self.hits = 0
        outside = [leaf for leaf in recording.inputs if leaf.source is None]
        numbers = [LeafGuard(path, number=True) for path in recording.numbers]
        self.guards = CompiledGuards.compile(
            recording.reads.guards, [*map(_leaf_guard, outside), *numbers]
        )
        self.check = self.guards.check
        self._run = compiled.executable
        self._places = recording.places
        self._build: Callable[[Sequence[Any]], Any] = recording.build
        # Where the program's inputs are among the leaves, or how they are computed.
        self._sources = [leaf.source for leaf in recording.inputs]
        self._layouts = _layouts(self.graph, recording.places)
        self._outside = len(outside)
        self._numbers = bool(numbers)
        examples = [leaf.example for leaf in recording.inputs]
        self._tensors = [i for i, e in enumerate(examples) if isinstance(e, Tensor)]
        self._generators = [
            i for i, e in enumerate(examples) if isinstance(e, Generator)
        ]
        self._pattern = memory_pattern([examples[i]._array for i in self._tensors])
        self._position = {leaf.value: i for i, leaf in enumerate(recording.inputs)}
        writes = self.graph.writes
        self._bumps = [
            (self._position[w.target], w.bumps)
            for w in writes
            if isinstance(w, WriteStorage)
        ]
        self._grads = [w for w in writes if isinstance(w, BindGrad)]
        self._states = {
            self._position[w.target] for w in writes if isinstance(w, WriteState)
        }

    def matches(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...] | None:
        """Return the program's inputs if the call is one it was made for."""
        leaves = self.check(function, args, kwargs)
        if leaves is None:
            return None
        if self._numbers:
            leaves = self._with_numbers(leaves)
        arrays = [leaves[i]._array for i in self._tensors]
        if memory_pattern(arrays) != self._pattern:
            return None
        return leaves

    def _with_numbers(self, leaves: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs: tensors and generators, and numbers computed in Python."""
        objects = iter(leaves[: self._outside])
        numbers = leaves[self._outside :]
        return tuple(
            next(objects) if source is None else evaluate(source, numbers)
            for source in self._sources
        )

    def run(self, leaves: tuple[Any, ...]) -> Any:
        """Run the program, commit, and return what the user's function would.

        Everything that can fail happens before the commit.
        """
        arrays: list[Any] = list(leaves)
        for i in self._tensors:
            arrays[i] = leaves[i]._array
        for i in self._generators:
            arrays[i] = leaves[i].engine.clone() if i in self._states else None
        try:
            results, writes = self._run(arrays)
        except Exception:
            if config.verify:
                raise
            return FAILED
        if results is None:
            return LEFT
        returned = self._returned(leaves, results)
        if self.derived is not None:
            self._put_on_tape(self.derived, leaves, results, returned)
        actions = list(writes)
        self._add_actions(actions, leaves, arrays, results, returned)
        commit(actions)
        self.hits += 1
        return self._build(returned)

    def _add_actions(
        self,
        actions: list[Action],
        leaves: tuple[Any, ...],
        arrays: list[Any],
        results: tuple[Any, ...],
        returned: list[Any],
    ) -> None:
        for i, bumps in self._bumps:
            version = version_of(leaves[i])
            actions.append((version.__setitem__, 0, version[0] + bumps))
        place = len(self.compiled.graph.outputs)
        for bind in self._grads:
            grad = None
            if bind.value is not None:
                grad = wrap(results[place])
                place += 1
            actions.append(
                (setattr, leaves[self._position[bind.target]], "_grad", grad)
            )
        for i in self._states:
            actions.append((setattr, leaves[i], "engine", arrays[i]))

    def _put_on_tape(
        self,
        derived: DerivedProgram,
        leaves: tuple[Any, ...],
        results: tuple[Any, ...],
        returned: list[Any],
    ) -> None:
        """Make the call one entry of the tape."""
        count = len(self.graph.outputs)
        entry = CapturedEntry(derived, leaves, results[count:])
        carrying = derived.derived.carrying
        for place, tensor in zip(self._places, returned, strict=True):
            if not isinstance(place, Fresh) or place.tape != "live":
                continue
            if len(carrying) == 1:
                tensor._node = entry
            else:
                tensor._node = ResultEdge(entry, carrying.index(place.index))

    def _returned(self, leaves: tuple[Any, ...], results: tuple[Any, ...]) -> list[Any]:
        returned: list[Any] = []
        for place in self._places:
            returned.append(self._one(place, leaves, results, returned))
        return returned

    def _one(
        self,
        place: Place,
        leaves: tuple[Any, ...],
        results: tuple[Any, ...],
        returned: list[Any],
    ) -> Any:
        if isinstance(place, Fresh):
            array = results[place.index]
            layout = self._layouts.get(place.index)
            tensor = wrap(array if layout is None else _laid_out(array, layout))
            if place.tape == "released":
                tensor._node = ReleasedEntry()
            return tensor
        if isinstance(place, InputItself):
            return leaves[place.index]
        if isinstance(place, Same):
            return returned[place.of]
        if isinstance(place, ResultView):
            return _replayed(returned[place.of], place.path)
        assert isinstance(place, InputView)
        if not place.path:
            return OpDef.apply(OPERATORS["detach"], (leaves[place.index],), {})
        return _replayed(leaves[place.index], place.path)


def _layouts(graph: Graph, places: Sequence[Place]) -> dict[int, tuple[int, ...]]:
    """Return for new results that eager mode does not lay out in rows their axes.

    The axes come with the largest stride first. Programs compute in rows.
    """
    found = {}
    for index in (place.index for place in places if isinstance(place, Fresh)):
        spec = graph.outputs[index].spec
        if isinstance(spec, TensorSpec) and not spec.is_contiguous():
            strides = [int(stride) for stride in spec.strides]
            axes = sorted(range(len(strides)), key=lambda i: -strides[i])
            found[index] = tuple(axes)
    return found


def _laid_out(array: Any, axes: tuple[int, ...]) -> Any:
    """Return the array's values with the axes in this order in memory."""
    return np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes))


def _replayed(base: Tensor, path: tuple[Any, ...]) -> Tensor:
    for step, attributes, index in path:
        found = OpDef.apply(step, (base,), attributes)
        base = found[index] if isinstance(found, tuple) else found
    return base
