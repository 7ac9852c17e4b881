"""The engine: cotangents flow back along the tape, later entries first.

An entry always has a higher sequence number than those its cotangents go to, so a
heap by sequence visits each entry after all its users, without recursion and
without counting users first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, final

from tracegrad.dispatch.entry import (
    Edge,
    LeafEntry,
    ResultEdge,
    SavedTensor,
    TapeEntry,
)
from tracegrad.dispatch.inplace import apply_inplace
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.dispatch.tensor import Tensor, edge_of, wrap
from tracegrad.errors import ArgumentTypeError, GradientError, ShapeError
from tracegrad.ops.shaping import fit, zeros_of


@final
class _Pass:
    """One backward pass: what has arrived where.

    Attributes
    ----------
    arrived : dict
        Cotangents by entry: one Tensor, or a list with a place for each result.
    shared : set of int
        Identities of cotangents that somebody else may hold too.
    """

    __slots__ = (
        "arrived",
        "capture",
        "captured",
        "create_graph",
        "heap",
        "needed",
        "retain_graph",
        "shared",
    )

    def __init__(self, retain_graph: bool, create_graph: bool) -> None:
        self.arrived: dict[Any, Any] = {}
        self.heap: list[tuple[int, Any]] = []
        self.shared: set[int] = set()
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        # Edges whose total cotangent the caller wants, instead of filling `.grad`.
        self.capture: dict[Any, list[int]] | None = None
        self.captured: dict[Any, Tensor] = {}
        self.needed: set[Any] | None = None

    def send(self, edge: Edge, ct: Tensor) -> None:
        """Add a cotangent to what has arrived at `edge`."""
        if edge.__class__ is ResultEdge:
            self._send_result(edge.entry, edge.index, ct)
            return
        before = self.arrived.get(edge)
        if before is None:
            if self.needed is not None and edge not in self.needed:
                return
            self.arrived[edge] = ct
            heapq.heappush(self.heap, (-edge.sequence, edge))
        else:
            self.arrived[edge] = before + ct

    def _send_result(self, entry: TapeEntry, index: int, ct: Tensor) -> None:
        places = self.arrived.get(entry)
        if places is None:
            if self.needed is not None and entry not in self.needed:
                return
            specs = entry.result_specs
            assert specs is not None
            places = self.arrived[entry] = [None] * len(specs)
            heapq.heappush(self.heap, (-entry.sequence, entry))
        before = places[index]
        places[index] = ct if before is None else before + ct

    def run(self) -> None:
        """Visit entries until nothing is left."""
        heap, arrived = self.heap, self.arrived
        while heap:
            entry = heapq.heappop(heap)[1]
            ct = arrived.pop(entry)
            if entry.hooks is not None:
                ct = _run_hooks(entry, ct)
            if self.capture is not None:
                self._take(entry, ct)
            if entry.__class__ is LeafEntry:
                if self.capture is None:
                    self._accumulate(entry, ct)
            else:
                self._visit(entry, ct)

    def _take(self, entry: Any, ct: Any) -> None:
        assert self.capture is not None
        if entry not in self.capture:
            return
        if ct.__class__ is list:
            for index, part in enumerate(ct):
                if part is not None:
                    self.captured[entry, index] = part
        else:
            self.captured[entry, 0] = ct

    def _visit(self, entry: Any, ct: Any) -> None:
        if entry.__class__ is not TapeEntry:
            pairs = entry.pull(ct, self.create_graph)
            for edge, part in pairs:
                self.shared.add(id(part))
                self.send(edge, part)
            return
        plan = entry.plan
        saved = entry.saved
        if saved is None:
            raise GradientError(
                f"{entry.name}: backward went through here already and what it had "
                "saved is freed; pass retain_graph=True to the first backward"
            )
        values = values_of(entry, saved)
        edges, specs = entry.edges, entry.operand_specs
        for index, rule in plan.steps:
            edge = edges[index]
            if self.needed is not None and not _wanted(edge, self.needed):
                continue
            result = rule.pull(ct, values)
            if edge.__class__ is tuple:
                self._send_several(edge, result)
                continue
            if specs is not None and plan.operator.family == "pointwise":
                result = fit(result, specs[index])
            if result is ct:
                self.shared.add(id(result))
            self.send(edge, result)
        if not self.retain_graph and saved:
            entry.saved = None

    def _send_several(self, edges: tuple[Any, ...], results: Sequence[Any]) -> None:
        for edge, result in zip(edges, results, strict=True):
            if edge is not None and result is not None:
                self.shared.add(id(result))
                self.send(edge, result)

    def _accumulate(self, entry: LeafEntry, ct: Tensor) -> None:
        leaf = entry.leaf()
        if leaf is None:
            return
        before = leaf._grad
        if before is None:
            leaf.grad = self._owned(ct)
        elif self.create_graph:
            leaf.grad = before + ct
        else:
            apply_inplace(OPERATORS["add"], (before, ct), {})
        for hook in tuple(entry.post_hooks or ()):
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


def _wanted(edge: Any, needed: set[Any]) -> bool:
    if edge.__class__ is tuple:
        return any(e is not None and _wanted(e, needed) for e in edge)
    entry = edge.entry if edge.__class__ is ResultEdge else edge
    return entry in needed


def _run_hooks(entry: Any, ct: Any) -> Any:
    for index, hook in tuple(entry.hooks):
        part = ct[index] if ct.__class__ is list else ct
        if part is None:
            continue
        replaced = hook(part)
        if replaced is None:
            continue
        if ct.__class__ is list:
            ct[index] = replaced
        else:
            ct = replaced
    return ct


def values_of(entry: TapeEntry, saved: tuple[Any, ...]) -> dict[str, Any]:
    """Return by name what an entry's rules may ask for."""
    plan = entry.plan
    operator = plan.operator
    values = dict(entry.attributes)
    for operand, literal in zip(operator.operands, entry.literals, strict=True):
        if literal is not None:
            values[operand.name] = literal
    count = len(plan.saved_operands)
    for index, kept in zip(plan.saved_operands, saved[:count], strict=True):
        name = operator.operands[index].name
        if kept.__class__ is tuple:
            values[name] = tuple(unpack(entry, k, k.edge) for k in kept)
        else:
            values[name] = unpack(entry, kept, kept.edge)
    if plan.saved_results:
        values["out"] = unpack(entry, saved[count], entry)
    if entry.operand_specs is not None and operator.family != "pointwise":
        for operand, spec in zip(operator.operands, entry.operand_specs, strict=True):
            values[operand.name + "_spec"] = spec
    return values


def unpack(entry: TapeEntry, saved: SavedTensor, edge: Edge | None) -> Tensor:
    """Return a saved tensor, checked not to have been written since.

    Raises
    ------
    GradientError
        If it has.
    """
    if saved.version[0] != saved.count:
        raise GradientError(
            f"{entry.name}: a tensor that backward needs (shape "
            f"{list(saved.array.shape)}) was written in place since; it is at version "
            f"{saved.version[0]}, was saved at version {saved.count}; "
            "write into a clone() instead"
        )
    tensor = wrap(saved.array)
    tensor._node = edge
    tensor._version = saved.version
    return tensor


def _seed(root: Tensor, ct: Tensor | None) -> Tensor:
    """Return the cotangent to start with.

    Raises
    ------
    GradientError
        If none is given for a root of several elements.
    """
    if ct is None:
        if root.numel() != 1:
            raise GradientError(
                "a gradient is implied for one element only; this tensor has shape "
                f"{list(root.shape)}, give backward() one of that shape"
            )
        shape, dtype = root._array.shape, root.dtype
        return OPERATORS["full"](shape, 1, dtype, root.device)  # type: ignore[no-any-return]
    if not isinstance(ct, Tensor):
        raise ArgumentTypeError(
            f"a gradient must be a Tensor or None, not {type(ct).__name__}"
        )
    if ct._array.shape != root._array.shape:
        raise ShapeError(
            f"the gradient has shape {list(ct.shape)}, the tensor {list(root.shape)}"
        )
    return fit(ct, (root._array.shape, root._array.dtype))


def _start(
    run: _Pass, roots: Sequence[Tensor], cts: Sequence[Tensor | None]
) -> None:
    for root, ct in zip(roots, cts, strict=True):
        edge = edge_of(root)
        if edge is None:
            raise GradientError(
                "the tensor does not require grad and has no grad_fn: nothing that "
                "leads to it requires a gradient"
            )
        seed = _seed(root, ct)
        run.shared.add(id(seed))
        run.send(edge, seed)


def _as_tuple(value: Any, count: int) -> tuple[Any, ...]:
    if value is None:
        return (None,) * count
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the ``.grad`` of the leaves.

    Parameters
    ----------
    tensors : Tensor or sequence of Tensor
    grad_tensors : Tensor or sequence, optional
        The cotangents; 1 for tensors of one element.
    retain_graph : bool, optional
        Keep what was saved, for another backward; as `create_graph` if not given.
    create_graph : bool
        Put the gradients on the tape too.
    inputs : Tensor or sequence of Tensor, optional
        Fill the ``.grad`` of these only.

    Raises
    ------
    GradientError
        If a tensor is not on the tape, or a saved tensor was written since.
    """
    roots = _as_tuple(tensors, 1)
    cts = _as_tuple(grad_tensors, len(roots))
    if inputs is not None:
        wanted = _as_tuple(inputs, 1)
        found = grad(
            roots, wanted, cts, retain_graph, create_graph, allow_unused=True
        )
        _fill(wanted, found, create_graph)
        return
    retain = create_graph if retain_graph is None else retain_graph
    run = _Pass(retain, create_graph)
    before = set_grad_enabled(create_graph)
    try:
        _start(run, roots, cts)
        run.run()
    finally:
        set_grad_enabled(before)


def _fill(
    wanted: Sequence[Tensor], found: Sequence[Tensor | None], create_graph: bool
) -> None:
    for leaf, ct in zip(wanted, found, strict=True):
        if ct is None:
            continue
        if leaf._grad is None:
            leaf.grad = ct if create_graph else OPERATORS["clone"](ct)
        else:
            leaf.grad = leaf._grad + ct


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of `outputs` by `inputs`, without touching ``.grad``.

    Parameters
    ----------
    outputs, inputs : Tensor or sequence of Tensor
    grad_outputs : Tensor or sequence, optional
        The cotangents; 1 for outputs of one element.
    retain_graph, create_graph : bool
        As for `backward`.
    allow_unused : bool, optional
        Give None for an input that does not lead to an output.
    materialize_grads : bool
        Give zeros for it instead.

    Raises
    ------
    GradientError
        If an input is unused and that is not allowed.
    """
    roots = _as_tuple(outputs, 1)
    wanted = _as_tuple(inputs, 1)
    cts = _as_tuple(grad_outputs, len(roots))
    run = _Pass(create_graph if retain_graph is None else retain_graph, create_graph)
    keys = [_key_of(x) for x in wanted]
    run.capture = {entry: [] for entry, _ in keys}
    run.needed = _leading_to(roots, set(run.capture))
    before = set_grad_enabled(create_graph)
    try:
        _start(run, roots, cts)
        run.run()
    finally:
        set_grad_enabled(before)
    allowed = materialize_grads if allow_unused is None else allow_unused
    return tuple(
        _answer(run.captured.get(key), x, allowed or materialize_grads, materialize_grads)
        for key, x in zip(keys, wanted, strict=True)
    )


def _key_of(x: Tensor) -> tuple[Any, int]:
    edge = edge_of(x)
    if edge is None:
        raise GradientError("an input of grad() does not require grad")
    if edge.__class__ is ResultEdge:
        return edge.entry, edge.index
    return edge, 0


def _answer(
    found: Tensor | None, x: Tensor, allowed: bool, materialize: bool
) -> Tensor | None:
    if found is not None:
        return found
    if not allowed:
        raise GradientError(
            "an input does not lead to the outputs; pass allow_unused=True to get "
            "None for it"
        )
    return zeros_of((x._array.shape, x._array.dtype), x) if materialize else None


def _leading_to(roots: Sequence[Tensor], wanted: set[Any]) -> set[Any]:
    """Return the entries from which a cotangent can reach a wanted one."""
    users: dict[Any, list[Any]] = {}
    pending = [edge_of(root) for root in roots]
    seen: set[Any] = set()
    while pending:
        edge = pending.pop()
        entry = edge.entry if edge.__class__ is ResultEdge else edge
        if entry is None or entry in seen:
            continue
        seen.add(entry)
        for following in _entries_after(entry):
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


def _entries_after(entry: Any) -> list[Any]:
    found: list[Any] = []
    pending = list(getattr(entry, "edges", ()))
    while pending:
        edge = pending.pop()
        if edge.__class__ is tuple:
            pending.extend(edge)
        elif edge is not None:
            found.append(edge.entry if edge.__class__ is ResultEdge else edge)
    return found


def _tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of this tensor to the ``.grad`` of the leaves."""
    backward(self, gradient, retain_graph, create_graph, inputs)


Tensor.backward = _tensor_backward  # type: ignore[attr-defined]
