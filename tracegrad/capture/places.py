"""Where a recorded call's results come from, and what else the call leaves behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from tracegrad.capture.memory import place_of, same_region
from tracegrad.capture.numbers import StandIn, takings_of
from tracegrad.capture.outputs import (
    AliasOf,
    Bound,
    CannotReturnError,
    Fresh,
    InputItself,
    Number,
    Place,
    ViewOf,
)
from tracegrad.capture.recorder import OperatorRecorder, UnknownTensorError
from tracegrad.capture.tape import base_of
from tracegrad.dispatch.entry import INFERENCE
from tracegrad.dispatch.storage import is_dense
from tracegrad.dispatch.tensor import Tensor, edge_of, version_of
from tracegrad.ir.graph import Value


@final
@dataclass(frozen=True, slots=True)
class Places:
    """All that a program hands out.

    Attributes
    ----------
    places : tuple of Place
        Each may refer to earlier ones.
    results : tuple of int
        For each part of the result its place.
    grads : tuple of (int, int or None)
        Which inputs' ``.grad`` is bound, and to the tensor at which place.
    moved : tuple of (int, Fresh)
        Which inputs have another tape position, and the output that is their value
        now.
    outputs : tuple of Value
        Of the graph.
    takings : dict of int to int
        For a taking its output.
    """

    places: tuple[Place, ...]
    results: tuple[int, ...]
    grads: tuple[tuple[int, int | None], ...]
    moved: tuple[tuple[int, Fresh], ...]
    outputs: tuple[Value, ...]
    takings: dict[int, int]

    @property
    def is_differentiable(self) -> bool:
        """Whether backward can go through the call."""
        places = [*self.places, *(place for _, place in self.moved)]
        return any(isinstance(p, Fresh) and p.tape == "live" for p in places)


def placed(
    parts: Sequence[Any],
    operators: OperatorRecorder,
    takings: Sequence[tuple[Value, Any, Any]],
) -> Places:
    """Return where the parts of a result, bound gradients and writes come from.

    Raises
    ------
    CannotReturnError, UnknownTensorError
        If a program can't make one of them again.
    """
    placer = _Placer(operators, takings)
    bound = [
        (tensor, grad)
        for tensor, grad in operators.grads.values()
        if id(tensor) in placer.index_of
    ]
    given = [grad for _, grad in bound if grad is not None]
    placer.bound = {id(grad): index for index, grad in enumerate(given)}
    everything = [*parts, *given]
    placer.count(everything)
    # What carries gradient comes first, so that aliases without follow it.
    for part in sorted(everything, key=_without_gradient):
        placer.place(part)
    moved = tuple(placer.moved(v, t) for v, t in operators.moved_inputs())
    grads = tuple(
        (placer.index_of[id(t)], None if g is None else placer.place(g))
        for t, g in bound
    )
    return Places(
        tuple(placer.places),
        tuple(map(placer.place, parts)),
        grads,
        moved,
        tuple(placer.outputs),
        placer.takings,
    )


def _without_gradient(part: Any) -> bool:
    return not isinstance(part, Tensor) or edge_of(part) is None


@final
class _Placer:
    def __init__(
        self,
        operators: OperatorRecorder,
        takings: Sequence[tuple[Value, Any, Any]],
    ) -> None:
        self.operators = operators
        self.index_of = {id(o): i for i, (_, o) in enumerate(operators.inputs)}
        self.places: list[Place] = []
        self.outputs: list[Value] = []
        self.takings: dict[int, int] = {}
        # Which gradient that is bound a tensor is.
        self.bound: dict[int, int] = {}
        self._taken = takings
        self._place_of: dict[int, int] = {}
        # Tensors that are no views and have a place, by storage.
        self._bases: dict[int, list[tuple[Tensor, int]]] = {}
        # How many of the tensors asked for lie in a storage.
        self._sharers: Counter[int] = Counter()
        # Those asked for are kept, so that their identities stay theirs.
        self._kept: list[Any] = []

    def count(self, parts: Sequence[Any]) -> None:
        """Count the tensors of each storage."""
        different = {id(p): p for p in parts if isinstance(p, Tensor)}
        storages = map(self.operators.storage_of, different.values())
        self._sharers.update(map(id, storages))

    def place(self, part: Any) -> int:
        """Return the place of a part, made when first asked for."""
        found = self._place_of.get(id(part))
        if found is None:
            place = self._new(part)
            found = len(self.places)
            self.places.append(place)
            self._place_of[id(part)] = found
            self._kept.append(part)
            if isinstance(part, Tensor) and part._view is None:
                key = id(self.operators.storage_of(part))
                self._bases.setdefault(key, []).append((part, found))
        return found

    def _new(self, part: Any) -> Place:
        if isinstance(part, StandIn):
            return self._number(part)
        if id(part) in self.index_of:
            return InputItself(self.index_of[id(part)])
        if self.operators.storage_of(part) is None:
            raise UnknownTensorError("a result that came from outside unseen")
        if type(part) is not Tensor:
            raise CannotReturnError(f"it returns a new {type(part).__name__}")
        if part.__dict__ or part._grad is not None:
            raise CannotReturnError("it returns a new tensor with attributes")
        if part._view is not None:
            return self._view(part)
        return self._base(part)

    def _base(self, part: Tensor) -> Place:
        """Return the place of a tensor that is no view."""
        storage = self.operators.storage_of(part)
        assert storage is not None
        if storage.input is not None:
            for _, tensor in self.operators.inputs:
                if isinstance(tensor, Tensor) and _same_array(tensor, part):
                    return self._alias(part, tensor, self.place(tensor))
            raise CannotReturnError("memory of an input in another form")
        for other, place in self._bases.get(id(storage), ()):
            if _same_array(other, part):
                return self._alias(part, other, place)
            raise CannotReturnError("two results that share memory in an unusual way")
        return self._fresh(part)

    def _number(self, number: StandIn) -> Place:
        for index in takings_of(number.source):
            if index not in self.takings:
                self.takings[index] = len(self.outputs)
                self.outputs.append(self.operators.detached(self._taken[index][0]))
        return Number(number.source)

    def _alias(self, part: Tensor, other: Tensor, place: int) -> Place:
        if edge_of(part) is not None:
            raise CannotReturnError("an alias of another tensor that carries gradient")
        inference = part._counter is INFERENCE
        if inference != (other._counter is INFERENCE):
            raise CannotReturnError("an inference tensor that is an alias of another")
        version = 0 if inference else version_of(part)[0]
        return AliasOf(place, version_of(part) is version_of(other), version)

    def _view(self, part: Tensor) -> Place:
        view = part._view
        assert view is not None
        tracked = edge_of(part) is not None
        for _, tensor in self.operators.inputs:
            # The nearest input that it is a view of.
            if isinstance(tensor, Tensor) and (path := _rest(part, tensor)) is not None:
                self._refuse_odd(part, tensor, tracked)
                return ViewOf(self.place(tensor), path, view.origin != "no_grad")
        base = view.base
        if self.operators.is_outside(base):
            raise CannotReturnError("a view of a tensor from outside that is no input")
        if self._stands_alone(part, view.origin, tracked):
            return self._fresh(part)
        self._refuse_odd(part, base, tracked)
        return ViewOf(self.place(base), view.path, view.origin != "no_grad")

    def _stands_alone(self, part: Tensor, origin: str, tracked: bool) -> bool:
        """Return whether nobody can see the memory that `part` is a view of."""
        storage = self.operators.storage_of(part)
        assert storage is not None
        # A composite with a derivative of its own runs without gradients inside.
        usual = not origin or (origin == "no_grad" and tracked)
        alone = storage.input is None and self._sharers[id(storage)] == 1
        return usual and alone and is_dense(part._array)

    def _refuse_odd(self, part: Tensor, base: Tensor, tracked: bool) -> None:
        """Refuse a view whose gradient its path does not explain."""
        own = edge_of(base) is not None and part._view.origin != "no_grad"  # type: ignore[union-attr]
        if tracked != own and part.dtype.kind in ("float", "complex"):
            raise CannotReturnError("a view with a gradient of its own")
        if part._counter is INFERENCE:
            raise CannotReturnError("a view that is an inference tensor")

    def _fresh(self, part: Tensor) -> Place:
        inference = part._counter is INFERENCE
        version = 0 if inference else version_of(part)[0]
        tape = self.operators.tape.state_of(part)
        strides = part._array.strides if is_dense(part._array) else None
        if id(part) in self.bound and not tape and not inference:
            return Bound(self.bound[id(part)], strides, version)
        self.outputs.append(self.operators.value_of(part))
        return Fresh(len(self.outputs) - 1, tape, strides, version, inference)

    def moved(self, value: Value, tensor: Tensor) -> tuple[int, Fresh]:
        """Return the output that gives a written input its tape position."""
        base = base_of(tensor)
        tape = self.operators.tape.state_of(base)
        if base is not tensor and tape == "live":
            tape = self.operators.tape.state_of(tensor)
        self.outputs.append(self.operators.storage_written(value).value)
        return self.index_of[id(tensor)], Fresh(len(self.outputs) - 1, tape)


def _same_array(a: Tensor, b: Tensor) -> bool:
    return same_region(place_of(a._array, 0), place_of(b._array, 0))


def _rest(part: Tensor, tensor: Tensor) -> tuple[Any, ...] | None:
    """Return the path from an input to a view, or None if it is no view of that."""
    view = part._view
    assert view is not None
    start: tuple[Any, ...] = ()
    if tensor._view is not None:
        start = tensor._view.path
    if view.base is not base_of(tensor) or len(view.path) <= len(start):
        return None
    return view.path[len(start) :] if view.path[: len(start)] == start else None
