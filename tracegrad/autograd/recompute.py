"""A part of the tape that is forgotten after forward and made again for backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

from tracegrad.autograd.engine import Pass
from tracegrad.dispatch.entry import (
    LeafEntry,
    Node,
    ResultEdge,
    flat_edges,
    next_sequence,
)
from tracegrad.dispatch.hooks import EntryHooks
from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.dispatch.tensor import Tensor, edge_of, version_of, wrap
from tracegrad.errors import CheckpointError, GradientError

# Entry and index of the result: what an edge leads to.
Place: TypeAlias = tuple[Any, int]


def _place_of(edge: Any) -> Place:
    if edge.__class__ is ResultEdge:
        return edge.entry, edge.index
    return edge, 0


def begin() -> int:
    """Return a number by which `collapse` knows what was put on the tape since."""
    return next_sequence()


def collapse(
    tensors: Sequence[Tensor], start: int, recompute: Callable[[], Sequence[Any]]
) -> list[Tensor]:
    """Return tensors whose part of the tape, since `start`, is one entry.

    Parameters
    ----------
    tensors : sequence of Tensor
        What forward gave.
    start : int
        What `begin` returned before forward.
    recompute : callable
        Runs forward again and returns the same tensors with their part of the tape.

    Returns
    -------
    list of Tensor
        Those that were put on the tape since are new objects over the same memory; in
        backward, `recompute` is called once, when the first cotangent arrives.
    """
    edges = [edge_of(tensor) for tensor in tensors]
    inner = [i for i, edge in enumerate(edges) if _is_inner(edge, start)]
    if not inner:
        return list(tensors)
    outside = _edges_outside([edges[i] for i in inner], start)
    entry = RecomputedEntry([tensors[i] for i in inner], inner, outside, recompute)
    results = list(tensors)
    for index, place in enumerate(inner):
        old = tensors[place]
        new = wrap(old._array)
        new._counter = version_of(old)
        new._node = ResultEdge(entry, index)
        results[place] = new
    return results


def _is_inner(edge: Any, start: int) -> bool:
    if edge is None:
        return False
    entry = _place_of(edge)[0]
    return entry.__class__ is not LeafEntry and entry.sequence > start


def _edges_outside(edges: Sequence[Any], start: int) -> list[Any]:
    """Return, once each, the edges that lead out of the part since `start`."""
    found: dict[Place, Any] = {}
    seen: set[Any] = set()
    pending = list(edges)
    while pending:
        edge = pending.pop()
        if not _is_inner(edge, start):
            found[_place_of(edge)] = edge
            continue
        entry = _place_of(edge)[0]
        if entry not in seen:
            seen.add(entry)
            pending.extend(e for e in flat_edges(entry) if e is not None)
    return list(found.values())


@final
class RecomputedEntry(Node):
    """One entry for all that forward did; pulling it runs forward again.

    Parameters
    ----------
    tensors : sequence of Tensor
        Those of forward's results that it is the entry of.
    indices : sequence of int
        Their places among the results.
    edges : sequence of Edge
        Where forward's tape began.
    recompute : callable
    """

    __slots__ = (
        "__weakref__",
        "_indices",
        "_recompute",
        "edges",
        "hooks",
        "result_specs",
        "sequence",
    )

    def __init__(
        self,
        tensors: Sequence[Tensor],
        indices: Sequence[int],
        edges: Sequence[Any],
        recompute: Callable[[], Sequence[Any]],
    ) -> None:
        self.edges = tuple(edges)
        self.hooks: EntryHooks | None = None
        self.sequence = next_sequence()
        self.result_specs = tuple((t._array.shape, t._array.dtype) for t in tensors)
        self._indices = tuple(indices)
        self._recompute: Callable[[], Sequence[Any]] | None = recompute

    def name(self) -> str:
        """Return the name that users see."""
        return "CheckpointFunctionBackward"

    def release(self) -> None:
        """Forget how to run forward again."""
        self._recompute = None

    def pull(
        self, ct: Any, create_graph: bool, needed: set[Any] | None
    ) -> list[tuple[Any, Tensor]]:
        """Run forward again, then backward to where its tape began."""
        if self._recompute is None:
            raise GradientError(
                f"{self.name()}: backward went through here already; pass "
                "retain_graph=True to the first backward"
            )
        before = set_grad_enabled(True)
        try:
            again = self._recompute()
        finally:
            set_grad_enabled(before)
        tensors = self._checked(again)
        given: list[tuple[Any, Tensor]] = [
            (edge_of(tensor), part)
            for tensor, part in zip(tensors, ct, strict=True)
            if part is not None
        ]
        run = _InnerPass(create_graph, self.edges)
        run.start([edge for edge, _ in given], [part for _, part in given])
        return [
            (edge, run.collected[_place_of(edge)])
            for edge in self.edges
            if _place_of(edge) in run.collected
        ]

    def _checked(self, again: Sequence[Any]) -> list[Tensor]:
        """Return what was computed again after a comparison with the first time."""
        tensors = [again[i] for i in self._indices if i < len(again)]
        specs = [(t._array.shape, t._array.dtype) for t in tensors]
        if specs != list(self.result_specs):
            raise CheckpointError(
                "checkpoint: forward gave other tensors when it was computed again: "
                f"{specs}, not {list(self.result_specs)}"
            )
        if any(edge_of(t) is None for t in tensors):
            raise CheckpointError(
                "checkpoint: what forward gave when it was computed again does not "
                "require grad"
            )
        return tensors


@final
class _InnerPass(Pass):
    """Backward through what was computed again, to its edges and no further."""

    __slots__ = ("collected", "outside")

    def __init__(self, create_graph: bool, edges: Sequence[Any]) -> None:
        super().__init__(create_graph, create_graph)
        self.outside = {_place_of(edge) for edge in edges}
        self.collected: dict[Place, Tensor] = {}

    def send(self, edge: Any, ct: Tensor) -> None:
        """Collect what would leave the part; pass on all else."""
        place = _place_of(edge)
        if place not in self.outside:
            super().send(edge, ct)
            return
        before = self.collected.get(place)
        self.collected[place] = ct if before is None else before + ct  # type: ignore[operator]
