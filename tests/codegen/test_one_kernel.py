"""Softmax and layer norm are one kernel each, forward and backward each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tracegrad as tg
from tracegrad.codegen.program import KernelStep, program_of
from tracegrad.compiler import optimized
from tracegrad.ir.graph import Graph, Value
from tracegrad.nn import functional as F
from tracegrad.passes.spec_recorder import graph_of
from tracegrad.passes.vjp import derive
from tracegrad.spec import TensorSpec

SPEC = TensorSpec(tg.float32, (16, 8))

NORMALIZATIONS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: tg.softmax(x, -1),
    "log_softmax": lambda x: tg.log_softmax(x, -1),
    "layer_norm": lambda x: F.layer_norm(x, (8,)),
    "rms_norm": lambda x: F.rms_norm(x, (8,)),
}


def steps_of(graph: Graph) -> list[Any]:
    """Return the steps of a compiled graph that are not mere views."""
    steps = program_of(optimized(graph)).steps
    return [
        s for s in steps if isinstance(s, KernelStep) or not s.node.operator.is_view
    ]


def tracked(graph: Graph) -> Graph:
    """Return `graph` with gradients wanted for its input."""
    (old,) = graph.inputs
    new = Value(old.name, old.spec, requires_grad=True)
    text = str(graph).replace(
        f"%{old.name}: {old.spec}", f"%{old.name}: {old.spec} grad", 1
    )
    assert new.requires_grad
    return tg.ir.parse(text)


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_forward(name: str) -> None:
    graph = graph_of(NORMALIZATIONS[name], [SPEC], name)
    steps = steps_of(graph)
    assert [type(s) for s in steps] == [KernelStep], str(optimized(graph))


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_backward(name: str) -> None:
    graph = tracked(graph_of(NORMALIZATIONS[name], [SPEC], name))
    backward = derive(graph).backward
    steps = steps_of(backward)
    assert [type(s) for s in steps] == [KernelStep], str(optimized(backward))
