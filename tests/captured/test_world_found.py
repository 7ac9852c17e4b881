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
