"""Emitted reductions give the interpreter's numbers, on the CPU."""

from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.codegen.registry import sample
from tests.cuda import functions
from tests.cuda.emitted import (
    Array,
    backward_graph,
    check,
    emitted,
    fused_graph,
    kernel_names,
    run,
    sample_inputs,
)
from tests.cuda.test_target_pointwise import by_dtype
from tests.support.cuda_on_cpu.fake_cupy import Installed
from tracegrad.codegen.c_family.problems import problem_of
from tracegrad.codegen.kernel import kernel_of
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dtypes import DType, bool_, complex64, float16, float32, int8
from tracegrad.errors import TracegradError
from tracegrad.ir.builder import GraphBuilder
from tracegrad.ir.graph import Graph, Value
from tracegrad.spec import TensorSpec

SIZES = (0, 1, 31, 32, 33, 1000)
SEEDS = (0, 1, 2)
QUICK = (bool_, int8, float16, float32, complex64)
SHAPES_AND_DIMS = (
    ((4, 33), (1,)),
    ((33, 4), (0,)),
    ((5, 9), (0, 1)),
    ((3, 5, 7), (1,)),
    ((3, 5, 7), (0, 2)),
    ((3, 5, 7), (2, 0)),
    ((2, 600), (1,)),
    ((40, 2), (0,)),
    ((1, 6), (0,)),
    ((7,), (0,)),
    ((), ()),
    ((0, 3), (0,)),
    ((3, 0), (0,)),
)


def reductions() -> list[OpDef]:
    return [o for o in OPERATORS.values() if "reduction" in o.facts]


def every_reduction(dtype: DType, rng: np.random.Generator) -> tuple[Graph, list[Any]]:
    """A graph of each reduction over each shape, as far as it is defined."""
    builder = GraphBuilder("reductions")
    inputs, outputs = [], []
    for shape, dim in SHAPES_AND_DIMS:
        values = sample(dtype, -2.0, 2.0, rng, without_special=True)
        inputs.append(np.resize(values, shape).astype(dtype.numpy))
        operand = builder.input("x", TensorSpec(dtype, shape))
        for operator in reductions():
            outputs += _applied(builder, operator, operand, dim)
    return builder.finish(outputs), inputs


def _applied(
    builder: GraphBuilder, operator: OpDef, operand: Value, dim: tuple[int, ...]
) -> list[Value]:
    attributes = {a.name: a.default for a in operator.attributes}
    attributes |= {"dim": tuple(sorted(dim)), "keepdim": len(dim) % 2 == 0}
    try:
        (found,) = builder.node(operator, (operand,), attributes, hint=operator.name)
    except TracegradError:
        return []
    node = builder.nodes[-1]
    kernel = kernel_of("one", Graph("one", (operand,), (node,), node.results))
    if kernel is None or problem_of(kernel) is not None:
        builder.nodes.pop()
        return []
    return [found]


@pytest.mark.parametrize("dtype", by_dtype(QUICK))
def test_every_reduction(fake_cupy: Installed, dtype: DType) -> None:
    graph, inputs = every_reduction(dtype, np.random.default_rng(0))
    assert len(graph.outputs) >= len(SHAPES_AND_DIMS)
    source = check(fake_cupy, graph, inputs, (3,))
    assert "np.add.reduce" not in source.text


def test_there_are_reductions() -> None:
    assert {"sum", "amax"} <= {o.name for o in reductions()}


ROWS = {
    "softmax": functions.softmax_rows,
    "log_sum_exp": functions.log_sum_exp,
    "full_sum": functions.full_sum,
}


def each(function: Any) -> Any:
    """The function of each of several inputs: kernels of one source."""
    return lambda *inputs: tuple(map(function, inputs))


def normal(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("name", ROWS)
def test_sizes_of_rows(fake_cupy: Installed, name: str) -> None:
    inputs = [normal(3, size) for size in SIZES[1:]]
    check(fake_cupy, fused_graph(each(ROWS[name]), inputs), inputs, SEEDS)


def test_sizes_of_columns(fake_cupy: Installed) -> None:
    inputs = [normal(size, 35) for size in SIZES]
    check(fake_cupy, fused_graph(each(functions.column_sum), inputs), inputs, SEEDS)


def test_numbers_of_rows(fake_cupy: Installed) -> None:
    inputs = [normal(size, 5) for size in SIZES]
    check(fake_cupy, fused_graph(each(functions.softmax_rows), inputs), inputs, (1,))


def affine(shape: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(np.float32)
    return [x, *rng.standard_normal((2, shape[-1])).astype(np.float32)]


@pytest.mark.parametrize("shape", [(6, 33), (2, 3, 10), (3, 700)])
def test_layer_norm(fake_cupy: Installed, shape: tuple[int, ...]) -> None:
    inputs = affine(shape)
    graph = fused_graph(functions.layer_norm, inputs)
    source = check(fake_cupy, graph, inputs, SEEDS)
    assert len(kernel_names(source)) == 1


def test_batch_norm(fake_cupy: Installed) -> None:
    x, weight, _ = affine((50, 40))
    graph = fused_graph(functions.batch_norm, [x, weight])
    source = check(fake_cupy, graph, [x, weight], SEEDS)
    assert len(kernel_names(source)) == 1


BACKWARD = {
    "softmax": (functions.softmax_rows, 1),
    "log_sum_exp": (functions.log_sum_exp, 1),
    "layer_norm": (functions.layer_norm, 3),
}


@pytest.mark.parametrize("shape", [(6, 33), (3, 700)])
@pytest.mark.parametrize("name", BACKWARD)
def test_backward(fake_cupy: Installed, name: str, shape: tuple[int, ...]) -> None:
    function, count = BACKWARD[name]
    inputs = affine(shape)[:count]
    graph = backward_graph(function, inputs)
    given = sample_inputs(graph, np.random.default_rng(0))
    check(fake_cupy, graph, given, SEEDS)


def test_middle_axes_and_both_ends(fake_cupy: Installed) -> None:
    x = np.random.default_rng(0).standard_normal((3, 5, 7)).astype(np.float32)
    arrays = [x, np.asfortranarray(x), x[:, ::-1, ::2], x.transpose(1, 2, 0)]
    check(fake_cupy, fused_graph(all_middle, arrays), arrays, SEEDS)


def all_middle(*arrays: Any) -> Any:
    return tuple(v for a in arrays for v in functions.middle(a))


CHUNKED = {
    "one long row": (functions.softmax_rows, (1, 9000)),
    "few long rows": (functions.softmax_rows, (3, 9001)),
    "all of it": (functions.full_sum, (90, 100)),
    "few long columns": (functions.softmax_columns, (600, 5)),
    "one long column sum": (functions.column_sum, (1030, 40)),
}


@pytest.mark.parametrize("name", CHUNKED)
def test_long_folds_are_cut(fake_cupy: Installed, name: str) -> None:
    function, shape = CHUNKED[name]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    source = check(fake_cupy, fused_graph(function, [x]), [x], SEEDS)
    assert len(kernel_names(source)) > 1
    assert " chunks" in source.text


def test_halves_are_carried_in_float32(fake_cupy: Installed) -> None:
    x = np.full((2, 4000), 0.1, np.float16)
    check(fake_cupy, fused_graph(lambda x: tg.sum(x, 1), [x]), [x])


def test_the_largest_is_nan_where_one_is(fake_cupy: Installed) -> None:
    x = np.zeros((6, 600), np.float32)
    x[range(5), (0, 5, 31, 32, 599)] = np.nan
    y = np.ascontiguousarray(x.T)
    graph = fused_graph(lambda x, y: (tg.amax(x, 1), tg.amax(y, 0)), [x, y])
    check(fake_cupy, graph, [x, y], SEEDS)


def test_a_value_is_equal_to_itself_in_another_loop(fake_cupy: Installed) -> None:
    x = np.random.default_rng(0).standard_normal((4, 50)).astype(np.float32)

    def largest(x: Any) -> Any:
        scaled = x * 0.1 + x * x
        return tg.sum(scaled == tg.amax(scaled, 1, True), 1)

    source = check(fake_cupy, fused_graph(largest, [x]), [x], SEEDS)
    assert "--fmad=false" in source.text


def test_the_order_of_a_sum_does_not_depend_on_the_schedule(
    fake_cupy: Installed,
) -> None:
    x = np.random.default_rng(0).standard_normal((700, 40)).astype(np.float32)
    graph = fused_graph(lambda x: (tg.sum(x), tg.sum(x, 0), tg.sum(x, 1)), [x])
    source = emitted(graph)
    found = []
    for seed in range(3):
        fake_cupy.schedule(seed)
        results, _ = run(fake_cupy, source, [x])
        found.append([r.get() for r in results])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_complex_sums(fake_cupy: Installed) -> None:
    x = np.exp(1j * np.arange(60)).astype(np.complex64).reshape(4, 15)
    graph = fused_graph(lambda x: (tg.sum(x * x, 1), tg.sum(x, 0)), [x])
    assert all(v.spec.dtype is complex64 for v in graph.outputs)
    check(fake_cupy, graph, [x], SEEDS)
