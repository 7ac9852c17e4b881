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
