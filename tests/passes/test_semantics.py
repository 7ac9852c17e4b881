"""Passes keep the meaning of random graphs, as the reference interpreter has it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.random_graphs import (
    differences,
    graphs,
    random_graph,
    random_inputs,
)
from tests.support.round_trip import check_round_trip
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ir.graph import Graph, Value
from tracegrad.ir.interpreter import interpret_all
from tracegrad.passes.manager import Pass, PassManager
from tracegrad.passes.pipeline import PIPELINE
from tracegrad.spec import StateSpec

SEEDS = st.integers(0, 1 << 30)


def outcome(graph: Graph, seed: int) -> list[object]:
    """Return what the graph computes for a user, states as the next draws of them."""
    found = interpret_all(graph, random_inputs(graph, seed))
    return [_seen(value, found) for value in graph.required()]


def _seen(value: Value, found: dict[Value, object]) -> object:
    if isinstance(value.spec, StateSpec):
        # All states of a run are one generator, which the last draw left.
        return found[value].get_state().tobytes()  # type: ignore[attr-defined]
    return found[value]


def same_memory(graph: Graph, seed: int) -> list[tuple[bool, ...]]:
    """Return which of the outputs and inputs lie in the same memory."""
    inputs = random_inputs(graph, seed)
    found = interpret_all(graph, inputs)
    held = [*(found[v] for v in graph.outputs), *inputs]
    held += [w.value and found[w.value] for w in graph.writes]
    return [tuple(_share(a, b) for b in held) for a in held]


def _share(a: object, b: object) -> bool:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return False
    return a._array.size > 0 and np.may_share_memory(a._array, b._array)


def check_same_meaning(graph: Graph, after: Graph, seed: int) -> None:
    check_round_trip(after)
    assert after.inputs == graph.inputs
    assert len(after.outputs) == len(graph.outputs)
    assert differences(outcome(graph, seed), outcome(after, seed)) == []
    assert same_memory(graph, seed) == same_memory(after, seed)


@pytest.mark.parametrize("done", PIPELINE, ids=lambda done: done.name)
@settings(max_examples=25)
@given(graph=graphs(max_nodes=25), seed=SEEDS)
def test_pass_keeps_meaning(done: Pass, graph: Graph, seed: int) -> None:
    check_same_meaning(graph, done.run(graph), seed)


@settings(max_examples=25)
@given(graph=graphs(max_nodes=40), seed=SEEDS)
def test_pipeline_keeps_meaning(graph: Graph, seed: int) -> None:
    check_same_meaning(graph, PassManager(PIPELINE, verify=True).run(graph), seed)


def test_pipeline_on_a_large_graph(seed: int) -> None:
    graph = random_graph(seed, 300)
    check_same_meaning(graph, PassManager(PIPELINE, verify=True).run(graph), seed)


@settings(max_examples=10)
@given(graph=graphs(max_nodes=30))
def test_pipeline_is_done_after_two_runs(graph: Graph) -> None:
    manager = PassManager(PIPELINE)
    twice = manager.run(manager.run(graph))
    assert manager.run(twice) == twice
