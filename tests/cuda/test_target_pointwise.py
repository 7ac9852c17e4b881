"""Emitted pointwise kernels give the interpreter's numbers, on the CPU."""

from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.codegen import registry
from tests.cuda import functions
from tests.cuda.emitted import (
    Array,
    check,
    emitted,
    expected,
    fused_graph,
    run,
    same,
)
from tests.support.cuda_on_cpu.fake_cupy import Installed
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dtypes import (
    ALL,
    DType,
    bfloat16,
    bool_,
    complex64,
    float16,
    float32,
    float64,
    int8,
    int64,
    uint8,
)
from tracegrad.ir.builder import GraphBuilder
from tracegrad.spec import ScalarSpec, TensorSpec

QUICK = (bool_, uint8, int8, float16, bfloat16, float32, complex64)


def by_dtype(quick: tuple[DType, ...]) -> list[Any]:
    """Parameters of a test: the dtypes, of which those not in `quick` are slow."""
    return [
        pytest.param(d, id=d.name, marks=[] if d in quick else [pytest.mark.slow])
        for d in ALL
    ]


SIZES = (0, 1, 31, 32, 33, 1000)


@pytest.mark.parametrize("dtype", by_dtype(QUICK))
def test_every_operator(fake_cupy: Installed, dtype: DType) -> None:
    applications = list(registry.applications(dtype, np.random.default_rng(0)))
    assert len(applications) > 40
    graph = registry.kernel_graph(applications)
    inputs = registry.arrays_of(applications)
    results, _ = run(fake_cupy, emitted(graph), inputs)
    wanted = expected(graph, inputs)
    wrong = []
    for application, have, want in zip(applications, results, wanted, strict=True):
        try:
            same(have.get(), want)
        except AssertionError as error:
            wrong.append(f"{application.operator.name}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "dtypes",
    [
        pytest.param((*QUICK, int64, float64), id="some"),
        pytest.param(ALL, id="all", marks=pytest.mark.slow),
    ],
)
def test_every_conversion(fake_cupy: Installed, dtypes: tuple[DType, ...]) -> None:
    rng = np.random.default_rng(0)
    arrays = {d: registry.sample(d, -300.0, 300.0, rng) for d in dtypes}
    builder = GraphBuilder("conversions")
    outputs = []
    for dtype, array in arrays.items():
        value = builder.input(dtype.code, TensorSpec(dtype, array.shape))
        outputs += [
            builder.node(OPERATORS["cast"], (value,), {"dtype": to}, hint=to.code)[0]
            for to in dtypes
        ]
    check(fake_cupy, builder.finish(outputs), list(arrays.values()))


def test_halves_round_to_nearest_even(fake_cupy: Installed) -> None:
    positive = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    ties = (positive[1:] + positive[:-1]) / 2
    some = np.concatenate([positive, ties, ties * (1 + 1e-12), ties * (1 - 1e-12)])
    doubles = np.concatenate([some, -some, [65519.99, 65520.0, 1e9, np.inf]])

    def halves(x: object, y: object) -> object:
        return tg.cast(x, float16), tg.cast(y, float16), tg.cast(x, bfloat16)

    singles = doubles.astype(np.float32)
    check(fake_cupy, fused_graph(halves, [doubles, singles]), [doubles, singles])


@pytest.mark.parametrize("size", SIZES)
def test_sizes(fake_cupy: Installed, size: int) -> None:
    rng = np.random.default_rng(size)
    x, y = rng.standard_normal((2, size)).astype(np.float32)
    check(fake_cupy, fused_graph(functions.chain, [x, y]), [x, y], (0, 1))


def strided(seed: int) -> list[Array]:
    """Arrays of shape (4, 6, 5) or that broadcast to it, in all sorts of memory."""
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((4, 6, 5)).astype(np.float32)
    return [
        dense,
        np.ascontiguousarray(dense.transpose(2, 0, 1)).transpose(1, 2, 0),
        np.asfortranarray(dense),
        rng.standard_normal((8, 6, 15)).astype(np.float32)[1::2, :, ::3],
        dense[:, ::-1, ::-1],
        np.broadcast_to(dense[:, :1, :], (4, 6, 5)),
        dense[:1],
        dense[0, :, :1],
        dense[0, 0],
        np.array(dense[0, 0, 0]),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_strides_and_broadcasts(fake_cupy: Installed, seed: int) -> None:
    inputs = strided(seed)

    def pairs(*arrays: Any) -> Any:
        return tuple(a * 2 + b for a in arrays for b in arrays[:2])

    check(fake_cupy, fused_graph(pairs, inputs), inputs, (seed,))


def test_results_keep_the_order_of_memory(fake_cupy: Installed) -> None:
    x = np.asfortranarray(np.ones((3, 4), np.float32))
    source = emitted(fused_graph(lambda x: tg.exp(x) + 1, [x]))
    (result,), _ = run(fake_cupy, source, [x])
    assert result.strides == x.strides
    assert " / " not in source.text, "dense arrays are indexed linearly"


def test_several_outputs(fake_cupy: Installed) -> None:
    x = np.linspace(-2, 2, 66, dtype=np.float64).reshape(6, 11)
    graph = fused_graph(functions.two_outputs, [x, x[0]])
    assert len(graph.nodes) == 1
    check(fake_cupy, graph, [x, x[0].copy()], (0, 1, 2))


def test_narrow_integers_wrap_in_every_step(fake_cupy: Installed) -> None:
    x = np.arange(-128, 128).astype(np.int8)
    check(fake_cupy, fused_graph(lambda x: (x + x + x) * x - 100, [x]), [x])


def test_halves_round_in_every_step(fake_cupy: Installed) -> None:
    x = np.linspace(-60, 60, 500).astype(np.float16)
    graph = fused_graph(lambda x: (x * 1000.5 + x) / 999 - x, [x])
    results, _ = run(fake_cupy, emitted(graph), [x])
    np.testing.assert_array_equal(results[0].get(), expected(graph, [x])[0])


def test_python_numbers_are_arguments(fake_cupy: Installed) -> None:
    builder = GraphBuilder("update")
    x = np.linspace(-1, 1, 10, dtype=np.float32)
    weight = builder.input("weight", TensorSpec(float32, x.shape))
    rate = builder.input("rate", ScalarSpec("float"))
    count = builder.input("count", ScalarSpec("int"))
    flag = builder.input("flag", ScalarSpec("bool"))
    (scaled,) = builder.node(OPERATORS["mul"], (weight, rate), {})
    (moved,) = builder.node(OPERATORS["add"], (scaled, count), {})
    (chosen,) = builder.node(OPERATORS["logical_and"], (moved, flag), {})
    graph = builder.finish([moved, chosen])
    source = emitted(graph)
    results, _ = run(fake_cupy, source, [x, 0.1, 3, True])
    np.testing.assert_array_equal(results[0].get(), x * np.float32(0.1) + np.float32(3))
    assert results[1].get().all()
    assert "np.float64(rate)" in source.text
    assert "np.int64(count)" in source.text


def test_numbers_that_have_no_literal(fake_cupy: Installed) -> None:
    x = np.linspace(-1, 1, 10, dtype=np.float64)

    def odd(x: Any) -> Any:
        infinite = float("inf")
        return x * infinite, x + float("nan"), x - infinite, x * -0.0, x * 5e-324

    check(fake_cupy, fused_graph(odd, [x]), [x])
