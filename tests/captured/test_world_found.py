"""What random programs over a world of objects found, each as a small program."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.captured.compare import compare_calls, ran

rate: Any = 0.5


def test_a_view_by_strides_of_what_was_written_whole() -> None:
    """The value that was written has other strides than the memory."""

    def filled(x: tg.Tensor) -> Any:
        copy = x * 2
        copy[...] = 0.5
        return copy.as_strided((4,), (1,)), copy.as_strided((2,), (2,), 1)

    def copied(x: tg.Tensor) -> Any:
        copy = x.view(2, 2) * 2
        copy.copy_(x.view(2, 2).t())
        return copy.as_strided((4,), (1,)), copy + 1

    for function in (filled, copied):
        assert ran(compare_calls(function, lambda: [[tg.arange(4.0)]] * 3))


def test_as_strided_of_any_layout_stays_inside() -> None:
    graph = tg.ir.parse(
        "graph f(%x: f32[]) {\n"
        "  %e: f32[2, 3] strides[0, 0] = expand(%x, size=[2, 3])\n"
        "  %y: f32[6] = as_strided(%e, size=[6], stride=[1], storage_offset=0)\n"
        "  return %y\n}"
    )
    assert tg.ir.interpret(graph, tg.tensor(2.0))[0].tolist() == [2.0] * 6


@pytest.mark.parametrize(
    "make",
    [
        lambda: tg.tensor(1.5).expand(4),
        lambda: tg.tensor([1.5]).expand(4),
        lambda: tg.arange(3.0).as_strided((4,), (0,)),
    ],
)
def test_one_element_of_an_expanded_input_is_written(make: Any) -> None:
    """All places that show the element change."""

    def negate(x: tg.Tensor) -> tg.Tensor:
        x[2].neg_()
        return x * 2

    compare_calls(negate, lambda: [[make()] for _ in range(3)])


def test_an_element_that_overlapping_windows_share_is_written() -> None:
    def write(x: tg.Tensor) -> tg.Tensor:
        x[1, 0].mul_(10)
        return x * 2

    compare_calls(write, lambda: [[tg.arange(4.0).unfold(0, 2, 1)] for _ in range(3)])


@pytest.mark.parametrize("how", ["inner", "input", "view"])
def test_data_is_written_after_an_operator_saved_it(how: str) -> None:
    """Backward uses the new data, as eager mode does."""

    def function(x: tg.Tensor, w: tg.Tensor) -> tg.Tensor:
        y = x if how == "input" else x * 2
        saved = y[:2] if how == "view" else y
        result = saved * w[: saved.shape[0]]
        y.data.add_(1)
        return result

    def make() -> Any:
        return [[tg.arange(3.0), tg.ones(3, requires_grad=True)] for _ in range(3)]

    compare_calls(function, make, backward=True)


def test_data_is_written_before_an_operator_saves_it() -> None:
    def function(x: tg.Tensor, w: tg.Tensor) -> tg.Tensor:
        y = x * 2
        y.data.add_(1)
        return y * w

    def make() -> Any:
        return [[tg.arange(3.0), tg.ones(3, requires_grad=True)] for _ in range(3)]

    assert ran(compare_calls(function, make, backward=True))


@pytest.mark.parametrize(
    "value", [np.ones(2), np.ones(0), np.float32(0.5), np.int64(3), np.array("text")]
)
def test_numpy_objects_are_returned(value: Any) -> None:
    def function(x: tg.Tensor) -> Any:
        return x + 1, value

    traced = tg.trace(function)
    for _ in range(3):
        result, same = traced(tg.ones(2))
        assert result.tolist() == [2.0, 2.0]
        assert same is value


def test_objects_that_refuse_to_be_compared_are_returned() -> None:
    class Incomparable:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        __hash__ = None  # type: ignore[assignment]

    value = Incomparable()
    traced = tg.trace(lambda x: (x + 1, [value]))
    for _ in range(3):
        assert traced(tg.ones(2))[1][0] is value


@pytest.mark.parametrize(
    "numbers",
    [
        (1.0, 2.0, float("nan"), 3.0, float("inf"), -0.0),
        (1.0, float("nan"), 2.0, float("nan")),
        (1, 2, 10**30, 3),
        (1.0, 2.0, 1e300, 300.0),
    ],
)
@pytest.mark.parametrize("dtype", [None, "int64", "uint8", "float16", "bool"])
def test_constants_beside_numbers_that_change(numbers: Any, dtype: Any) -> None:
    """A number that changes to one that a constant's dtype can't hold."""

    def function(x: tg.Tensor, number: float) -> Any:
        places = tg.tensor([2, 0], dtype=dtype and getattr(tg, dtype))
        return x * number, x + places.sum(), tg.tensor([number, 1.0])

    compare_calls(function, lambda: [[tg.ones(2), number] for number in numbers])


@pytest.mark.parametrize(
    "other",
    [True, 2j, np.float32(2), np.float64(2), Fraction(1, 2), Decimal(2), "ab", None],
    ids=repr,
)
@pytest.mark.parametrize("first", [2, 0.5])
def test_arithmetic_of_numbers_that_change_with_any_other(
    first: float, other: Any
) -> None:
    def function(x: tg.Tensor, number: float) -> Any:
        found = []
        for operate in (
            lambda a, b: a + b,
            lambda a, b: a * b,
            lambda a, b: a - b,
            lambda a, b: a / b,
            lambda a, b: a // b,
            lambda a, b: a % b,
            lambda a, b: a**b,
        ):
            for pair in ((number, other), (other, number)):
                try:
                    result = operate(*pair)
                except TypeError as error:
                    result = str(error)
                found.append((type(result).__name__, str(result)))
        return x * number, found

    calls = [first, first + 1, first + 2, first + 4]
    compare_calls(function, lambda: [[tg.ones(2), number] for number in calls])


def _pointwise(w: tg.Tensor) -> tg.Tensor:
    with tg.no_grad():
        y = w * 2
    return y * w


def _view(w: tg.Tensor) -> tg.Tensor:
    with tg.no_grad():
        y = w[:]
    return y * w


def _view_of_inner(w: tg.Tensor) -> tg.Tensor:
    y = w * 1
    with tg.no_grad():
        z = y.view(3, 1)
    return z[:, 0] * w + y


def _several_results(w: tg.Tensor) -> tg.Tensor:
    with tg.no_grad():
        first, *_ = w.unbind(0)
        rows = w.expand(2, 3)
    return first * w + rows[0]


def _several_operands(w: tg.Tensor) -> tg.Tensor:
    with tg.no_grad():
        y = tg.stack([w, w * 3])
    return (y * w).sum(0)


def _same_object(w: tg.Tensor) -> tg.Tensor:
    y = w * 2
    with tg.no_grad():
        z = y.contiguous()
    return z * w


def _grad_again_inside(w: tg.Tensor) -> tg.Tensor:
    with tg.no_grad():
        y = w * 2
        with tg.enable_grad():
            z = w * 3
    return y * z


def _decorated(w: tg.Tensor) -> tg.Tensor:
    @tg.no_grad()
    def target(x: tg.Tensor) -> tg.Tensor:
        return x.softmax(0)

    return target(w) * w


def _switched(w: tg.Tensor) -> tg.Tensor:
    tg.set_grad_enabled(False)
    y = w.exp()
    tg.set_grad_enabled(True)
    return y * w


def _written(w: tg.Tensor) -> tg.Tensor:
    y = w * 2
    with tg.no_grad():
        y.mul_(w)
    return y * w


def _grads_inside(w: tg.Tensor) -> tg.Tensor:
    (w**3).sum().backward()
    assert w.grad is not None
    return w.grad * w


def _grads_with_graph(w: tg.Tensor) -> tg.Tensor:
    (grad,) = tg.autograd.grad((w**3).sum(), w, create_graph=True)
    with tg.no_grad():
        constant = grad * 1
    return grad * constant


@pytest.mark.parametrize(
    "function",
    [
        _pointwise, _view, _view_of_inner, _several_results, _several_operands,
        _same_object, _grad_again_inside, _decorated, _switched, _written,
        _grads_inside, _grads_with_graph,
    ],
)  # fmt: skip
def test_what_no_grad_made_inside_is_constant_for_backward(function: Any) -> None:
    def make() -> Any:
        return [[tg.tensor([0.5, 1.0, 2.0], requires_grad=True)] for _ in range(3)]

    compare_calls(function, make, backward=True)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a * 2,
        lambda a, b: (a * 2, b * 3),
        lambda a, b: a[1:] * 2 + b[1:],
        lambda a, b: (b[1:], a[1:] * 2),
    ],
)
def test_inputs_shared_memory_when_recorded_and_no_longer(function: Any) -> None:
    def make() -> Any:
        base, other = tg.arange(4.0), tg.full((4,), 7.0)
        together = [base[:], base[:]]
        return [together, together, [base[:], other[:]], [other[:], base[:]], together]

    compare_calls(function, make)


def test_a_view_in_a_composite_is_one_that_may_be_written() -> None:
    def function(x: tg.Tensor) -> tg.Tensor:
        y = x * 1
        y.reshape(2, 2).flatten()[1:].mul_(3)
        return y

    assert ran(compare_calls(function, lambda: [[tg.ones(4)]] * 3))
