"""Identity, views and shared memory of what goes in and comes out (semantics 96-98)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.captured.compare import compare_calls, ran


def x4(start: float = 1.0, grad: bool = False) -> tg.Tensor:
    return tg.tensor([start, 2.0, 3.0, 4.0], requires_grad=grad)


def two_views(x: tg.Tensor) -> Any:
    y = x * 2
    return y[0], y[1:3]


def view_and_base(x: tg.Tensor) -> Any:
    y = x * 2
    return y[1:], y, y.view(2, 2)


def detached_after(x: tg.Tensor) -> Any:
    y = x * 2
    return y, y.detach()


def detached_before(x: tg.Tensor) -> Any:
    y = x * 2
    return y.detach(), y


def chain_of_views(x: tg.Tensor) -> Any:
    y = (x * 2).view(2, 2)
    return y.t()[0], y.expand(3, 2, 2)


def view_under_no_grad(x: tg.Tensor) -> Any:
    y = x * 2
    with tg.no_grad():
        v = y[1:]
    return y, v


def unbound(x: tg.Tensor) -> Any:
    return x.unbind(0), x.chunk(2)


def nested(x: tg.Tensor) -> Any:
    return {"b": x, "a": [x + 1, (None, 3, "text", x[0])]}


def written_then_viewed(x: tg.Tensor) -> Any:
    y = x * 2
    y[0] = 5.0
    y.add_(1)
    return y, y[2:]


RESULTS: dict[str, Callable[[tg.Tensor], Any]] = {
    "itself": lambda x: x,
    "twice": lambda x: (x, x),
    "same result twice": lambda x: [y := x + 1, y],
    "view of input": lambda x: x[1:],
    "two views of input": lambda x: (x[0], x[1:], x.view(2, 2)),
    "detached input": lambda x: x.detach(),
    "data": lambda x: x.data,
    "view of detached": lambda x: x.detach()[1:],
    "expanded": lambda x: x.expand(3, 4),
    "transposed": lambda x: x.view(2, 2).t(),
    "no-op reshape": lambda x: x.reshape(4),
    "contiguous": lambda x: x.contiguous(),
    "contiguous transposed": lambda x: x.view(2, 2).t().contiguous(),
    "to the same": lambda x: x.to(tg.float32),
    "plus 0": lambda x: x + 0,
    "times 1": lambda x: x * 1,
    "clone": lambda x: x.clone(),
    "clone of transposed": lambda x: x.view(2, 2).t().clone(),
    "plus 1 of transposed": lambda x: x.view(2, 2).t() + 1,
    "dropout in eval": lambda x: tg.nn.functional.dropout(x, 0.5, training=False),
    "two views of a result": two_views,
    "views and base": view_and_base,
    "detached after": detached_after,
    "detached before": detached_before,
    "chain of views": chain_of_views,
    "view under no_grad": view_under_no_grad,
    "unbind": unbound,
    "structure": nested,
    "written result": written_then_viewed,
    "flip": lambda x: x.flip(0),
    "constant": lambda x: (tg.ones(2), tg.tensor([1.0, 2.0])),
    "nothing": lambda x: None,
    "numbers": lambda x: (len(x), x.shape, x.dtype, 2.5, True),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("name", RESULTS)
def test_results(name: str, grad: bool) -> None:
    def make() -> Sequence[Sequence[Any]]:
        return [(x4(k, grad),) for k in (1.0, 7.0, -2.0)]

    compare_calls(RESULTS[name], make, backward=grad)


# These results a program can make; the others fall back.
@pytest.mark.parametrize("name", sorted(set(RESULTS) - {"detached before"}))
def test_results_come_from_a_program(name: str) -> None:
    captured = tg.trace(RESULTS[name])
    for start in (1.0, 7.0):
        captured(x4(start))
    assert ran(captured), captured.explain()


def views_of_one(step: int) -> tuple[tg.Tensor, tg.Tensor]:
    base = tg.ones(8)
    return base[:4], base[step : step + 4]


def add_to_first(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
    a.mul_(2)
    return a + b


PATTERNS: dict[str, Callable[[], Any]] = {
    "apart": lambda: (x4(), x4(5.0)),
    "same": lambda: (x := x4(), x),
    "overlap by 2": lambda: views_of_one(2),
    "overlap by 3": lambda: views_of_one(1),
    "disjoint parts": lambda: views_of_one(4),
    "same region": lambda: views_of_one(0),
    "detached": lambda: (x := x4(), x.detach()),
    "base and view": lambda: (x := tg.ones(5), x[1:])[::1],
}


@pytest.mark.parametrize("second", sorted(set(PATTERNS) - {"base and view"}))
@pytest.mark.parametrize("first", sorted(set(PATTERNS) - {"base and view"}))
def test_a_program_serves_one_pattern_of_sharing(first: str, second: str) -> None:
    compare_calls(
        add_to_first, lambda: [PATTERNS[p]() for p in (first, second, first, second)]
    )


def test_overlapping_slices() -> None:
    captured = tg.trace(add_to_first)
    for _ in range(3):
        assert captured(*views_of_one(2)).tolist() == [4.0, 4.0, 3.0, 3.0]


def test_one_object_given_twice() -> None:
    captured = tg.trace(add_to_first)
    for _ in range(3):
        x = x4()
        assert captured(x, x).tolist() == [4.0, 8.0, 12.0, 16.0]


def test_base_and_its_view() -> None:
    def write(base: tg.Tensor, part: tg.Tensor) -> tg.Tensor:
        part.add_(1)
        return base * part.sum()

    def make() -> Sequence[Sequence[Any]]:
        found = []
        for start in (0, 2, 0, 1):
            base = tg.arange(6).to(tg.float32)
            found.append((base, base[start : start + 3]))
        return found

    compare_calls(write, make)


def test_two_tensors_over_one_buffer() -> None:
    def make() -> Sequence[Sequence[Any]]:
        found = []
        for offset in (0, 4, 16):
            memory = bytearray(np.ones(16, np.float32).tobytes())
            arrays = [
                np.frombuffer(memory, np.float32, 4, offset=place)
                for place in (0, offset)
            ]
            found.append(tuple(map(tg.from_numpy, arrays)))
        return found

    compare_calls(add_to_first, make)
    compare_calls(add_to_first, lambda: make()[::-1])


def test_results_are_fresh() -> None:
    captured = tg.trace(lambda x: (x * 2, x.sum(), tg.tensor([1.0])))
    earlier = [captured(x4(k)) for k in (1.0, 2.0, 3.0)]
    assert [r[0][0].item() for r in earlier] == [2.0, 4.0, 6.0]
    for result in earlier:
        result[2].mul_(9)
    assert captured(x4())[2].tolist() == [1.0]


def test_results_fed_back() -> None:
    captured = tg.trace(lambda x: x * 2)
    x = tg.ones(2)
    for _ in range(5):
        x = captured(x)
    assert x.tolist() == [32.0, 32.0]


def test_views_of_inputs_are_not_confused() -> None:
    """A view of the second of two overlapping inputs is of that one."""
    compare_calls(
        lambda a, b: (b[0:1], a[1:], b), lambda: [views_of_one(2) for _ in range(3)]
    )
