"""Whole emitted programs: library calls, writes, checks, and what kernels cannot do."""

from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.cuda.emitted import (
    check,
    emitted,
    expected,
    fused_graph,
    kernel_names,
    run,
    same,
)
from tests.support.cuda_on_cpu.fake_cupy import Installed
from tracegrad.codegen.source import Source
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dtypes import float32
from tracegrad.ir.builder import GraphBuilder
from tracegrad.ir.graph import BindGrad, Check, Graph, WriteStorage
from tracegrad.location import Location
from tracegrad.ops.normalizing import softmax
from tracegrad.spec import TensorSpec


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def test_calls_between_kernels(fake_cupy: Installed) -> None:
    x, w, b = normal(8, 12), normal(12, 10), normal(10)

    def layer(x: Any, w: Any, b: Any) -> Any:
        hidden = tg.tanh(tg.matmul(x, w) + b)
        return softmax(tg.matmul(hidden, hidden.transpose(0, 1)), 1)

    graph = fused_graph(layer, [x, w, b])
    source = check(fake_cupy, graph, [x, w, b], (0, 1))
    assert source.text.count("np.dot") == 2
    assert len(kernel_names(source)) == 2


def test_nothing_is_copied_to_the_host(fake_cupy: Installed) -> None:
    x = normal(8, 12)
    source = emitted(fused_graph(lambda x: softmax(x * 2, 1), [x]))
    given = fake_cupy.module.asarray(x)
    before = fake_cupy.counters.device_to_host
    namespace: dict[str, Any] = {}
    exec(source.text, namespace)
    namespace[source.entry](given, namespace[source.arena]())
    assert fake_cupy.counters.device_to_host == before


def update_graph() -> Graph:
    """``weight -= 0.1 * gradient``, with the old weight as result and a check."""
    builder = GraphBuilder("step")
    spec = TensorSpec(float32, (6,))
    weight = builder.input("weight", spec)
    gradient = builder.input("gradient", spec)
    line = Location("train.py", 12)
    (scaled,) = builder.node(OPERATORS["mul"], (gradient, 0.1), {}, line)
    (new,) = builder.node(OPERATORS["sub"], (weight, scaled), {}, line, hint="new")
    attributes = {"dim": (0,), "keepdim": False, "dtype": None}
    (total,) = builder.node(OPERATORS["sum"], (gradient,), attributes, line)
    (positive,) = builder.node(OPERATORS["gt"], (total, 0), {}, line)
    builder.checks.append(Check(positive, True, line))
    builder.writes += [WriteStorage(weight, new, 1, line), BindGrad(gradient, scaled)]
    return builder.finish([weight])


def test_writes_wait_for_the_commit(fake_cupy: Installed) -> None:
    cp = fake_cupy.module
    weight, gradient = normal(6), np.abs(normal(6))
    source = emitted(update_graph())
    namespace: dict[str, Any] = {}
    exec(source.text, namespace)
    device = cp.asarray(weight)
    (old, grad), writes = namespace[source.entry](device, cp.asarray(gradient), ())
    np.testing.assert_array_equal(device.get(), weight)
    np.testing.assert_allclose(grad.get(), gradient * 0.1, 1e-6)
    for function, *arguments in writes:
        function(*arguments)
    np.testing.assert_allclose(device.get(), weight - 0.1 * gradient, 1e-5)
    np.testing.assert_array_equal(old.get(), weight, "results are no aliases of inputs")


def test_a_check_that_fails_leaves_the_program(fake_cupy: Installed) -> None:
    source = emitted(update_graph())
    found, _ = run(fake_cupy, source, [normal(6), np.abs(normal(6))])
    assert found is not None
    found, index = run(fake_cupy, source, [normal(6), -np.abs(normal(6))])
    assert found is None
    assert index == 0


def test_the_users_lines_stand_in_the_source() -> None:
    text = emitted(update_graph()).text
    assert "* 0.1f;  // train.py:12" in text
    assert "(np.copyto, weight, new),  # train.py:12" in text


def test_a_value_that_a_write_replaces_is_returned_as_it_was(
    fake_cupy: Installed,
) -> None:
    cp = fake_cupy.module
    builder = GraphBuilder("swap")
    spec = TensorSpec(float32, (3,))
    a, b = builder.input("a", spec), builder.input("b", spec)
    builder.writes += [WriteStorage(a, b), WriteStorage(b, a)]
    source = emitted(builder.finish([]))
    namespace: dict[str, Any] = {}
    exec(source.text, namespace)
    x, y = cp.asarray(normal(3)), cp.asarray(normal(3) + 1)
    before = x.get(), y.get()
    _, writes = namespace[source.entry](x, y, ())
    for function, *arguments in writes:
        function(*arguments)
    np.testing.assert_array_equal(x.get(), before[1])
    np.testing.assert_array_equal(y.get(), before[0])


def test_results_share_no_memory(fake_cupy: Installed) -> None:
    x = normal(4, 5)

    def several(x: Any) -> Any:
        y = tg.exp(x)
        return y, y.transpose(0, 1), y, x.transpose(0, 1)

    graph = fused_graph(several, [x])
    check(fake_cupy, graph, [x])
    given = fake_cupy.module.asarray(x)
    namespace: dict[str, Any] = {}
    exec(emitted(graph).text, namespace)
    results, _ = namespace["program"](given, ())
    for k, result in enumerate([*results, given]):
        result[...] = k
    for k, result in enumerate(results):
        assert (result.get() == k).all()


def test_other_strides_than_at_capture(fake_cupy: Installed) -> None:
    x = normal(6, 5)
    graph = fused_graph(lambda x: tg.exp(x) + 1, [x])
    source = emitted(graph)
    other = np.asfortranarray(x)
    (found,), _ = run(fake_cupy, source, [other])
    same(found.get(), expected(graph, [x])[0])


def test_strides_that_no_copy_can_have_are_refused(fake_cupy: Installed) -> None:
    x = np.broadcast_to(normal(5), (6, 5))
    source = emitted(fused_graph(lambda x: tg.exp(x), [x]))
    with pytest.raises(ValueError, match="compiled for strides"):
        run(fake_cupy, source, [normal(6, 5)])


def test_division_by_zero_raises(fake_cupy: Installed) -> None:
    x, y = np.arange(6), np.array([1, 2, 3, -1, 0, 2])
    graph = fused_graph(lambda x, y: (x + 1) // y + x, [x, y])
    source = emitted(graph)
    with pytest.raises(tg.errors.DivisionError, match="divided by zero"):
        run(fake_cupy, source, [x, y])
    y[4] = 7
    check(fake_cupy, graph, [x, y])


def test_what_has_no_c_text_is_called(fake_cupy: Installed) -> None:
    x = np.exp(1j * np.arange(6)).astype(np.complex64)
    graph = fused_graph(lambda x: tg.exp(x * 2) + x, [x])
    source = check(fake_cupy, graph, [x])
    assert "np.exp(" in source.text
    assert len(kernel_names(source)) == 2


def test_constants_may_lie_on_the_host(fake_cupy: Installed) -> None:
    x = normal(4)
    builder = GraphBuilder("constant")
    spec = TensorSpec(float32, (4,))
    value = builder.input("x", spec)
    constant = builder.constant("table", spec, normal(4) + 1)
    (product,) = builder.node(OPERATORS["mul"], (value, constant), {})
    graph = builder.finish([product])
    source = emitted(graph)
    assert list(source.constants) == ["table"]
    (found,), _ = run(fake_cupy, source, [x])
    np.testing.assert_array_equal(found.get(), x * (normal(4) + 1))


@pytest.mark.parametrize("name", ["exp", "int", "np", "threadIdx", "lane", "tg_x", "ü"])
def test_names_that_mean_something_else(fake_cupy: Installed, name: str) -> None:
    builder = GraphBuilder(name)
    value = builder.input(name, TensorSpec(float32, (4,)))
    (found,) = builder.node(OPERATORS["exp"], (value,), {}, hint=name)
    (found,) = builder.node(OPERATORS["mul"], (found, value), {}, hint=name)
    check(fake_cupy, builder.finish([found]), [normal(4)])


def test_places_cannot_leave_their_comment(fake_cupy: Installed) -> None:
    builder = GraphBuilder("f")
    value = builder.input("x", TensorSpec(float32, (4,)))
    evil = Location('a"""\n#error */ \\', 1)
    (found,) = builder.node(OPERATORS["exp"], (value,), {}, evil, scope="x\n#error\\")
    source = check(fake_cupy, builder.finish([found]), [normal(4)])
    assert "#error" in source.text
    assert "\n#error" not in source.text


def test_the_same_graph_gives_the_same_text() -> None:
    def text() -> Source:
        x = normal(4, 5)
        return emitted(fused_graph(lambda x: softmax(x, 1) * 2 + 1, [x]))

    assert text().text == text().text
