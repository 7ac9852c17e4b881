"""A changing int beside a number of another kind, which would read it in C."""

import functools
import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tracegrad as tg

LEFTS: dict[str, Any] = {
    "float": 2.5,
    "equal float": 3.0,
    "bool": True,
    "np.float64": np.float64(2.5),
    "np.float32": np.float32(2.5),
    "np.int64": np.int64(5),
    "array": np.array([2.5, 3.0]),
    "Decimal": Decimal("2.5"),
    "Fraction": Fraction(5, 2),
}
NUMBERS = (1, 2, 3, 4, 3, 5)


def agree(
    function: Callable[..., tg.Tensor], numbers: tuple[Any, ...] = NUMBERS
) -> None:
    """Check that a captured function equals the eager one for each number."""
    traced = tg.trace(function)
    x = tg.ones(2)
    for number in numbers:
        expected, found = function(x, number), traced(x, number)
        assert found.tolist() == expected.tolist(), number


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": lambda left, n: left + n,
    "-": lambda left, n: left - n,
    "*": lambda left, n: left * n,
    "/": lambda left, n: left / n,
    "//": lambda left, n: left // n,
    "%": lambda left, n: left % n,
    "**": lambda left, n: left**n,
    "==": lambda left, n: left == n,
    "!=": lambda left, n: left != n,
    "<": lambda left, n: left < n,
    "<=": lambda left, n: left <= n,
    ">": lambda left, n: left > n,
    ">=": lambda left, n: left >= n,
}


@pytest.mark.parametrize("sign", FUNCTIONS)
@pytest.mark.parametrize("left", LEFTS)
def test_right_of_another_kind(left: str, sign: str) -> None:
    apply, value = FUNCTIONS[sign], LEFTS[left]
    agree(lambda x, n: x * tg.tensor(np.asarray(apply(value, n), dtype=float)))


def added(x: tg.Tensor, n: int) -> tg.Tensor:
    rate = 0.5
    rate *= n
    return x * rate


class Held:
    rate = 0.5


def changed_attribute(x: tg.Tensor, n: int) -> tg.Tensor:
    held = Held()
    held.rate *= n
    return x * held.rate


def changed_item(x: tg.Tensor, n: int) -> tg.Tensor:
    rates = [0.5]
    rates[0] += n
    return x * rates[0]


def recursive(x: tg.Tensor, n: int, depth: int = 3) -> Any:
    return 0.5 * (n if depth == 0 else recursive(x, n, depth - 1))


@pytest.mark.parametrize(
    "function",
    [
        added,
        changed_attribute,
        changed_item,
        lambda x, n: x * recursive(x, n),
        lambda x, n: x * (0.1 * math.cos(math.pi * n / 10)),
        lambda x, n: x * sum(0.5 * k for k in range(n)),
        lambda x, n: x * sum([0.5, n]),
        lambda x, n: x * max([1.5, n]),
        lambda x, n: x * sorted([2.5, n])[0],
        lambda x, n: x * functools.reduce(operator.mul, [0.5, n]),
        lambda x, n: x * abs(1j * n),
        lambda x, n: x * (2 if 1.5 < n < 3.5 else 1),
        lambda x, n: x * (2 if n in [2.0, 5.0] else 1),
        lambda x, n: x * (2 if 2.0 in [n, 0] else 1),
        lambda x, n: x * (2 if [2.0] == [n] else 1),  # noqa: SIM300
        lambda x, n: x * len("%d%d" % (n, 10**n)),  # noqa: UP031
        lambda x, n: x * float(np.mean([0.5, n])),
        lambda x, n: x * float(np.prod((0.5, n))),
    ],
)
def test_wherever_it_stands(function: Callable[..., tg.Tensor]) -> None:
    agree(function)
    agree(function, (2, 2, 3, 1, 4, 3))


def test_it_stays_an_input_where_only_arithmetic_is_done() -> None:
    traced = tg.trace(lambda x, n: x * (0.5 * n) + (1.0 - n))
    for n in NUMBERS:
        traced(tg.ones(2), n)
    assert len(traced.specializations) == 2


def test_beside_a_tensor_it_stays_an_input() -> None:
    def step(x: tg.Tensor, n: int) -> tg.Tensor:
        y = x * n
        y *= n
        return tg.where(y > n, y, x)

    agree(step)
    traced = tg.trace(step)
    for n in NUMBERS:
        traced(tg.ones(2), n)
    assert len(traced.specializations) == 2
