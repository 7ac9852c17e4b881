"""Which entries a backward pass runs, frees and fills."""

from __future__ import annotations

import pytest

import tracegrad as tg


def test_grad_by_a_result_does_not_run_the_operator_that_made_it() -> None:
    x = tg.tensor([1.0, 4.0], requires_grad=True)
    y = x.sqrt()
    (ones,) = tg.autograd.grad(y.sum(), y)
    assert ones.tolist() == [1.0, 1.0]
    # Nothing that it saved was freed.
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.5, 0.25]


def test_grad_by_a_result_whose_saved_tensors_are_gone_or_written() -> None:
    x = tg.tensor([1.0, 4.0], requires_grad=True)
    y = x.sqrt()
    y.sum().backward()
    z = y * 2
    assert tg.autograd.grad(z.sum(), [z, y])[1].tolist() == [2.0, 2.0]
    w = tg.ones(2)
    v = x * w
    w.add_(1)
    assert tg.autograd.grad(v.sum(), v)[0].tolist() == [1.0, 1.0]


def test_grad_by_a_result_and_by_what_it_came_from() -> None:
    x = tg.tensor([1.0, 4.0], requires_grad=True)
    y = x * x
    by_y, by_x = tg.autograd.grad((y * 3).sum(), [y, x])
    assert by_y.tolist() == [3.0, 3.0]
    assert by_x.tolist() == [6.0, 24.0]


def test_hooks_of_an_entry_that_is_not_run() -> None:
    x = tg.tensor([1.0, 4.0], requires_grad=True)
    y = x * x
    assert y.grad_fn is not None
    seen: list[str] = []
    y.grad_fn.register_hook(lambda a, b: seen.append("after"))
    y.register_hook(lambda g: seen.append("tensor"))
    tg.autograd.grad((y * 3).sum(), y)
    assert seen == ["tensor"]


def test_retained_and_asked_for_is_filled_once() -> None:
    x = tg.tensor([1.0, 4.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward(inputs=[y], retain_graph=True)
    assert y.grad is not None
    assert y.grad.tolist() == [1.0, 1.0]
    y.sum().backward(inputs=[y, x])
    assert y.grad.tolist() == [2.0, 2.0]
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("how", ["requires_grad_", "detach_"])
def test_a_leaf_that_no_longer_requires_grad_is_not_filled(how: str) -> None:
    x = tg.tensor([1.0, 4.0], requires_grad=True)
    w = tg.ones(2, requires_grad=True)
    y = x * w
    if how == "requires_grad_":
        x.requires_grad_(False)
    else:
        x.detach_()
    y.sum().backward()
    assert x.grad is None
    assert w.grad is not None
    assert w.grad.tolist() == [1.0, 4.0]
