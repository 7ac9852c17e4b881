from collections.abc import Callable

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
