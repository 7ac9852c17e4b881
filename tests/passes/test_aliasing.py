"""What eager mode keeps apart in memory, captured programs keep apart."""

from collections.abc import Callable

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.dispatch.tensor import Tensor


def view_and_clone(x: Tensor) -> tuple[Tensor, ...]:
    a = x.exp()
    return a.view(1, 3), a.clone()


def view_of_the_operand(x: Tensor) -> tuple[Tensor, ...]:
    a = x.exp()
    v = a.view(1, 3)
    return a.clone(), v.clone(), v


def computed_twice(x: Tensor) -> tuple[Tensor, ...]:
    return x.exp().view(1, 3), x.exp()


def cloned_twice(x: Tensor) -> tuple[Tensor, ...]:
    a = x.exp()
    return a.clone(), a.clone()


def times_one(x: Tensor) -> tuple[Tensor, ...]:
    return x * 1, x


def base_and_view(x: Tensor) -> tuple[Tensor, ...]:
    a = x.exp()
    return a, a.view(1, 3)


@pytest.mark.parametrize(
    "function",
    [
        view_and_clone,
        view_of_the_operand,
        computed_twice,
        cloned_twice,
        times_one,
        base_and_view,
    ],
)
def test_results_share_memory_as_eagerly(
    function: Callable[..., tuple[Tensor, ...]],
) -> None:
    traced = tg.trace(function)
    x = tg.tensor([1.0, 2.0, 3.0])
    expected = shared(function(x))
    for _ in range(3):
        assert shared(traced(x)) == expected
    assert traced.graph is not None


def shared(results: tuple[Tensor, ...]) -> list[bool]:
    arrays = [result.numpy() for result in results]
    return [np.shares_memory(a, b) for a in arrays for b in arrays]


def swap(x: Tensor, y: Tensor) -> None:
    t = x.clone()
    x.copy_(y)
    y.copy_(t)


def rotate(x: Tensor, y: Tensor) -> None:
    t = x * 1
    x.copy_(y.view(3))
    y.add_(1)
    y.copy_(t)


@pytest.mark.parametrize("function", [swap, rotate])
def test_writes_read_what_was_there_before(function: Callable[..., None]) -> None:
    traced = tg.trace(function)
    x, y = tg.tensor([1.0, 2.0, 3.0]), tg.tensor([4.0, 5.0, 6.0])
    v, w = x.clone(), y.clone()
    for _ in range(4):
        traced(x, y)
        function(v, w)
        assert (x.tolist(), y.tolist()) == (v.tolist(), w.tolist())
    assert traced.graph is not None
