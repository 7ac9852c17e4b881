"""Backward through what a kernel pair computed.

By the pair's backward where a gradient's value is all that is asked for; where the
gradient is to be differentiated itself, by the derivative of the operator as it is
defined, applied again to what it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.autograd.engine import (
    Pass,
    entries_leading_to,
    is_wanted,
    released,
    written_since,
)
from tracegrad.device import run_quietly
from tracegrad.dispatch.bind import NO_ATTRIBUTES, bind_defined
from tracegrad.dispatch.entry import PairEntry, SavedTensor, TapeEntry
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.state import set_grad_enabled, thread
from tracegrad.dispatch.tensor import Tensor, edge_of, wrap


def _pull(
    entry: PairEntry, ct: Any, create_graph: bool, needed: set[Any] | None
) -> list[tuple[Any, Any]]:
    """Return the cotangents of the operands, with where they go."""
    if entry.given is None:
        raise released(entry)
    cts = ct if ct.__class__ is list else [ct]
    wanted = tuple(
        [
            edge is not None and (needed is None or is_wanted(edge, needed))
            for edge in entry.edges
        ]
    )
    if create_graph or not _are_plain(entry, cts):
        found = _by_definition(entry, cts, wanted, create_graph)
    else:
        found = _by_kernel(entry, cts, wanted)
    return [
        (edge, part)
        for edge, part in zip(entry.edges, found, strict=True)
        if part is not None
    ]


PairEntry.pull = _pull  # type: ignore[method-assign]


def _are_plain(entry: PairEntry, cts: Sequence[Any]) -> bool:
    """Return whether cotangents are arrays as the pair's backward takes them."""
    if thread.recorder is not None or thread.transforms:
        return False
    return all(
        ct is None or (ct._array.__class__ is np.ndarray and ct._array.dtype == dtype)
        for ct, (_, dtype) in zip(cts, entry.result_specs, strict=True)
    )


def _by_kernel(entry: PairEntry, cts: Sequence[Any], wanted: tuple[bool, ...]) -> Any:
    operator = entry.operator
    pair, given = operator.pair, entry.given
    assert pair is not None
    assert given is not None
    for name in pair.reads:
        if name != "out":
            _check_version(entry, given[operator.operand_index[name]])
    for kept in entry.results:
        _check_version(entry, kept)
    arrays = [
        np.zeros(*spec) if ct is None else ct._array
        for ct, spec in zip(cts, entry.result_specs, strict=True)
    ]
    found = run_quietly(pair.backward, entry.saved_arrays, arrays, wanted)
    return [
        None if part is None or not is_one else wrap(_own(part, arrays))
        for part, is_one in zip(found, wanted, strict=True)
    ]


def _own(part: Any, cts: Sequence[Any]) -> Any:
    """Return a gradient in memory that no cotangent has."""
    part = np.asarray(part)
    return part.copy() if any(part is ct for ct in cts) else part


def _check_version(entry: PairEntry, kept: Any) -> None:
    if isinstance(kept, SavedTensor) and kept.version[0] != kept.count:
        raise written_since(entry, kept)


def _by_definition(
    entry: PairEntry,
    cts: Sequence[Any],
    wanted: tuple[bool, ...],
    create_graph: bool,
) -> list[Any]:
    """Apply the operator again, without its pair, and differentiate that."""
    assert entry.given is not None
    operands = [_again(entry, kept) for kept in entry.given]
    before = set_grad_enabled(True)
    try:
        result = bind_defined(entry.operator, operands, entry.attributes)
    finally:
        set_grad_enabled(before)
    results = result if result.__class__ is tuple else (result,)
    sent = [
        (edge_of(tensor), ct)
        for tensor, ct in zip(results, cts, strict=True)
        if ct is not None and edge_of(tensor) is not None
    ]
    edges: list[Any] = [edge for edge, _ in sent]
    own = [o._node if w else None for o, w in zip(operands, wanted, strict=True)]
    run = Pass(create_graph, create_graph)
    run.fills = False
    run.capture = {node for node in own if node is not None}
    run.needed = entries_leading_to(edges, run.capture)
    run.start(edges, [ct for _, ct in sent])
    return [None if node is None else run.captured.get((node, 0)) for node in own]


def _again(entry: PairEntry, kept: Any) -> Any:
    """Return an operand as it was given, with a tape entry of its own.

    Without that, an operand that was made of another one would count as a way to it.
    """
    if not isinstance(kept, SavedTensor):
        return kept
    _check_version(entry, kept)
    tensor: Tensor = wrap(kept.array)
    tensor._counter = kept.version
    if kept.edge is not None:
        plan = OPERATORS["marked"].plan((True,), (True,))
        tensor._node = TapeEntry(
            plan, (kept.edge,), (), None, None, NO_ATTRIBUTES, (None,)
        )
    return tensor
