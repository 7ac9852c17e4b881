"""Passes keep the meaning of random graphs, as the reference interpreter has it."""

import numpy as np
import pytest

from tests.support.random_graphs import (
    differences,
    random_graph,
    random_graphs,
    random_inputs,
)
from tests.support.round_trip import check_round_trip
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import TracegradError
from tracegrad.ir.graph import Graph, Value
from tracegrad.ir.interpreter import interpret_all
from tracegrad.passes.manager import Pass, PassManager
from tracegrad.passes.pipeline import PIPELINE
from tracegrad.spec import StateSpec


def outcome(graph: Graph, seed: int) -> list[object]:
    """Return what a user sees of a run: results, states, or that it raises.

    Which of several errors comes first is eager mode's business: a program that raises
    is run again there.
    """
    try:
        found = interpret_all(graph, random_inputs(graph, seed))
    except TracegradError:
        return [TracegradError]
    return [_seen(value, found) for value in graph.required()]


def _seen(value: Value, found: dict[Value, object]) -> object:
    if isinstance(value.spec, StateSpec):
        # All states of a run are one generator, which the last draw left.
        return found[value].get_state().numpy().tobytes()  # type: ignore[attr-defined]
    return found[value]


def same_memory(graph: Graph, seed: int) -> list[tuple[bool, ...]]:
    """Return which outputs, inputs and constants lie in the same memory."""
    inputs = random_inputs(graph, seed)
    found = interpret_all(graph, inputs)
    held = [*(found[v] for v in graph.outputs), *inputs]
    held += [w.value and found[w.value] for w in graph.writes]
    constants = [found[constant.value] for constant in graph.constants]
    return [
        (*(_share(a, b) for b in held), any(_share(a, c) for c in constants))
        for a in held
    ]


def _share(a: object, b: object) -> bool:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return False
    return a._array.size > 0 and np.may_share_memory(a._array, b._array)


def check_same_meaning(graph: Graph, after: Graph, seed: int) -> None:
    check_round_trip(after)
    assert after.inputs == graph.inputs
    assert len(after.outputs) == len(graph.outputs)
    before = outcome(graph, seed)
    assert differences(before, outcome(after, seed)) == []
    if before and isinstance(before[0], type):
        return
    assert same_memory(graph, seed) == same_memory(after, seed)


@pytest.mark.parametrize("done", PIPELINE, ids=lambda done: done.name)
def test_pass_keeps_meaning(done: Pass, seed: int) -> None:
    changed = 0
    for graph in random_graphs(seed, count=60):
        after = done.run(graph)
        check_same_meaning(graph, after, seed)
        changed += after is not graph
    assert changed > 0


def test_pipeline_keeps_meaning(seed: int) -> None:
    manager = PassManager(PIPELINE, verify=True)
    for graph in random_graphs(seed, count=60):
        check_same_meaning(graph, manager.run(graph), seed)


def test_pipeline_on_a_large_graph(seed: int) -> None:
    graph = random_graph(seed, 300)
    check_same_meaning(graph, PassManager(PIPELINE, verify=True).run(graph), seed)


def test_pipeline_is_done_after_two_runs(seed: int) -> None:
    manager = PassManager(PIPELINE)
    for graph in random_graphs(seed, count=20):
        twice = manager.run(manager.run(graph))
        assert manager.run(twice) == twice
