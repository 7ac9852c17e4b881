"""A graph as steps: kernels, and calls of library operators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from tracegrad.codegen.kernel import Kernel, kernel_of
from tracegrad.ir.builder import Names
from tracegrad.ir.graph import Graph, Node, Value


@final
@dataclass(frozen=True, slots=True)
class KernelStep:
    """Run a kernel: its inputs and outputs are values of the program."""

    kernel: Kernel
    node: Node
    inputs: tuple[Value, ...]


@final
@dataclass(frozen=True, slots=True)
class CallStep:
    """Call a library operator, or make a view."""

    node: Node


Step: TypeAlias = KernelStep | CallStep


@final
@dataclass(frozen=True, slots=True)
class Program:
    """What a target emits."""

    graph: Graph
    steps: tuple[Step, ...]


def program_of(graph: Graph) -> Program:
    """Return the steps that compute `graph`, in order."""
    names = Names()
    return Program(graph, tuple(_step(node, names) for node in graph.nodes))


def _step(node: Node, names: Names) -> Step:
    facts = node.operator.facts
    if node.operator.family == "control":
        body = node.attribute("graph")
        kernel = kernel_of(names.unique(body.name), body)
        assert kernel is not None, f"fused node {body.name} is no kernel"
        inputs = node.inputs[0]
        assert isinstance(inputs, tuple)
        return KernelStep(kernel, node, inputs)
    if "pointwise" in facts or "reduction" in facts:
        kernel = kernel_of(names.unique(node.operator.name), _alone(node))
        if kernel is not None:
            return KernelStep(kernel, node, tuple(dict.fromkeys(node.operands())))
    return CallStep(node)


def _alone(node: Node) -> Graph:
    """Return a graph of one node."""
    inputs = tuple(dict.fromkeys(node.operands()))
    return Graph(node.operator.name, inputs, (node,), node.results)


def exit_condition(name: str, expected: Any) -> str:
    """Return the text that says whether the array `name` holds another value.

    Another bit pattern is another value, but for the payload of NaN.
    """
    if isinstance(expected, float) and (expected == 0 or not math.isfinite(expected)):
        return f"repr({name}.item()) != {repr(expected)!r}"
    return f"{name}.item() != {expected!r}"
