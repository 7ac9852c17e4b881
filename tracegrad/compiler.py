"""Graph to Executable: a straight line through passes, code generation and runtime."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, final

from tracegrad.codegen.cuda.target import emit_cuda
from tracegrad.codegen.numpy.target import emit_numpy
from tracegrad.codegen.program import Program, program_of
from tracegrad.codegen.source import Source
from tracegrad.device import Device, backend_of
from tracegrad.errors import CompileError, DeviceError
from tracegrad.ir.graph import Graph, Value
from tracegrad.passes.dce import DeadCodeElimination
from tracegrad.passes.fusion import Fuse, unfused_edges
from tracegrad.passes.manager import PassManager
from tracegrad.passes.pipeline import PIPELINE
from tracegrad.passes.vjp import Derived, derive, reached_inputs
from tracegrad.runtime.executable import Executable
from tracegrad.spec import ScalarSpec, TensorSpec


@final
@dataclass(frozen=True, slots=True)
class Compiled:
    """What compiling a graph gave.

    Attributes
    ----------
    graph : Graph
        After the passes.
    source : Source
    executable : Executable
    """

    graph: Graph
    source: Source
    executable: Executable


def optimized(graph: Graph) -> Graph:
    """Return `graph` after all passes."""
    return PassManager(PIPELINE).run(graph)


def unfused_reasons(graph: Graph) -> list[str]:
    """Return a sentence for each edge that fusion left between kernels."""
    before = PassManager([p for p in PIPELINE if not isinstance(p, Fuse)]).run(graph)
    found = [
        f"{edge.producer.operator.name} into {edge.user.operator.name}"
        f"{f' ({edge.user.location})' if edge.user.location else ''}: {edge.reason}"
        for edge in unfused_edges(before)
    ]
    return list(dict.fromkeys(found))


TARGETS: dict[str, Callable[[Program], Source]] = {
    "numpy": emit_numpy,
    "cuda": emit_cuda,
}


def target_for(graph: Graph, wanted: str) -> str:
    """Return the target that ``"auto"`` means for a graph; others as they are."""
    if wanted != "auto":
        return wanted
    return "cuda" if any(d.type == "cuda" for _, d in _places(graph)) else "numpy"


def _places(graph: Graph) -> Iterator[tuple[Value, Device]]:
    """Iterate over the tensors and states of a graph, with where they are."""
    made = (v for node in graph.nodes for v in node.results)
    constants = (c.value for c in graph.constants)
    for value in itertools.chain(graph.inputs, constants, made):
        if not isinstance(value.spec, ScalarSpec):
            yield value, value.spec.device


def _need_cupy() -> None:
    try:
        backend_of("cuda")
    except DeviceError as error:
        raise CompileError(f"the target 'cuda': {error}") from error


def _check_devices(graph: Graph, target: str) -> None:
    """Refuse a graph that computes elsewhere than the target does.

    On CUDA what comes from outside may be on the CPU: it is copied.
    """
    wanted = "cuda" if target == "cuda" else "cpu"
    if target == "cuda":
        _need_cupy()
    places = list(_places(graph))
    elsewhere = [(value, at) for value, at in places if at.type != wanted]
    if places and len(elsewhere) == len(places):
        raise CompileError(
            f"the target {target!r} computes on {wanted}, but all tensors are on "
            f"{elsewhere[0][1]}; move them with tensor.to({wanted!r})"
        )
    made = {v for node in graph.nodes for v in node.results}
    for value, at in elsewhere:
        if isinstance(value.spec, TensorSpec) and (target != "cuda" or value in made):
            raise CompileError(
                f"the target {target!r} computes on {wanted}, but {value.name} is on "
                f"{at}; a program computes on one device"
            )


def compile_graph(graph: Graph, target: str = "auto") -> Compiled:
    """Return `graph` compiled for a target.

    Raises
    ------
    CompileError
        If the target can't express the graph, or what it needs is not installed.
    """
    name = target_for(graph, target)
    _check_devices(graph, name)
    final_graph = optimized(graph)
    source = TARGETS[name](program_of(final_graph))
    try:
        return Compiled(final_graph, source, Executable(source))
    except ImportError as error:
        raise CompileError(
            f"the target {name!r} needs a package that is missing: {error.name}"
        ) from error


@final
class DerivedProgram:
    """A graph with its derivative: forward compiled now, backward when first needed.

    Attributes
    ----------
    derived : Derived
    forward : Compiled
        Gives the outputs, then the computed residuals.
    wanted_positions : tuple of int
        Which inputs a gradient goes to.
    residual_sources : tuple of (str, int)
        For each residual: the ``input``, the ``output`` or the ``computed`` one that
        it is.
    kept_inputs : frozenset of int
        The inputs that a derivative of the derivative needs.
    leading : tuple of frozenset of int
        For each of those inputs the outputs, among those that carry gradient, that
        lead to it.
    result_specs : tuple of (shape, dtype) or None
        Of the outputs that carry gradient, where there are several.
    """

    def __init__(self, graph: Graph, target: str = "auto") -> None:
        self.derived: Derived = derive(graph)
        self.target = target
        outputs = {v: i for i, v in enumerate(graph.outputs)}
        computed = [v for v in self.derived.computed if v not in outputs]
        forward = replace(self.derived.forward, outputs=(*graph.outputs, *computed))
        self.forward = compile_graph(forward, target)
        self._backward: Compiled | None = None
        index = {v: i for i, v in enumerate(graph.inputs)}
        self.wanted_positions = tuple(index[v] for v in self.derived.wanted)
        places = {
            **{v: ("computed", i) for i, v in enumerate(computed)},
            **{v: ("output", i) for v, i in outputs.items()},
            **{v: ("input", i) for v, i in index.items()},
        }
        self.residual_sources = tuple(places[v] for v in self.derived.residuals)
        self.joint = DeadCodeElimination().run(self.derived.joint)
        used = {v for node in self.joint.nodes for v in node.operands()}
        used.update(self.joint.outputs)
        self.kept_inputs = frozenset(i for v, i in index.items() if v in used)
        reached = [
            reached_inputs(self.derived.forward, self.derived.forward.outputs[i])
            for i in self.derived.carrying
        ]
        self.leading = tuple(
            frozenset(k for k, inputs in enumerate(reached) if v in inputs)
            for v in self.derived.wanted
        )
        specs = tuple(_shape_and_dtype(v) for v in self.derived.cotangents)
        self.result_specs = specs if len(specs) > 1 else None

    def backward(self) -> Compiled:
        """Return the compiled backward graph."""
        if self._backward is None:
            self._backward = compile_graph(self.derived.backward, self.target)
        return self._backward


def _shape_and_dtype(value: Value) -> tuple[Any, Any]:
    assert isinstance(value.spec, TensorSpec)
    return value.spec.shape, value.spec.dtype.numpy
