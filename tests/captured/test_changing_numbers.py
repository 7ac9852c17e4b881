import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg


def by_argument(x: tg.Tensor, rate: float) -> tg.Tensor:
    return x - rate * x


def computed_first(x: tg.Tensor, rate: float) -> tg.Tensor:
    return x * (1 - rate)


@pytest.mark.parametrize("function", [by_argument, computed_first])
def test_a_number_becomes_an_input_after_one_recompile(
    function: Callable[[tg.Tensor, float], tg.Tensor],
) -> None:
    traced = tg.trace(function)
    x = tg.tensor([1.0, 2.0])
    for rate in (0.5, 0.25, 0.125, -3.0):
        assert traced(x, rate).tolist() == function(x, rate).tolist()
    assert len(traced.specializations) == 2
    assert str(traced.explain()).count("made because `rate` was 0.5 and is 0.25") == 1


def test_a_number_that_decides_is_guarded() -> None:
    def clipped(x: tg.Tensor, rate: float) -> tg.Tensor:
        return x * rate if rate < 1 else x

    traced = tg.trace(clipped)
    x = tg.tensor([1.0])
    for rate in (0.5, 0.25, 2.0, 0.125):
        assert traced(x, rate).tolist() == clipped(x, rate).tolist()
    assert len(traced.specializations) == 4


@pytest.mark.parametrize(
    "use",
    [
        lambda x, n: x * math.sqrt(n),
        lambda x, n: x * float(n),
        lambda x, n: x * int(n),
        lambda x, n: x * round(n, 1),
        lambda x, n: x * max(n, 2.0),
        lambda x, n: x * np.sqrt(n),
        lambda x, n: x + tg.tensor([n, 1.0]),
        lambda x, n: x + tg.full((2,), n),
        lambda x, n: x * len(f"{n:.1f}"),
        lambda x, n: x if n > 1.5 else -x,
        lambda x, n: x.clamp(max=n),
        lambda x, n: x.add(x, alpha=n),
        lambda x, n: (x * n).round(decimals=int(n)),
    ],
)
def test_whatever_looks_at_a_changing_number(use: Any) -> None:
    """A number that became an input never stays what it was when recorded."""
    x = tg.tensor([0.5, 2.5])
    run = tg.trace(use)
    for number in (1.25, 2.25, 4.0, 0.5, 9.75, 2.25):
        expected, found = use(x, number), run(x, number)
        assert found.tolist() == expected.tolist(), number


ITEMS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]


def repeated(x: tg.Tensor, n: int) -> tg.Tensor:
    for _ in range(n):
        x = x * 2
    return x


def stored(x: tg.Tensor, n: int) -> tg.Tensor:
    y, items = x * 1, [0] * 12
    y[n:] = 3.0
    y[n - 1] += 5.0
    items[n] = 7
    return y * items.index(7)


class Held:
    def __init__(self) -> None:
        self.n = 0


HELD = Held()


@tg.trace
def by_attribute(x: tg.Tensor) -> tg.Tensor:
    return x * math.sqrt(HELD.n) + (HELD.n << 1)


@pytest.mark.parametrize(
    "use",
    [
        repeated,
        stored,
        lambda x, n: x * ITEMS[n],
        lambda x, n: x * len(ITEMS[:n]),
        lambda x, n: x * len([0] * n),
        lambda x, n: x * len("a" * n),
        lambda x, n: x * len(bytes(n)),
        lambda x, n: x[:n].sum(),
        lambda x, n: x[n],
        lambda x, n: x.reshape(2, 4)[:, ::n].sum(),
        lambda x, n: x * (n & 1),
        lambda x, n: x * (n | 4),
        lambda x, n: x * (n ^ 3),
        lambda x, n: x * (1 << n),
        lambda x, n: x * (n << 1),
        lambda x, n: x * (256 >> n),
        lambda x, n: x * ~n,
        lambda x, n: x * n.real,
        lambda x, n: x * n.bit_length(),
        lambda x, n: x * math.comb(7, n),
        lambda x, n: x * len(hex(n**8)),
        lambda x, n: tg.nn.functional.layer_norm(x, (8,), eps=n),
        lambda x, n: x * sum(1 for _ in zip(range(n), ITEMS, strict=False)),
        lambda x, n: x * sum(range(n)),
        lambda x, n: x * next(reversed(range(n))),
        lambda x, n: x * {1: 2.0, 2: 5.0}.get(n, 7.0),
    ],
)
def test_whatever_looks_at_a_changing_int(use: Any) -> None:
    x = tg.arange(8.0) + 1
    run = tg.trace(use)
    for number in (1, 2, 3, 4, 5, 2):
        expected, found = use(x, number), run(x, number)
        assert found.tolist() == expected.tolist(), number


def test_a_changing_attribute() -> None:
    x = tg.arange(8.0)
    for number in (1, 2, 3, 4, 2):
        HELD.n = number
        assert by_attribute(x).tolist() == by_attribute.eager(x).tolist()
