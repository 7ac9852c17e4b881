"""One program of a captured function, and when and how it is run."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, final

from tracegrad.capture.memory import memory_pattern, share_memory
from tracegrad.capture.outputs import (
    AliasOf,
    Fresh,
    ViewOf,
)
from tracegrad.capture.session import Recording
from tracegrad.captured.entry import CapturedEntry, ReleasedEntry
from tracegrad.captured.guards import CompiledGuards, LeafGuard
from tracegrad.captured.leaf_guards import leaf_guard
from tracegrad.captured.runner import RunWriter
from tracegrad.compiler import Compiled, DerivedProgram
from tracegrad.dispatch.entry import INFERENCE, ResultEdge, SavedTensor
from tracegrad.dispatch.inplace import rebased
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.dispatch.tensor import Tensor, version_of
from tracegrad.errors import CompileError
from tracegrad.ir.graph import Graph, WriteState, WriteStorage


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
    run_source : str
        The text of what runs the program.
    matches : callable
        ``matches(function, args, kwargs)``: the leaves if the call is one the program
        was made for, else None.
    run : callable
        ``run(leaves)`` runs the program, commits, and returns what the user's function
        would; or a `Left`, or `FAILED`. All that can fail comes before the commit.
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
        self._handed = recording.places
        self._places = recording.places.places
        examples = [leaf.example for leaf in recording.inputs]
        self._tensors = [i for i, e in enumerate(examples) if isinstance(e, Tensor)]
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
        states = [position[w.target] for w in writes if isinstance(w, WriteState)]
        # Where the generators are among the leaves, which have no computed numbers.
        place = {id(leaf): i for i, leaf in enumerate(outside)}
        self._drawn_from = [place[id(recording.inputs[i])] for i in states]
        self._tensor_leaves = [
            i for i, leaf in enumerate(outside) if isinstance(leaf.example, Tensor)
        ]
        self._pattern = _sharing([examples[i] for i in self._tensors])
        numbers = [LeafGuard(path, number=True) for path in recording.numbers]
        # Inputs may come to share memory where nothing is written.
        apart = bool(self._written) and not self._pattern
        # Where they did, the graph may take what it reads of one from another.
        shares = bool(self._pattern)
        self.guards = CompiledGuards.compile(
            recording.reads.guards, [*map(leaf_guard, outside), *numbers], apart=apart
        )
        self.check = self.guards.check
        has_views = any(isinstance(p, AliasOf | ViewOf) for p in self._places)
        self.run_source, self._run = RunWriter(
            recording,
            compiled,
            states,
            None if derived is None else self._put_on_tape,
            self._add_views if has_views else None,
        ).compile()
        # Without a frame between, where there is nothing to do.
        self.matches = self._with_same_sharing if shares else self.check
        self.run = self._locked if states else self._run
        _refuse_lost_gradients(recording, derived)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{v.name}: {v.spec}" for v in self.graph.inputs)
        return (
            f"<specialization {self.graph.name}({inputs}): "
            f"{len(self.graph.nodes)} operators, {self.guards.count} guards, "
            f"{self.hits} hits>"
        )

    def _with_same_sharing(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...] | None:
        leaves = self.check(function, args, kwargs)
        if leaves is None:
            return None
        tensors = [leaves[i] for i in self._tensor_leaves]
        return leaves if _sharing(tensors) == self._pattern else None

    def _locked(self, leaves: tuple[Any, ...]) -> Any:
        with contextlib.ExitStack() as stack:
            for i in self._drawn_from:
                stack.enter_context(leaves[i].lock)
            return self._run(leaves)

    def _put_on_tape(
        self,
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
        derived = self.derived
        assert derived is not None
        carrying = derived.derived.carrying
        saved: dict[int, SavedTensor] = {}
        for place, tensor in zip(self._places, returned, strict=True):
            if isinstance(place, Fresh) and not place.inference:
                saved[place.index] = _saved(tensor, 0)
        bumps = {bump.which: bump.times for bump in self._bumps}
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
