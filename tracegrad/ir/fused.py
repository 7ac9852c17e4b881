"""The operator that holds a sub-graph which becomes one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.surface import define
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ir.graph import Graph
from tracegrad.ir.interpreter import interpret


def _abstract(inputs: Sequence[Any], graph: Graph) -> Any:
    specs = tuple(value.spec for value in graph.outputs)
    return specs if len(specs) != 1 else specs[0]


def _body(inputs: Sequence[Any], graph: Graph) -> Any:
    """Interpret the sub-graph: what the kernel must compute."""
    outputs = interpret(graph, *inputs)
    return outputs if len(outputs) != 1 else outputs[0]


def _signature(inputs: Sequence[Tensor], graph: Graph) -> Any:
    """Apply a graph of pointwise operators and reductions as one kernel."""


fused = define(
    OpDef(
        _signature,
        "control",
        name="fused",
        abstract=_abstract,
        body=_body,
        public=False,
        method=False,
    )
)
