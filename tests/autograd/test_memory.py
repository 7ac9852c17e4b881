"""What the tape holds is freed by reference counting alone, and chains may be long."""

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tracegrad as tg


@pytest.fixture(autouse=True)
def _no_cycle_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def every_entry(tensor: Any) -> list[Any]:
    """Return the tape entries under a tensor."""
    found: list[Any] = []
    pending = [tensor.grad_fn]
    while pending:
        entry = pending.pop()
        if entry is not None and entry not in found:
            found.append(entry)
            pending.extend(target for target, _ in entry.next_functions)
    return found


class Double(tg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        out = x * 2
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        x, out = ctx.saved_tensors
        return ct * out / x


def in_place(x: Any) -> Any:
    y = x * x
    y[1:].mul_(x[1:])
    return y.exp_()


def hooked(x: Any) -> Any:
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 1)
    y.grad_fn.register_hook(lambda given, cts: None)
    x.register_post_accumulate_grad_hook(lambda t: None)
    return y * y


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x * x.exp(),
        lambda x: (x @ x) / x,
        lambda x: x[1:].sum() * x.sum(),
        lambda x: tg.cat([x, x]).exp(),
        in_place,
        hooked,
        lambda x: Double.apply(x) * x,
    ],
    ids=["save", "matmul", "views", "several", "in-place", "hooks", "function"],
)
@pytest.mark.parametrize("run_backward", [False, True])
def test_everything_is_freed_without_the_collector(
    program: Callable[[Any], Any], run_backward: bool
) -> None:
    x = tg.tensor([0.5, 1.5, 2.0], requires_grad=True)
    y = program(x)
    z = y.sum()
    references = [weakref.ref(t) for t in (x, y, z, *every_entry(z))]
    if run_backward:
        z.backward()
        references.append(weakref.ref(x.grad))
    del x, y, z
    assert [r for r in references if r() is not None] == []


def test_gradients_of_gradients_are_freed() -> None:
    x = tg.tensor([0.5, 1.5], requires_grad=True)
    (first,) = tg.autograd.grad((x * x.exp()).sum(), x, create_graph=True)
    (second,) = tg.autograd.grad(first.sum(), x)
    references = [weakref.ref(t) for t in (x, first, second, *every_entry(first))]
    del x, first, second
    assert [r for r in references if r() is not None] == []


def test_backward_frees_what_was_saved() -> None:
    x = tg.tensor([0.5, 1.5], requires_grad=True)
    y = x.exp() * x
    saved = weakref.ref(y.grad_fn.next_functions[0][0].saved[0])
    y.sum().backward()
    assert saved() is None


def test_a_failed_backward_keeps_no_tensors() -> None:
    def failing(gradient: Any) -> None:
        raise KeyError

    x = tg.tensor([0.5, 1.5], requires_grad=True)
    y = x.exp()
    y.register_hook(failing)
    reference = weakref.ref(y)
    with pytest.raises(KeyError):
        (y * y).sum().backward()
    del y
    assert reference() is None
    assert x.grad is None
    assert tg.is_grad_enabled()


def test_a_chain_of_100_000_operators() -> None:
    x = tg.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + x
    entry = weakref.ref(y.grad_fn)
    y.backward()
    assert x.grad.tolist() == [100_001.0]
    del y
    assert entry() is None


def test_a_long_chain_of_views_and_functions() -> None:
    x = tg.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(5_000):
        y = Double.apply(y.view(1)) * 0.5
    y.backward()
    assert x.grad.tolist() == [1.0]
