"""One program of a captured function, and when and how it is run."""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from tracegrad.capture.memory import memory_pattern, share_memory
from tracegrad.capture.numbers import evaluate
from tracegrad.capture.outputs import (
    AliasOf,
    Bound,
    Fresh,
    InputItself,
    Number,
    ViewOf,
)
from tracegrad.capture.places import Places
from tracegrad.capture.session import Recording
from tracegrad.captured.entry import CapturedEntry, ReleasedEntry
from tracegrad.captured.guards import CompiledGuards, LeafGuard
from tracegrad.captured.leaf_guards import leaf_guard
from tracegrad.compiler import Compiled, DerivedProgram
from tracegrad.config import config
from tracegrad.dispatch.entry import INFERENCE, ResultEdge, SavedTensor
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.inplace import rebased
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.dispatch.tensor import Tensor, move_retained, version_of, wrap
from tracegrad.errors import CompileError
from tracegrad.ir.graph import Check, Graph, WriteState, WriteStorage


@final
class Left:
    """What a run gives when a check found another value: nothing has happened."""

    __slots__ = ("check",)

    def __init__(self, check: Check) -> None:
        self.check = check


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
        assert recording.places is not None
        self.graph: Graph = recording.graph
        self.compiled = compiled
        self.derived = derived
        self.mode = mode
        self.hits = 0
        outside = [leaf for leaf in recording.inputs if leaf.source is None]
        numbers = [LeafGuard(path, number=True) for path in recording.numbers]
        self.guards = CompiledGuards.compile(
            recording.reads.guards, [*map(leaf_guard, outside), *numbers]
        )
        self.check = self.guards.check
        self._run = compiled.executable
        self._handed = recording.places
        self._places = recording.places.places
        self._has_views = any(isinstance(p, AliasOf | ViewOf) for p in self._places)
        self._results = _unless_in_order(recording.places)
        self._build: Callable[[Sequence[Any]], Any] = recording.build
        # Where the program's inputs are among the leaves, or how they are computed.
        self._sources = [leaf.source for leaf in recording.inputs]
        self._outside = len(outside)
        self._has_numbers = bool(numbers)
        examples = [leaf.example for leaf in recording.inputs]
        self._tensors = [i for i, e in enumerate(examples) if isinstance(e, Tensor)]
        self._generators = [
            i for i, e in enumerate(examples) if isinstance(e, Generator)
        ]
        self._first_bound = len(compiled.graph.outputs)
        self._bumps = recording.bumps
        position = {leaf.value: i for i, leaf in enumerate(recording.inputs)}
        writes = self.graph.writes
        targets = [position[w.target] for w in writes if isinstance(w, WriteStorage)]
        # Whose memory the commit changes: that of the targets, by whatever name.
        self._written = frozenset(
            i
            for i in self._tensors
            for j in targets
            if share_memory(examples[i]._array, examples[j]._array)
        )
        self._states = [position[w.target] for w in writes if isinstance(w, WriteState)]
        self._tensor_leaves = [
            i for i, leaf in enumerate(outside) if isinstance(leaf.example, Tensor)
        ]
        self._pattern = _sharing([examples[i] for i in self._tensors])
        _refuse_lost_gradients(recording, derived)

    def matches(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...] | None:
        """Return the leaves if the call is one the program was made for."""
        leaves = self.check(function, args, kwargs)
        if leaves is None or not self._written:
            # Shared memory is nobody's business where nothing is written.
            return leaves
        tensors = [leaves[i] for i in self._tensor_leaves]
        return leaves if _sharing(tensors) == self._pattern else None

    def run(self, leaves: tuple[Any, ...]) -> Any:
        """Run the program, commit, and return what the user's function would.

        Everything that can fail happens before the commit.

        Returns
        -------
        object
            Or a `Left`, or `FAILED`.
        """
        numbers = leaves[self._outside :]
        if self._has_numbers:
            leaves = self._with_numbers(leaves, numbers)
        if not self._states:
            return self._run_alone(leaves, numbers)
        with contextlib.ExitStack() as stack:
            for i in self._states:
                stack.enter_context(leaves[i].lock)
            return self._run_alone(leaves, numbers)

    def _with_numbers(
        self, leaves: tuple[Any, ...], numbers: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Return the inputs: tensors and generators, and numbers computed in Python."""
        objects = iter(leaves[: self._outside])
        return tuple(
            next(objects) if source is None else evaluate(source, numbers)
            for source in self._sources
        )

    def _run_alone(self, leaves: tuple[Any, ...], numbers: tuple[Any, ...]) -> Any:
        arrays: list[Any] = list(leaves)
        for i in self._tensors:
            arrays[i] = leaves[i]._array
        for i in self._generators:
            arrays[i] = leaves[i].engine.clone() if i in self._states else None
        try:
            results, writes = self._run(arrays)
            if results is None:
                return Left(self.graph.checks[writes])
            actions = list(writes)
            returned = self._made(leaves, results, numbers)
            moves: list[tuple[Tensor, Any]] = []
            if self.derived is not None:
                moves = self._put_on_tape(self.derived, leaves, results, returned)
            if self._has_views:
                self._add_views(returned, moves)
        except Exception:
            if config.verify:
                raise
            return FAILED
        self._add_actions(actions, leaves, arrays, returned)
        for base, position in moves:
            actions.append((setattr, base, "_node", position))
            actions.append((move_retained, base, base._node, position))
        commit(actions)
        self.hits += 1
        if self._results is not None:
            returned = [returned[i] for i in self._results]
        return self._build(returned)

    def _add_actions(
        self,
        actions: list[Action],
        leaves: tuple[Any, ...],
        arrays: list[Any],
        returned: list[Any],
    ) -> None:
        for i, bumps in self._bumps:
            version = version_of(leaves[i])
            if version is not INFERENCE:
                actions.append((version.__setitem__, 0, version[0] + bumps))
        for i, place in self._handed.grads:
            grad = None if place is None else returned[place]
            actions.append((setattr, leaves[i], "_grad", grad))
        for i in self._states:
            actions.append((setattr, leaves[i], "engine", arrays[i]))

    def _put_on_tape(
        self,
        derived: DerivedProgram,
        leaves: tuple[Any, ...],
        results: tuple[Any, ...],
        returned: list[Any],
    ) -> list[tuple[Tensor, Any]]:
        """Make the call one entry of the tape.

        Returns
        -------
        list of (Tensor, Edge)
            The tensors from outside that the commit moves on the tape, and where to.
        """
        carrying = derived.derived.carrying
        saved: dict[int, SavedTensor] = {}
        for place, tensor in zip(self._places, returned, strict=True):
            if isinstance(place, Fresh) and not place.inference:
                saved[place.index] = _saved(tensor, 0)
        bumps = dict(self._bumps)
        for i, place in self._handed.moved:
            saved[place.index] = _saved(leaves[i], bumps.get(i, 0))
        computed = results[len(self.graph.outputs) :]
        entry = CapturedEntry(derived, leaves, self._written, saved, computed)

        def edge(index: int) -> Any:
            return _edge(entry, carrying, index)

        for place, tensor in zip(self._places, returned, strict=True):
            if isinstance(place, Fresh) and place.tape == "live":
                tensor._node = edge(place.index)
        moves = []
        for i, place in self._handed.moved:
            live = place.tape == "live"
            node = edge(place.index) if live else ReleasedEntry()
            moves.append(rebased(leaves[i], node))
        return moves

    def _made(
        self,
        leaves: tuple[Any, ...],
        results: tuple[Any, ...],
        numbers: tuple[Any, ...],
    ) -> list[Any]:
        """Return what is at each place, None for views and aliases."""
        taken = {k: results[i].item() for k, i in self._handed.takings.items()}
        made: list[Any] = []
        for place in self._places:
            if isinstance(place, Fresh):
                made.append(_fresh(place, results[place.index]))
            elif isinstance(place, Bound):
                array = results[self._first_bound + place.index]
                made.append(_fresh(Fresh(0, "", place.strides, place.version), array))
            elif isinstance(place, InputItself):
                made.append(leaves[place.index])
            elif isinstance(place, Number):
                made.append(evaluate(place.source, numbers, taken))
            else:
                made.append(None)
        return made

    def _add_views(
        self, returned: list[Any], moves: Sequence[tuple[Tensor, Any]]
    ) -> None:
        """Make the views and aliases, of bases where they will be on the tape."""
        before = [(base, base._node) for base, _ in moves]
        try:
            for base, position in moves:
                base._node = position
            self._replay_views(returned)
        finally:
            for base, position in before:
                base._node = position

    def _replay_views(self, returned: list[Any]) -> None:
        for index, place in enumerate(self._places):
            if isinstance(place, AliasOf):
                returned[index] = _alias(returned[place.of], place)
            elif isinstance(place, ViewOf):
                returned[index] = _view(returned[place.of], place)


def _alias(other: Tensor, place: AliasOf) -> Tensor:
    alias: Tensor = OpDef.apply(OPERATORS["detach"], (other,), {})
    if other._counter is INFERENCE:
        alias._counter = INFERENCE
    else:
        alias._counter = version_of(other) if place.shares_version else [place.version]
    return alias


def _view(base: Tensor, place: ViewOf) -> Tensor:
    before = set_grad_enabled(place.tracked)
    try:
        return _replayed(base, place.path)
    finally:
        set_grad_enabled(before)


def _fresh(place: Fresh, array: Any) -> Tensor:
    if place.strides is not None and array.strides != place.strides:
        array = _laid_out(array, place.strides)
    tensor = wrap(array)
    if place.inference:
        tensor._counter = INFERENCE
    elif place.version:
        tensor._counter = [place.version]
    if place.tape == "released":
        tensor._node = ReleasedEntry()
    return tensor


def _laid_out(array: Any, strides: tuple[int, ...]) -> Any:
    """Return a copy of an array with the strides that eager mode gives."""
    order = sorted(range(array.ndim), key=lambda d: -strides[d])
    dense = np.empty([array.shape[d] for d in order], array.dtype)
    result = dense.transpose(np.argsort(order))
    np.copyto(result, array)
    return result


def _replayed(base: Tensor, path: tuple[Any, ...]) -> Tensor:
    for step, attributes, index in path:
        found = OpDef.apply(step, (base,), attributes)
        base = found[index] if isinstance(found, tuple) else found
    return base


def _edge(entry: CapturedEntry, carrying: Sequence[int], index: int) -> Any:
    """Return the tape position of an output; None if no gradient reaches it."""
    if index not in carrying:
        return None
    if len(carrying) == 1:
        return entry
    return ResultEdge(entry, carrying.index(index))


def _saved(tensor: Tensor, bumps: int) -> SavedTensor:
    """Return what backward may find written since, as it will be after the commit."""
    saved = SavedTensor(tensor._array, None, version_of(tensor))
    saved.count += bumps
    return saved


def _sharing(tensors: Sequence[Tensor]) -> Any:
    """Return how tensors share memory, and version counters where they do."""
    pattern = memory_pattern([t._array for t in tensors])
    if not pattern:
        return pattern
    first: dict[int, int] = {}
    counters = [first.setdefault(id(version_of(t)), i) for i, t in enumerate(tensors)]
    return pattern, counters


def _unless_in_order(handed: Places) -> tuple[int, ...] | None:
    """Return the places of the results, None if they are all places in order."""
    in_order = handed.results == tuple(range(len(handed.places)))
    return None if in_order else handed.results


def _refuse_lost_gradients(
    recording: Recording, derived: DerivedProgram | None
) -> None:
    """Refuse a program whose derivative knows less than the tape of the call."""
    assert recording.places is not None
    carrying = () if derived is None else derived.derived.carrying
    for place in recording.places.places:
        live = isinstance(place, Fresh) and place.tape == "live"
        if live and place.index not in carrying:  # type: ignore[union-attr]
            raise CompileError("the derivative of a result was not found")
