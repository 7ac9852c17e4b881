"""The engine: cotangents flow back along the tape, later entries first.

An entry always has a higher sequence number than those its cotangents go to, so a
heap by sequence visits each entry after all its users, without recursion and
without counting users first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.autograd.anomaly import check_finite, note_forward_line
from tracegrad.device import run_quietly
from tracegrad.dispatch.entry import (
    Edge,
    KeptTensor,
    LeafEntry,
    Node,
    PairEntry,
    ResultEdge,
    SavedTensor,
    TapeEntry,
    flat_edges,
)
from tracegrad.dispatch.inplace import apply_inplace
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.state import (
    install_autocast,
    installed,
    set_grad_enabled,
    thread,
)
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.errors import GradientError
from tracegrad.ops.shaping import fit

_ndarray = np.ndarray


class Pass:
    """One backward pass: what has arrived where.

    A subclass may send cotangents elsewhere.

    Attributes
    ----------
    arrived : dict
        Cotangents by entry: one Tensor, or a list with a place for each result.
    shared : set of int
        Identities of cotangents that somebody else may hold too.
    summed : dict
        Sums that this pass has made, by entry: nobody else holds them yet, so more
        can be added in place.
    fills : bool
        Whether leaves fill their ``.grad``.
    capture : set or None
        Entries whose cotangents the caller wants, kept in `captured`.
    needed : set or None
        The entries from which a cotangent can reach those.
    """

    __slots__ = (
        "arrived",
        "capture",
        "captured",
        "create_graph",
        "fills",
        "heap",
        "needed",
        "retain_graph",
        "shared",
        "summed",
    )

    def __init__(self, retain_graph: bool, create_graph: bool) -> None:
        self.arrived: dict[Any, Any] = {}
        self.heap: list[tuple[int, Any]] = []
        self.shared: set[int] = set()
        self.summed: dict[Any, Tensor] = {}
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.fills = True
        self.capture: set[Any] | None = None
        self.captured: dict[Any, Tensor] = {}
        self.needed: set[Any] | None = None

    def start(self, edges: Sequence[Edge], cts: Sequence[Tensor]) -> None:
        """Send the first cotangents and visit entries until nothing is left."""
        if thread.recorder is not None:
            thread.recorder.backward(edges, self.needed)
        before = set_grad_enabled(self.create_graph)
        # Cotangents have the dtypes that forward chose; nothing is left to choose.
        autocast = install_autocast(None)
        try:
            for edge, ct in zip(edges, cts, strict=True):
                self.shared.add(id(ct))
                self.send(edge, ct)
            self._run()
        finally:
            install_autocast(autocast)
            set_grad_enabled(before)

    # -- cotangents on their way --------------------------------------------------

    def send(self, edge: Edge, ct: Tensor) -> None:
        """Add a cotangent to what has arrived at `edge`."""
        if edge.__class__ is ResultEdge:
            self._send_result(edge, ct)
            return
        arrived = self.arrived
        before = arrived.get(edge)
        if before is not None:
            arrived[edge] = self._sum(edge, before, ct)
        elif self.needed is None or edge in self.needed:
            arrived[edge] = ct
            heapq.heappush(self.heap, (-edge.sequence, edge))  # type: ignore[union-attr]

    def _send_result(self, edge: Any, ct: Tensor) -> None:
        entry, index = edge.entry, edge.index
        places = self.arrived.get(entry)
        if places is None:
            if self.needed is not None and entry not in self.needed:
                return
            places = self.arrived[entry] = [None] * len(entry.result_specs)
            heapq.heappush(self.heap, (-entry.sequence, entry))
        before = places[index]
        places[index] = ct if before is None else before + ct

    def _sum(self, edge: Any, before: Tensor, ct: Tensor) -> Tensor:
        if self.summed.get(edge) is before and not installed.busy:
            a, b = before._array, ct._array
            if a.__class__ is _ndarray and b.__class__ is _ndarray:
                run_quietly(np.add, a, b, a)
                return before
        total: Tensor = before + ct  # type: ignore[operator]
        if not self.create_graph:
            self.summed[edge] = total
        return total

    # -- visiting entries ---------------------------------------------------------

    def _run(self) -> None:
        heap, arrived = self.heap, self.arrived
        while heap:
            entry = heapq.heappop(heap)[1]
            ct = arrived.pop(entry)
            if entry.hooks is not None or self.capture is not None:
                ct = self._seen(entry, ct)
            if entry.__class__ is not LeafEntry:
                if self.needed is None or self._leads_on(entry):
                    self._visit(entry, ct)
            elif self.fills:
                self._accumulate(entry, ct)

    def _leads_on(self, entry: Any) -> bool:
        """Return whether a gradient that is wanted lies behind an entry."""
        needed: Any = self.needed
        return any(e is not None and is_wanted(e, needed) for e in flat_edges(entry))

    def _seen(self, entry: Any, ct: Any) -> Any:
        """Show a total cotangent to hooks and to the caller."""
        hooks = entry.hooks
        if hooks is not None:
            ct = hooks.seen_by_tensors(ct)
        if self.capture is not None and entry in self.capture:
            parts = ct if ct.__class__ is list else [ct]
            self.captured.update({(entry, i): part for i, part in enumerate(parts)})
        if hooks is not None:
            ct = hooks.seen_before(ct)
        # Hooks and the caller may keep what they saw.
        self.shared.update(map(id, ct if ct.__class__ is list else (ct,)))
        return ct

    def _visit(self, entry: Any, ct: Any) -> None:
        if entry.hooks is None and entry.__class__ is TapeEntry:
            for edge, part in self._pulled(entry, ct):
                self.send(edge, part)
            return
        try:
            self._visit_with_hooks(entry, ct)
        except Exception as error:
            note_forward_line(error, entry)
            raise

    def _visit_with_hooks(self, entry: Any, ct: Any) -> None:
        if entry.__class__ is TapeEntry:
            pairs = self._pulled(entry, ct)
        else:
            pairs = entry.pull(ct, self.create_graph, self.needed)
            if entry.__class__ is not PairEntry:
                self.shared.update(id(part) for _, part in pairs)
            if not self.retain_graph:
                entry.release()
        if thread.anomaly:
            check_finite(entry, [part for _, part in pairs])
        if entry.hooks is not None and entry.hooks.after:
            pairs = _seen_after(entry, pairs, ct)
            self.shared.update(id(part) for _, part in pairs)
        for edge, part in pairs:
            self.send(edge, part)

    def _pulled(self, entry: TapeEntry, ct: Any) -> list[tuple[Any, Any]]:
        """Return the cotangents of an operator's operands, with where they go."""
        saved = entry.saved
        if saved is None:
            raise released(entry)
        plan, edges, specs = entry.plan, entry.edges, entry.operand_specs
        tensors: Sequence[Any] = self._unpacked(entry, saved) if saved else ()
        if (
            self.create_graph
            and plan.saved_results
            and saved[-1].__class__ is SavedTensor
        ):
            # Its own edge is not kept with it: that would be a reference cycle.
            count = len(plan.saved_results)
            for index, tensor in enumerate(tensors[-count:]):
                tensor._node = _own_edge(entry, index)
        pairs: list[tuple[Any, Any]] = []
        for (index, rule), reads in zip(plan.steps, plan.reads, strict=True):
            edge = edges[index]
            if self.needed is not None and not is_wanted(edge, self.needed):
                continue
            result = rule.pull_with(ct, _arguments(entry, reads, tensors, ct))
            if edge.__class__ is tuple:
                pairs.extend(self._several(edge, result))
                continue
            if specs is not None and plan.pointwise:
                result = fit(result, specs[index])
            if result is ct:
                self.shared.add(id(ct))
            pairs.append((edge, result))
        if saved and not self.retain_graph:
            entry.saved = None
        return pairs

    def _several(
        self, edges: tuple[Any, ...], results: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        self.shared.update(map(id, results))
        return [
            (edge, result)
            for edge, result in zip(edges, results, strict=True)
            if edge is not None and result is not None
        ]

    def _unpacked(self, entry: TapeEntry, saved: tuple[Any, ...]) -> list[Any]:
        tensors: list[Any] = []
        for kept in saved:
            if kept.__class__ is tuple:
                tensors.append(tuple(self._unpacked(entry, kept)))
                continue
            if kept.version[0] != kept.count:
                raise written_since(entry, kept)
            if kept.__class__ is KeptTensor:
                tensors.append(kept.tensor)
                continue
            tensor = wrap(kept.array)
            if self.create_graph:
                tensor._node = kept.edge
                tensor._counter = kept.version
            tensors.append(tensor)
        return tensors

    # -- leaves ---------------------------------------------------------------------

    def _accumulate(self, entry: LeafEntry, ct: Tensor) -> None:
        leaf = entry.leaf()
        # It may have been told since that it requires none.
        if leaf is None or not leaf.requires_grad:
            return
        before = leaf.grad
        if before is None:
            leaf.grad = self._owned(ct)
        elif self.create_graph:
            leaf.grad = before + ct
        else:
            apply_inplace(OPERATORS["add"], (before, ct), {})
        if entry.hooks is not None:
            for hook in tuple(entry.hooks.accumulated.values()):
                hook(leaf)

    def _owned(self, ct: Tensor) -> Tensor:
        """Return `ct`, copied if anybody else could hold its memory."""
        array = ct._array
        if (
            id(ct) not in self.shared
            and getattr(array, "base", None) is None
            and ct._view is None
        ):
            return ct
        return OPERATORS["clone"](ct)  # type: ignore[no-any-return]


def is_wanted(edge: Any, needed: set[Any]) -> bool:
    """Return whether a cotangent sent to `edge` can reach a needed entry."""
    if edge.__class__ is tuple:
        return any(e is not None and is_wanted(e, needed) for e in edge)
    entry = edge.entry if edge.__class__ is ResultEdge else edge
    return entry in needed


def _seen_after(
    entry: Any, pairs: list[tuple[Any, Any]], ct: Any
) -> list[tuple[Any, Any]]:
    """Run the hooks that see what an entry gave, in the order of its edges."""
    edges = flat_edges(entry)
    places = _places(edges, pairs)
    given = [None] * len(edges)
    for place, (_, part) in zip(places, pairs, strict=True):
        given[place] = part
    cts = tuple(ct) if ct.__class__ is list else (ct,)
    found = entry.hooks.seen_after(tuple(given), cts)
    return [(edges[place], found[place]) for place in places]


def _places(edges: list[Any], pairs: list[tuple[Any, Any]]) -> list[int]:
    """Return the index of each pair's edge; both lists have one order."""
    places: list[int] = []
    start = 0
    for edge, _ in pairs:
        while edges[start] is not edge:
            start += 1
        places.append(start)
        start += 1
    return places


def _arguments(entry: TapeEntry, reads: Any, tensors: Sequence[Any], ct: Any) -> Any:
    """Return what a rule's parameters ask for."""
    found = []
    for source, key in reads:
        if source == "saved":
            found.append(tensors[key])
        elif source == "given":
            found.append([ct] if key == "cts" and ct.__class__ is not list else ct)
        elif source == "attribute":
            found.append(entry.attributes[key])
        elif source == "results":
            found.append(tuple(tensors[key:]))
        elif source == "literal":
            found.append(entry.literals[key])
        else:
            found.append(_spec_of_operand(entry, key, ct))
    return found


def _spec_of_operand(entry: TapeEntry, index: int, ct: Any) -> Any:
    if entry.operand_specs is None:
        return ct._array.shape, ct._array.dtype
    return entry.operand_specs[index]


def _own_edge(entry: TapeEntry, index: int) -> Edge:
    """Return the tape position of a result of an entry."""
    several = entry.result_specs is not None and len(entry.result_specs) > 1
    return ResultEdge(entry, index) if several else entry


def released(entry: Node) -> GradientError:
    """Return the error for an entry whose saved tensors are gone."""
    return GradientError(
        f"{entry.name()}: backward went through here already and what it had saved is "
        "freed; pass retain_graph=True to the first backward"
    )


def written_since(entry: Node, saved: SavedTensor | KeptTensor) -> GradientError:
    """Return the error for a saved tensor that was written in place."""
    written = saved.version[1] if len(saved.version) > 1 else None
    return GradientError(
        f"{entry.name()}: a tensor that backward needs (shape "
        f"{list(saved.array.shape)}) was written in place since"
        f"{f', at {written}' if written else ''}; it is at version "
        f"{saved.version[0]}, was saved at version {saved.count}; "
        "write into a clone() instead, or run under autograd.detect_anomaly() to see "
        "the line that saved it too"
    )


def entries_leading_to(roots: Sequence[Any], wanted: set[Any]) -> set[Any]:
    """Return the entries, from `roots` down, that lead to a wanted one."""
    users: dict[Any, list[Any]] = {}
    pending = [_entry_of(edge) for edge in roots if edge is not None]
    seen: set[Any] = set()
    while pending:
        entry = pending.pop()
        if entry in seen:
            continue
        seen.add(entry)
        for edge in flat_edges(entry):
            if edge is not None:
                following = _entry_of(edge)
                users.setdefault(following, []).append(entry)
                pending.append(following)
    needed: set[Any] = set()
    pending = [entry for entry in wanted if entry in seen]
    while pending:
        entry = pending.pop()
        if entry not in needed:
            needed.add(entry)
            pending.extend(users.get(entry, ()))
    return needed


def _entry_of(edge: Any) -> Any:
    return edge.entry if edge.__class__ is ResultEdge else edge
