"""Writes to inputs and inside, versions, and what the tape makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import tracegrad as tg
from tests.captured.compare import compare_calls, ran


def add_inside_view(x: tg.Tensor) -> tg.Tensor:
    x[1:3].add_(1)
    return x * 2


def item_set(x: tg.Tensor) -> tg.Tensor:
    x[0] = 7.0
    x[1:3] = x[2:4].clone()
    return x.sum()


def read_before_and_after(x: tg.Tensor) -> Any:
    before = x * 1
    x.add_(1)
    return before, x * 1


def through_data(x: tg.Tensor) -> tg.Tensor:
    x.data.mul_(2)
    return x + 1


def through_detach(x: tg.Tensor) -> tg.Tensor:
    x.detach().mul_(2)
    return x * 3


def under_no_grad(x: tg.Tensor) -> tg.Tensor:
    with tg.no_grad():
        x.mul_(2)
    return x * 3


def view_under_no_grad(x: tg.Tensor) -> tg.Tensor:
    with tg.no_grad():
        x[1:].mul_(2)
    return x * 3


def copied(x: tg.Tensor) -> tg.Tensor:
    x.copy_(tg.ones(4) * 5)
    return x


def zeroed(x: tg.Tensor) -> Any:
    y = x * 2
    x.zero_()
    return x, y


def out_given(x: tg.Tensor) -> tg.Tensor:
    y = tg.empty(4)
    tg.add(x.detach(), 1, out=y)
    return y * x


def transposed_write(x: tg.Tensor) -> tg.Tensor:
    x.view(2, 2).t()[0].add_(10)
    return x


def views_of_views(x: tg.Tensor) -> Any:
    a = x.view(2, 2)
    b = a[1]
    b.mul_(3)
    a[:, 0].sub_(1)
    return b, x[::2]


def scratch(x: tg.Tensor) -> tg.Tensor:
    y = tg.zeros(4)
    for i in range(4):
        y[i] = x[i] * i
    return y


def twice_written(x: tg.Tensor) -> tg.Tensor:
    x.add_(1).mul_(2)
    return x.clone()


def written_after_use(x: tg.Tensor) -> tg.Tensor:
    y = x * x
    x.add_(1)
    return y


def exp_in_place(x: tg.Tensor) -> tg.Tensor:
    x.exp_()
    return x * 2


def masked(x: tg.Tensor) -> tg.Tensor:
    x[x > 2] = 0.0
    return x


def fill_by_mask(x: tg.Tensor) -> tg.Tensor:
    return x.masked_fill_(x > 2, -1.0)


WRITES: dict[str, Callable[[tg.Tensor], Any]] = {
    f.__name__: f
    for f in (
        add_inside_view, item_set, read_before_and_after, through_data, through_detach,
        under_no_grad, view_under_no_grad, copied, zeroed, out_given, transposed_write,
        views_of_views, scratch, twice_written, written_after_use, exp_in_place, masked,
        fill_by_mask,
    )
}  # fmt: skip

INPUTS: dict[str, Callable[[float], tg.Tensor]] = {
    "plain": lambda k: tg.tensor([k, 2.0, 3.0, 4.0]),
    "leaf": lambda k: tg.tensor([k, 2.0, 3.0, 4.0], requires_grad=True),
    "inner": lambda k: tg.tensor([k, 2.0, 3.0, 4.0], requires_grad=True) * 1,
    "view": lambda k: tg.tensor([k, 2.0, 3.0, 4.0, 9.0])[:4],
    "inner view": lambda k: (tg.tensor([k, 2.0, 3.0, 4.0], requires_grad=True) * 1)[:],
    "strided": lambda k: tg.tensor([k, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0])[::2],
}


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str, kind: str) -> None:
    def make() -> Sequence[Sequence[Any]]:
        return [(INPUTS[kind](k),) for k in (1.0, 5.0, -1.0)]

    compare_calls(WRITES[name], make, backward=True)


@pytest.mark.parametrize("name", sorted(set(WRITES) - {"masked"}))
def test_writes_come_from_a_program(name: str) -> None:
    captured = tg.trace(WRITES[name])
    for k in (1.0, 5.0):
        captured(INPUTS["plain"](k))
    assert ran(captured), captured.explain()


@pytest.mark.parametrize("kind", ["inner", "inner view"])
@pytest.mark.parametrize("name", ["add_inside_view", "exp_in_place", "twice_written"])
def test_writes_with_gradient_come_from_a_program(name: str, kind: str) -> None:
    captured = tg.trace(WRITES[name])
    for k in (1.0, 5.0):
        captured(INPUTS[kind](k))
    assert ran(captured), captured.explain()


@pytest.mark.parametrize("name", WRITES)
def test_gradient_reaches_what_the_input_came_from(name: str) -> None:
    """The leaf behind an input that was written gets the gradient eager mode gives."""

    def run(function: Callable[..., Any]) -> list[Any]:
        found = []
        for k in (1.0, 2.5, 3.5):
            leaf = tg.tensor([k, 2.0, 3.0, 4.0], requires_grad=True)
            x = leaf * 3
            try:
                function(x)
                (x * tg.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
            except Exception as error:
                found.append(type(error))
            found.append(None if leaf.grad is None else leaf.grad.tolist())
        return found

    assert run(tg.trace(WRITES[name])) == run(WRITES[name])


def swapped(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
    t = a.clone()
    a.copy_(b)
    b.copy_(t)
    return a - b


def rotated(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
    a.add_(b)
    b.copy_(a)
    a.copy_(a.flip(0))
    return b


def shifted(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
    a[1:] = a[:-1].clone()
    b[:-1] = a[1:]
    return a


@pytest.mark.parametrize("function", [swapped, rotated, shifted])
def test_two_inputs_written(function: Callable[..., Any]) -> None:
    def make() -> Sequence[Sequence[Any]]:
        return [
            (tg.tensor([k, 2.0, 3.0]), tg.tensor([4.0, k, 6.0]))
            for k in (1.0, 8.0, 9.0)
        ]

    assert ran(compare_calls(function, make))


def test_gradient_enters_a_buffer() -> None:
    """An input without gradient that a tracked value is written into."""

    def fill(buffer: tg.Tensor, w: tg.Tensor) -> tg.Tensor:
        buffer[1] = w * 2
        return buffer * 1

    def make() -> Sequence[Sequence[Any]]:
        return [
            (tg.zeros(3), tg.tensor(k, requires_grad=True)) for k in (1.0, 2.0, 3.0)
        ]

    assert ran(compare_calls(fill, make, backward=True))


def test_written_between_forward_and_backward() -> None:
    """As eagerly: mul_ raises, data.mul_ uses the new value (semantics 111)."""
    captured = tg.trace(lambda x, w: (x * w).sum())
    w = tg.ones(2, requires_grad=True)
    for _ in range(3):
        x = tg.tensor([2.0, 3.0])
        y = captured(x, w)
        x.mul_(5)
        with pytest.raises(tg.errors.GradientError, match="written in place"):
            y.backward()
        x = tg.tensor([2.0, 3.0])
        y = captured(x, w)
        x.data.mul_(5)
        w.grad = None
        y.backward()
        assert w.grad.tolist() == [10.0, 15.0]
    assert ran(captured)


def test_result_that_backward_needs_written() -> None:
    captured = tg.trace(lambda x: x.exp())
    x = tg.ones(2, requires_grad=True)
    for _ in range(3):
        y = captured(x)
        y.mul_(2)
        with pytest.raises(tg.errors.GradientError, match="written in place"):
            y.sum().backward()
        z = captured(x)
        z.sum().backward()
    assert ran(captured)


def test_failed_write_leaves_everything() -> None:
    def late(x: tg.Tensor, i: tg.Tensor) -> tg.Tensor:
        x.add_(1)
        return x[i]

    def make() -> Sequence[Sequence[Any]]:
        return [(tg.ones(3), tg.tensor([k])) for k in (0, 1, 7, 2)]

    assert ran(compare_calls(late, make))
