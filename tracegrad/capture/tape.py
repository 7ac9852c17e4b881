"""What a recording finds on the tape: its own entries, and what lies outside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from tracegrad.capture.outputs import CannotReturnError
from tracegrad.dispatch.entry import (
    INFERENCE,
    LeafEntry,
    ResultEdge,
    TapeEntry,
    flat_edges,
    next_sequence,
)
from tracegrad.dispatch.tensor import Tensor, edge_of
from tracegrad.dtypes import from_numpy_dtype
from tracegrad.spec import TensorSpec


def base_of(tensor: Tensor) -> Tensor:
    """Return the tensor whose tape position a write to `tensor` moves."""
    return tensor if tensor._view is None else tensor._view.base


class Standing(NamedTuple):
    """What of a tensor from outside, besides its values, a program depends on.

    Attributes
    ----------
    kind : type
    form : tuple
        dtype, shape and strides.
    inference : bool
    tape : str
        ``""``, ``leaf`` or ``inner``.
    hooked : bool
        Whether the leaf has anything attached to it.
    view : tuple or None
        For a view what `view_standing` says.
    memory : type
        The class of its array: which device it is on.
    """

    kind: type
    form: tuple[Any, ...]
    inference: bool
    tape: str
    hooked: bool
    view: tuple[Any, ...] | None
    memory: type

    def __str__(self) -> str:
        dtype, shape, steps = self.form
        strides = tuple(step // dtype.itemsize for step in steps)
        text = f"{from_numpy_dtype(dtype).name}{list(shape)}"
        if self.kind is not Tensor and self.kind.__name__ != "Parameter":
            text = f"{self.kind.__name__} {text}"
        if not TensorSpec(from_numpy_dtype(dtype), shape, strides).is_contiguous():
            text += f" with strides {list(strides)}"
        if self.memory is not np.ndarray:
            text += " on another device than the CPU"
        text += {"": "", "leaf": " that requires grad", "inner": " with gradient"}[
            self.tape
        ]
        text += ", hooked" if self.hooked else ""
        text += ", an inference tensor" if self.inference else ""
        return text + (", a view" if self.view is not None else "")


_OF_TAPE = {"": "", "leaf": " that requires grad", "inner": " with gradient"}


def standing_of(tensor: Tensor) -> Standing:
    """Return how a tensor stands now."""
    array = tensor._array
    edge = edge_of(tensor)
    leaf = edge.__class__ is LeafEntry
    return Standing(
        type(tensor),
        (array.dtype, array.shape, array.strides),
        tensor._counter is INFERENCE,
        "" if edge is None else "leaf" if leaf else "inner",
        leaf and edge.hooks is not None,  # type: ignore[union-attr]
        None if tensor._view is None else view_standing(tensor),
        array.__class__,
    )


def view_standing(tensor: Tensor) -> tuple[Any, ...]:
    """Return what of a view, and of its base, decides what may be done with it."""
    view = tensor._view
    if view is None:
        return ()
    edge, base = edge_of(tensor), view.base._node
    return (
        edge is not None,
        edge.__class__ is LeafEntry,
        view.origin,
        base is not None,
        base.__class__ is LeafEntry,
    )


@final
class TapeWatch:
    """The tape before and after a recording.

    Attributes
    ----------
    began : int
        Entries from this sequence number on are the recording's own.
    hooked : bool
        Whether the function put a hook on a tensor, or retained a gradient.
    standings : dict of int to Standing
        Of the tensors from outside, by identity, as they were.
    """

    def __init__(self) -> None:
        self.began = next_sequence()
        self.hooked = False
        self.standings: dict[int, Standing] = {}
        self._before: dict[int, tuple[Tensor, Any]] = {}
        self._inputs: set[int] = set()

    def enter(self, tensor: Tensor) -> None:
        """Note where a tensor from outside is on the tape."""
        self.standings[id(tensor)] = standing_of(tensor)
        edge = edge_of(tensor)
        base = base_of(tensor)
        self._before[id(tensor)] = base, base._node
        for position in (edge, base._node):
            if position is not None:
                self._inputs.add(id(_entry(position)))

    def refuse_outside(self, tensor: Tensor) -> None:
        """Refuse a leaf that got a gradient though the call did not take it in.

        Raises
        ------
        CannotReturnError
            If it was there before the call.
        """
        entry = tensor._node
        if entry.__class__ is LeafEntry and entry.sequence < self.began:  # type: ignore[union-attr]
            raise CannotReturnError("a tensor from outside got a gradient unseen")

    def moved(self, tensor: Tensor) -> bool:
        """Return whether writes gave a tensor from outside a new tape position."""
        base, node = self._before[id(tensor)]
        return base._node is not node

    def why_no_backward(
        self, edges: Sequence[Any], needed: set[Any] | None
    ) -> str | None:
        """Return why a backward pass that starts at `edges` can't be recorded."""
        for entry in _reached(edges, needed):
            outside = entry.sequence < self.began
            if outside and entry.__class__ is not LeafEntry:
                return "backward goes through operators that ran before the call"
            hooks = entry.hooks
            if outside and hooks is not None and _any_hooks(hooks):
                return "backward runs hooks of a tensor from outside"
            if not _is_known(entry):
                return f"backward runs the user's {entry.name()}"
        return None

    def state_of(self, tensor: Tensor) -> str:
        """Return whether a result is on the tape, and whether that was released.

        Raises
        ------
        CannotReturnError
            If its history is not one that a program's entry can stand for.
        """
        edge = edge_of(tensor)
        if edge is None:
            return ""
        if self.hooked:
            raise CannotReturnError(
                "hooks or retained gradients made inside act on what is returned"
            )
        stale = False
        for entry in self._history(edge):
            saved = getattr(entry, "saved", ())
            if saved is None:
                return "released"
            stale = stale or _is_stale(saved)
            if entry.__class__ is LeafEntry:
                raise CannotReturnError(
                    "gradients flow to a tensor with requires_grad made in the function"
                )
            if not _is_known(entry):
                raise CannotReturnError(f"its gradient is the user's {entry.name()}")
        if stale:
            raise CannotReturnError(
                "a tensor that its backward needs was written in place since"
            )
        return "live"

    def _history(self, edge: Any) -> Iterator[Any]:
        """Iterate over the recording's entries that lead to `edge`."""
        pending = [_entry(edge)]
        seen: set[int] = set()
        while pending:
            entry = pending.pop()
            if id(entry) in seen or id(entry) in self._inputs:
                continue
            seen.add(id(entry))
            if entry.sequence < self.began and entry.__class__ is not LeafEntry:
                raise CannotReturnError(
                    "gradients flow to what came from outside unseen"
                )
            yield entry
            pending.extend(_entry(e) for e in flat_edges(entry) if e is not None)


def _is_known(entry: Any) -> bool:
    """Return whether graphs know the derivative that an entry stands for."""
    known = entry.__class__ in (TapeEntry, LeafEntry)
    return known or getattr(entry, "is_recordable", False)


def _entry(edge: Any) -> Any:
    return edge.entry if edge.__class__ is ResultEdge else edge


def _reached(edges: Iterable[Any], needed: set[Any] | None) -> Iterator[Any]:
    pending = [_entry(edge) for edge in edges]
    seen: set[int] = set()
    while pending:
        entry = pending.pop()
        if id(entry) in seen or (needed is not None and entry not in needed):
            continue
        seen.add(id(entry))
        yield entry
        pending.extend(_entry(e) for e in flat_edges(entry) if e is not None)


def _any_hooks(hooks: Any) -> bool:
    return bool(
        hooks.tensor
        or hooks.before
        or hooks.after
        or hooks.accumulated
        or hooks.retained
    )


def _is_stale(saved: Any) -> bool:
    """Return whether something saved was written since."""
    if saved.__class__ in (tuple, list):
        return any(map(_is_stale, saved))
    version = getattr(saved, "version", None)
    return version is not None and version[0] != saved.count
