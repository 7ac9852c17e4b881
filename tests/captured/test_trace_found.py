"""What the random programs found, each as a test of its own."""

from __future__ import annotations

from typing import Any

import tracegrad as tg
from tests.captured.compare import compare_calls, ran
from tracegrad import nn


def leaf(*values: float) -> tg.Tensor:
    return tg.tensor(list(values), requires_grad=True)


def test_an_input_that_no_gradient_leads_to_gets_none() -> None:
    captured = tg.trace(lambda x, w: (x * 2, w * 2, w.sum().item()))
    for _ in range(3):
        x, w = leaf(1.0), leaf(2.0)
        captured(x, w)[0].sum().backward()
        assert x.grad.tolist() == [2.0]
        assert w.grad is None
    assert ran(captured)


def test_a_gradient_of_zeros_is_one() -> None:
    captured = tg.trace(lambda x: (x.floor(), x * 2))
    for _ in range(3):
        x = leaf(1.5)
        captured(x)[0].sum().backward()
        assert x.grad.tolist() == [0.0]


def test_a_view_that_lost_its_place_used_without_gradient() -> None:
    def f(x: tg.Tensor) -> Any:
        part = x.unbind(0)[1]
        x.sin_()
        return part.data * 1, part.detach() + 1

    compare_calls(f, lambda: [(leaf(k, 2.0) * 1,) for k in (1.0, 2.0, 3.0)])


def test_a_number_that_changes_in_a_derivative() -> None:
    def f(x: tg.Tensor, k: float) -> tg.Tensor:
        return (x * k).sin()

    captured = compare_calls(
        f, lambda: [(leaf(1.0, 2.0), k) for k in (0.5, 2.0, 3.0, 4.0)], backward=True
    )
    assert len(captured.specializations) == 2, captured.explain()


def test_a_rule_that_looks_at_a_number_that_changes() -> None:
    compare_calls(
        lambda x, k: (tg.clamp(x, max=k), x**k, k / x),
        lambda: [(leaf(1.0, 2.0), k) for k in (0.5, 2.0, 3.0, 4.0)],
        backward=True,
    )


def test_a_view_made_after_its_base_was_written() -> None:
    def f(x: tg.Tensor) -> Any:
        x.add_(1)
        with tg.no_grad():
            part = x[1:]
        return x.chunk(2)[1], part, x * 2

    captured = compare_calls(
        f, lambda: [(leaf(k, 2.0) * 1,) for k in (1.0, 2.0, 3.0)], backward=True
    )
    assert ran(captured)


def test_the_version_of_data_that_was_written() -> None:
    def f(x: tg.Tensor) -> Any:
        same = x.data
        same.mul_(2)
        return same, same[1:]

    captured = compare_calls(
        f, lambda: [(tg.tensor([k, 2.0]),) for k in (1.0, 2.0, 3.0)]
    )
    assert ran(captured)


def test_what_is_loaded_when_first_asked_for() -> None:
    """`tg.nn` is in its module only afterwards: no reason for another program."""
    captured = tg.trace(lambda x: tg.nn.functional.relu(x))
    for _ in range(3):
        captured(tg.ones(1))
    assert len(captured.specializations) == 1


def test_an_alias_of_what_is_written_is_saved_as_it_was() -> None:
    def f(x: tg.Tensor, same: tg.Tensor) -> Any:
        x.sin_()
        return same, x

    def make() -> Any:
        return [((x := leaf(k, 2.0) * 1), x.detach()) for k in (1.0, 2.0, 3.0)]

    assert ran(compare_calls(f, make, backward=True))


def test_what_is_copied_from_a_leaf_is_none() -> None:
    def f(x: tg.Tensor, w: tg.Tensor) -> tg.Tensor:
        x.copy_(w)
        return x

    captured = compare_calls(
        f, lambda: [(tg.ones(2), leaf(k, 2.0)) for k in (1.0, 2.0, 3.0)], backward=True
    )
    assert ran(captured)
    x, w = tg.ones(2), leaf(1.0, 2.0)
    f(x, w)
    assert not x.is_leaf


def test_backward_reads_a_saved_view_of_a_tensor_that_is_gone() -> None:
    w = leaf(0.1, 0.2, 0.3, 0.4)

    def step(x: tg.Tensor) -> Any:
        w.grad = None
        h = (w * x).exp().view(2, 2)
        h = h @ h
        h.flatten().view(4).sin().sum().backward()
        return w.grad

    captured = compare_calls(step, lambda: [(tg.tensor([k] * 4),) for k in (1.0, 2.0)])
    assert ran(captured), captured.explain()


def test_a_small_convolutional_step_is_captured() -> None:
    tg.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3)
    )
    optimizer = tg.optim.Adam(model.parameters(), lr=0.01)

    def step(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    captured = tg.trace(step)
    for _ in range(3):
        captured(tg.ones(2, 1, 6, 6), tg.tensor([0, 2]))
    assert ran(captured), captured.explain()
