"""Values that reach Python: item, branches, sizes; random draws (semantics 99-108)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

import tracegrad as tg
from tests.captured.compare import compare_calls, ran
from tests.captured.programs import asserted


def singles(*values: float) -> Callable[[], Sequence[Sequence[Any]]]:
    return lambda: [(tg.tensor([float(v)]),) for v in values]


def branch(x: tg.Tensor) -> tg.Tensor:
    return x + 1 if x.sum() > 0 else x - 1


def test_branch_follows_the_value() -> None:
    captured = tg.trace(branch, (tg.tensor([1.0]),))
    assert captured(tg.tensor([-5.0])).tolist() == [-6.0]
    compare_calls(branch, singles(1, -5, 2, 0, -1), captured)
    assert len(captured.specializations) == 2
    assert ran(captured)
    assert "elsewhere" in str(captured.explain())


def by_truth(x: tg.Tensor) -> Any:
    return (x * 2, not x) if x else x - 1


def with_while(x: tg.Tensor) -> tg.Tensor:
    while x.sum() < 10:
        x = x + 3
    return x


def both(x: tg.Tensor) -> tg.Tensor:
    return x if x > 0 and x < 5 else -x


def chosen_by_index(x: tg.Tensor) -> float:
    return [10.0, 20.0, 30.0][int(x)]


@pytest.mark.parametrize(
    "function", [by_truth, with_while, asserted, both, chosen_by_index]
)
def test_python_decisions(function: Callable[..., Any]) -> None:
    compare_calls(function, singles(1, 2, 0, 1, -1, 2))


def test_programs_are_bounded() -> None:
    def steps(x: tg.Tensor) -> tg.Tensor:
        for _ in range(int(x)):
            x = x + 1
        return x

    captured = compare_calls(steps, singles(*range(40), 1, 2))
    assert len(captured.specializations) <= 16
    assert "eagerly" in str(captured.explain())


def test_nan_does_not_make_programs_for_ever() -> None:
    captured = compare_calls(
        lambda x: x * 2 if x.item() != x.item() else x, singles(*[math.nan] * 30)
    )
    assert len(captured.specializations) <= 2
    captured = compare_calls(lambda x: x + float(x), singles(*[math.nan] * 30))
    assert len(captured.specializations) <= 2


def test_negative_zero_is_another_value() -> None:
    compare_calls(lambda x: math.copysign(1.0, x), singles(0.0, -0.0, 0.0, -0.0))
    compare_calls(lambda x: str(x.item()), singles(0.0, -0.0, math.inf, -math.inf, 0))


class Pair(NamedTuple):
    value: float
    count: int


ITEMS: dict[str, Callable[[tg.Tensor], Any]] = {
    "float": lambda x: x.sum().item(),
    "with tensor": lambda x: (x * 2, x.sum().item()),
    "arithmetic": lambda x: x.sum().item() / 4 + 1,
    "int": lambda x: (x > 1).sum().item(),
    "two": lambda x: {"a": x[0].item(), "b": [x[0].item() - x[1].item()]},
    "named tuple": lambda x: Pair(x[0].item(), 3),
    "same twice": lambda x: (v := x[0].item(), v),
}


@pytest.mark.parametrize("name", ITEMS)
def test_item_that_is_returned_is_an_output(name: str) -> None:
    def make() -> Sequence[Sequence[Any]]:
        return [(tg.tensor([k, 2.0]),) for k in (1.0, 3.0, -7.5, 0.0)]

    captured = compare_calls(ITEMS[name], make)
    assert len(captured.specializations) == 1, captured.explain()
    assert captured.specializations[0].hits == 3
    result = captured(tg.ones(2))
    assert "StandIn" not in repr(type(result))


def test_item_of_the_recording_call_is_a_number() -> None:
    captured = tg.trace(lambda x: [x.sum().item(), (x > 0).sum().item()])
    assert [type(v) for v in captured(tg.ones(2))] == [float, int]


def test_float_that_decides_stays_eager() -> None:
    def scaled(x: tg.Tensor) -> tg.Tensor:
        return x * math.sqrt(x.sum().item())

    captured = compare_calls(scaled, singles(*range(1, 30)))
    assert len(captured.specializations) <= 2
    assert "changes from call to call" in str(captured.explain())
    assert "test_trace_values.py" in str(captured.explain())


def test_item_in_a_text() -> None:
    compare_calls(lambda x: f"loss {x.item():.2f}", singles(1, 2, 3, 1))


def test_item_as_operand() -> None:
    compare_calls(lambda x: x * x.item() + x.max().item(), singles(1, 2, 3, 1))


def test_item_appended_outside() -> None:
    seen: list[float] = []

    def note(x: tg.Tensor) -> tg.Tensor:
        seen.append(x.item())
        return x * 2

    captured = tg.trace(note)
    for k in (1.0, 2.0, 3.0):
        captured(tg.tensor([k]))
    assert seen == [1.0, 2.0, 3.0]
    assert all(type(v) is float for v in seen)


def test_item_stored_outside() -> None:
    class Holder:
        value = 0.0
        items: dict[str, float] = {}  # noqa: RUF012

    holder = Holder()

    def note(x: tg.Tensor) -> tg.Tensor:
        holder.value = x.item()
        holder.items["last"] = x.item() * 2
        return x * 2

    captured = tg.trace(note)
    for k in (1.0, 2.0, 3.0):
        captured(tg.tensor([k]))
        assert (holder.value, holder.items["last"]) == (k, 2 * k)
        assert type(holder.value) is float
        assert type(holder.items["last"]) is float


def test_sizes_are_not_frozen() -> None:
    def sized(x: tg.Tensor) -> Any:
        total = tg.zeros(x.shape) + len(x)
        for i in range(x.shape[0]):
            total[i] += i
        return total, x.shape[0], tg.tensor(1, dtype=x.dtype)

    def make() -> Sequence[Sequence[Any]]:
        sizes = (3, 4, 0, 1, 3)
        return [(tg.ones(n),) for n in sizes] + [(tg.ones(2, dtype=tg.float64),)]

    compare_calls(sized, make)


def test_sizes_make_few_programs() -> None:
    captured = compare_calls(
        lambda x: x * 2, lambda: [(tg.ones(n),) for n in (*range(30), 1, 0)]
    )
    assert len(captured.specializations) <= 5
    hits = captured.specializations[0].hits
    captured(tg.ones(0))
    assert captured.specializations[0].hits == hits + 1


@pytest.mark.parametrize("kind", ["int", "float", "str", "tuple"])
def test_streams_of_values_make_few_programs(kind: str) -> None:
    stream: dict[str, Callable[[int], Any]] = {
        "int": lambda i: i, "float": lambda i: i / 7, "str": str,
        "tuple": lambda i: (0,) * i,
    }  # fmt: skip

    def use(x: tg.Tensor, v: Any) -> tg.Tensor:
        return x + (v if isinstance(v, int | float) else len(v))

    captured = compare_calls(
        use, lambda: [(tg.ones(2), stream[kind](i)) for i in (*range(50), 0)]
    )
    assert len(captured.specializations) <= 5, captured.explain()


# -- random draws -------------------------------------------------------------------


def two_draws(x: tg.Tensor) -> Any:
    return tg.rand(4), tg.rand(4) + x, tg.randn(20)


def dead_draw(x: tg.Tensor) -> tg.Tensor:
    tg.rand(3)
    unused = tg.randn(5)
    del unused
    return x * 2


def draw_in_loop(x: tg.Tensor) -> tg.Tensor:
    for _ in range(3):
        x = x + tg.rand(1)
    return x


def dropped(x: tg.Tensor) -> tg.Tensor:
    return tg.nn.functional.dropout(x.expand(50), 0.5) * 2


def seeded(x: tg.Tensor) -> Any:
    tg.manual_seed(3)
    return tg.rand(2), x


def drawn_in_place(x: tg.Tensor) -> tg.Tensor:
    x.uniform_()
    return x.normal_() + x.clone().bernoulli_(0.5)


def integers(x: tg.Tensor) -> Any:
    return tg.randint(0, 100, (5,)), tg.randperm(6), tg.bernoulli(tg.rand(8))


def draw_then_branch(x: tg.Tensor) -> tg.Tensor:
    r = tg.rand(1)
    return x + r if r > 0.5 else x - r


@pytest.mark.parametrize(
    "function",
    [two_draws, dead_draw, draw_in_loop, dropped, seeded, drawn_in_place, integers,
     draw_then_branch],
)  # fmt: skip
def test_draws_are_eager_modes(function: Callable[..., Any]) -> None:
    captured = compare_calls(function, singles(1, 2, 3, 4, 5))
    assert ran(captured), captured.explain()


def test_gradient_of_dropout_uses_the_same_mask() -> None:
    captured = tg.trace(lambda x: tg.nn.functional.dropout(x, 0.5))
    for _ in range(3):
        x = tg.ones(100, requires_grad=True)
        y = captured(x)
        y.sum().backward()
        assert x.grad.tolist() == y.tolist()


def test_explicit_generator() -> None:
    def draw(x: tg.Tensor, g: tg.Generator) -> tg.Tensor:
        return x + tg.rand(2, generator=g)

    captured = tg.trace(draw)
    a, b = tg.Generator().manual_seed(1), tg.Generator().manual_seed(1)
    for _ in range(4):
        assert captured(tg.ones(2), a).tolist() == draw(tg.ones(2), b).tolist()
    assert a.get_state().tolist() == b.get_state().tolist()


def test_draw_before_a_failure_counts_once() -> None:
    def late(x: tg.Tensor, i: tg.Tensor) -> tg.Tensor:
        return tg.rand(3)[i] + x

    compare_calls(late, lambda: [(tg.ones(1), tg.tensor([k])) for k in (0, 1, 9, 2, 9)])


def test_pythons_random_is_drawn_each_time() -> None:
    captured = tg.trace(lambda x: x + random.random())
    random.seed(0)
    found = [captured(tg.zeros(1, dtype=tg.float64)).item() for _ in range(3)]
    random.seed(0)
    assert found == [random.random() for _ in range(3)]
    assert "eagerly" in str(captured.explain())
