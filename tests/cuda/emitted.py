"""Runs emitted CUDA programs on the CPU, and compares them with the interpreter."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tracegrad as tg
from tests.support.cuda_on_cpu.fake_cupy import Installed
from tests.tolerances import CUDA_ON_CPU
from tracegrad.codegen.cuda.target import emit_cuda
from tracegrad.codegen.program import program_of
from tracegrad.codegen.source import Source
from tracegrad.device import run_quietly
from tracegrad.dtypes import from_numpy_dtype
from tracegrad.ir.builder import GraphBuilder
from tracegrad.ir.graph import Graph
from tracegrad.ir.interpreter import interpret_all
from tracegrad.passes.decompose import Decompose
from tracegrad.passes.fusion import Fuse
from tracegrad.passes.spec_recorder import SpecRecorder, graph_of
from tracegrad.passes.vjp import derive
from tracegrad.spec import ScalarSpec, Spec, TensorSpec

Array = np.ndarray[Any, Any]


def spec_of(given: Any) -> Spec:
    """The spec of an array (its strides too), or of a Python number."""
    if not isinstance(given, np.ndarray):
        return ScalarSpec(type(given).__name__)
    strides = tuple(s // given.itemsize for s in given.strides)
    return TensorSpec(from_numpy_dtype(given.dtype), given.shape, strides)


def fused_graph(
    function: Callable[..., Any], inputs: Sequence[Any], name: str = "program"
) -> Graph:
    """The graph of a function, its composites expanded and its kernels formed."""
    graph = graph_of(function, [spec_of(i) for i in inputs], name)
    return Fuse().run(Decompose().run(graph))


def backward_graph(function: Callable[..., Any], inputs: Sequence[Any]) -> Graph:
    """The graph from residuals and cotangents to the gradients of all inputs."""
    builder = GraphBuilder("program")
    values = [builder.input("x", spec_of(i), requires_grad=True) for i in inputs]
    recorder = SpecRecorder(builder)
    with recorder:
        result = function(*map(recorder.tensor_for, values))
    graph = builder.finish([recorder.value_of(result)])
    return Fuse().run(Decompose().run(derive(graph).backward))


def sample_inputs(graph: Graph, rng: np.random.Generator) -> list[Array]:
    """Positive arrays for the inputs of a graph."""
    specs = [v.spec for v in graph.inputs]
    return [
        rng.uniform(0.1, 1.0, s.shape).astype(s.dtype.numpy)
        for s in specs
        if isinstance(s, TensorSpec)
    ]


def emitted(graph: Graph) -> Source:
    return emit_cuda(program_of(graph))


def cuda_text(source: Source) -> str:
    """The CUDA C in an emitted module."""
    found = re.search(r'SOURCE = r"""\n(.*?)"""', source.text, re.DOTALL)
    assert found is not None, source.text
    return found[1]


def kernel_names(source: Source) -> list[str]:
    return re.findall(r'RawKernel\(SOURCE, "(\w+)"', source.text)


def on_device(cp: Any, given: Any) -> Any:
    """A device array with the strides of a host array."""
    if not isinstance(given, np.ndarray):
        return given
    if given.size == 0:
        return cp.asarray(given)
    reaches = [(n - 1) * s for n, s in zip(given.shape, given.strides, strict=True)]
    before = -sum(r for r in reaches if r < 0)
    size = before + sum(r for r in reaches if r > 0) + given.itemsize
    memory = cp.empty(size // given.itemsize, given.dtype)
    host = np.ndarray(
        given.shape, given.dtype, memory._host, before, strides=given.strides
    )
    host[...] = given
    return memory._own(host)


def run(fake: Installed, source: Source, inputs: Sequence[Any]) -> tuple[Any, Any]:
    """The results and writes of an emitted program, as it gives them."""
    namespace: dict[str, Any] = {}
    exec(compile(source.text, "<emitted>", "exec"), namespace)
    namespace.update(source.names)
    arena = namespace[source.arena]()
    arrays = [on_device(fake.module, i) for i in inputs]
    constants = [np.asarray(c) for c in source.constants.values()]
    found: tuple[Any, Any] = run_quietly(
        namespace[source.entry], *arrays, *constants, arena
    )
    return found


def expected(graph: Graph, inputs: Sequence[Any]) -> list[Array]:
    values = interpret_all(
        graph, [tg.from_numpy(i) if isinstance(i, np.ndarray) else i for i in inputs]
    )
    return [np.asarray(values[v]._array) for v in graph.outputs]


def check(
    fake: Installed, graph: Graph, inputs: Sequence[Any], seeds: Sequence[int] = (1,)
) -> Source:
    """Assert that the emitted program gives the interpreter's numbers."""
    source = emitted(graph)
    wanted = expected(graph, inputs)
    for seed in seeds:
        fake.schedule(seed)
        results, writes = run(fake, source, inputs)
        assert writes == ()
        for have, want in zip(results, wanted, strict=True):
            same(have.get(), want)
    return source


def same(have: Array, want: Array) -> None:
    assert have.dtype == want.dtype
    assert have.shape == want.shape
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(have, want)
        return
    name = want.dtype.name
    rtol, atol = CUDA_ON_CPU[name]
    if name in ("float16", "bfloat16"):
        have, want = have.astype(np.float32), want.astype(np.float32)
    np.testing.assert_allclose(have, want, rtol, atol)
