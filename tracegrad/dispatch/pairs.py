"""Apply an operator by its kernel pair: one call, one entry of the tape."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.config import config
from tracegrad.device import copy_quiet
from tracegrad.dispatch.entry import (
    PairEntry,
    ResultEdge,
    SavedTensor,
    hooks_of,
)
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.state import installed, thread
from tracegrad.dispatch.tensor import Tensor, edge_of, version_of, wrap
from tracegrad.location import here


def bind_pair(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Any:
    """Apply `operator` by its pair; None if that does not serve for the call."""
    pair = operator.pair
    assert pair is not None
    if operator.body is None and not _is_tracked(operands):
        # A primitive is one kernel anyhow.
        return None
    if thread.transforms or not pair.takes([*map(_array_of, operands)], attributes):
        return None
    if config.log:
        _log(operator)
    result = run_pair(operator, operands, attributes, thread.grad_enabled)
    if result is not None and installed.learning and thread.lesson is not None:
        thread.lesson.pair(operator, operands, attributes, result)
    return result


def run_pair(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any], tape: bool
) -> Any:
    """Run the pair's forward and make the tape entry; None if it declines."""
    pair: Any = operator.pair
    arrays = [o._array if isinstance(o, Tensor) else o for o in operands]
    found = copy_quiet().run(pair.forward, *arrays, **attributes)
    if found is None:
        return None
    value, saved = found
    several = value.__class__ is tuple
    result: Any = tuple(map(_wrap, value)) if several else _wrap(value)
    if tape:
        edges = tuple([edge_of(o) if isinstance(o, Tensor) else None for o in operands])
        if any(edge is not None for edge in edges):
            results = result if several else (result,)
            _attach(operator, operands, attributes, edges, results, saved)
    return result


def _wrap(value: Any) -> Tensor:
    # NumPy gives a number for what has no dimensions.
    return wrap(value if value.__class__ is np.ndarray else np.asarray(value))


def _is_tracked(operands: Sequence[Any]) -> bool:
    return thread.grad_enabled and any(
        isinstance(o, Tensor) and edge_of(o) is not None for o in operands
    )


def _array_of(operand: Any) -> Any:
    return operand._array if isinstance(operand, Tensor) else operand


def _attach(
    operator: OpDef,
    operands: Sequence[Any],
    attributes: dict[str, Any],
    edges: tuple[Any, ...],
    results: tuple[Tensor, ...],
    saved: Any,
) -> None:
    entry = PairEntry(operator, edges, attributes)
    entry.given = tuple(
        [
            SavedTensor(o._array, edge, version_of(o)) if isinstance(o, Tensor) else o
            for o, edge in zip(operands, edges, strict=True)
        ]
    )
    entry.result_specs = tuple([(r._array.shape, r._array.dtype) for r in results])
    if "out" in operator.pair.reads:  # type: ignore[union-attr]
        entry.results = tuple(
            [SavedTensor(r._array, None, version_of(r)) for r in results]
        )
    entry.saved_arrays = saved
    for index, tensor in enumerate(results):
        tensor._node = entry if len(results) == 1 else ResultEdge(entry, index)
    if thread.anomaly:
        hooks_of(entry).metadata["traceback_"] = here()


def _log(operator: OpDef) -> None:
    if "dispatch" in config.log:
        sys.stderr.write(f"dispatch: {operator.name} on cpu, by its kernel pair\n")
