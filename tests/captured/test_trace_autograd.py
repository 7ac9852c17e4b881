"""The tape around and inside captured functions (semantics 103, 111, 112)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.captured.compare import compare_calls, ran
from tracegrad import nn


def leaf(*values: float) -> tg.Tensor:
    return tg.tensor(list(values), requires_grad=True)


def same_gradients(
    function: Callable[..., Any], run: Callable[[Callable[..., Any]], Any]
) -> Any:
    """Compare what `run` finds of the function and of its capture, three times."""
    captured = tg.trace(function)
    expected = run(function)
    for _ in range(3):
        assert run(captured) == expected, captured.explain()
    return captured


def test_double_backward() -> None:
    def run(f: Callable[..., Any]) -> Any:
        x = leaf(1.0, 2.0)
        w = leaf(3.0, -1.0)
        (g,) = tg.autograd.grad(f(x, w), x, create_graph=True)
        (h,) = tg.autograd.grad((g * g).sum(), w, create_graph=True)
        (k,) = tg.autograd.grad(h.sum(), x)
        return g.tolist(), h.tolist(), k.tolist()

    assert ran(same_gradients(lambda x, w: (x**3 * w).exp().sum(), run))


def test_triple_use_and_accumulation() -> None:
    def run(f: Callable[..., Any]) -> Any:
        x = leaf(1.0, 2.0)
        for _ in range(3):
            (f(x) + f(x * 2)).sum().backward()
        return x.grad.tolist()

    assert ran(same_gradients(lambda x: x * x, run))


def test_retain_graph_and_second_backward() -> None:
    def run(f: Callable[..., Any]) -> Any:
        x = leaf(1.0, 2.0)
        y = f(x).sum()
        y.backward(retain_graph=True)
        y.backward()
        with pytest.raises(tg.errors.GradientError, match="freed"):
            y.backward()
        return x.grad.tolist()

    assert ran(same_gradients(lambda x: x.exp() * x, run))


def test_second_backward_where_nothing_was_saved() -> None:
    def run(f: Callable[..., Any]) -> Any:
        x = leaf(1.0, 2.0)
        y = f(x)
        y.backward()
        y.backward()
        return x.grad.tolist()

    assert ran(same_gradients(lambda x: (x + x).sum(), run))


def test_backward_inside() -> None:
    w = leaf(1.0, 2.0)

    def step(x: tg.Tensor) -> tg.Tensor:
        loss = (w * x).sum()
        loss.backward()
        return loss

    def run(f: Callable[..., Any]) -> Any:
        w.grad = None
        found = []
        for k in (1.0, 2.0, 3.0):
            loss = f(tg.tensor([k, 1.0]))
            found.append((loss.item(), loss.requires_grad, w.grad.tolist()))
            with pytest.raises(tg.errors.GradientError):
                loss.backward()
        return found

    assert ran(same_gradients(step, run))


def test_gradient_that_is_bound_and_returned_is_one_object() -> None:
    w = leaf(1.0, 2.0)

    def step(x: tg.Tensor) -> Any:
        w.grad = None
        (w * x).sum().backward()
        return w.grad

    captured = tg.trace(step)
    for k in (1.0, 2.0, 3.0):
        g = captured(tg.tensor([k, k]))
        assert g is w.grad
        assert g.tolist() == [k, k]
    assert ran(captured)


def test_gradient_bound_to_a_tensor_from_outside() -> None:
    w, g = leaf(1.0, 2.0), tg.ones(2)

    def bind(x: tg.Tensor) -> tg.Tensor:
        w.grad = g
        return x * 2

    captured = tg.trace(bind)
    for _ in range(3):
        w.grad = None
        captured(tg.ones(1))
        assert w.grad is g


def test_zero_grad_both_ways() -> None:
    for to_none in (True, False):
        model = nn.Linear(2, 1)
        optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

        def step(
            x: tg.Tensor, m: Any = model, o: Any = optimizer, n: bool = to_none
        ) -> Any:
            o.zero_grad(set_to_none=n)
            loss = m(x).sum()
            loss.backward()
            o.step()
            return loss

        captured = tg.trace(step)
        state = {k: v.clone() for k, v in model.state_dict().items()}
        expected = [step(tg.ones(1, 2)).item() for _ in range(5)]
        model.load_state_dict(state)
        model.zero_grad()
        found = [captured(tg.ones(1, 2)).item() for _ in range(5)]
        assert found == pytest.approx(expected, rel=1e-6)
        assert ran(captured)


def test_gradient_inside_by_grad() -> None:
    def inner(x: tg.Tensor) -> Any:
        y = (x**3).sum()
        (g,) = tg.autograd.grad(y, x, create_graph=True)
        return g, (g * g).sum()

    def run(f: Callable[..., Any]) -> Any:
        x = leaf(1.0, 2.0)
        g, penalty = f(x)
        penalty.backward()
        return g.tolist(), x.grad.tolist(), g.requires_grad

    same_gradients(inner, run)


def test_history_before_the_call() -> None:
    """Backward inside through operators that ran before the call."""

    def run(f: Callable[..., Any]) -> Any:
        found = []
        for k in (2.0, 5.0):
            w = leaf(1.0, 2.0)
            f((w * k) if k < 3 else (w * k).exp())
            found.append(w.grad.tolist())
        return found

    same_gradients(lambda x: x.sum().backward(), run)


def test_leaf_made_inside() -> None:
    def make(x: tg.Tensor) -> Any:
        w = tg.ones(2, requires_grad=True)
        y = (w * x).sum()
        return w, y

    def run(f: Callable[..., Any]) -> Any:
        w, y = f(tg.tensor([3.0, 4.0]))
        y.backward()
        return w.grad.tolist(), w.is_leaf, w.requires_grad

    same_gradients(make, run)

    def solve(x: tg.Tensor) -> Any:
        w = tg.ones(2, requires_grad=True)
        (w * x).sum().backward()
        return w.grad * 2

    captured = compare_calls(
        solve, lambda: [(tg.tensor([k, 2.0]),) for k in (1.0, 2.0, 3.0)]
    )
    assert ran(captured)


def test_hooks_on_results_and_inputs() -> None:
    def run(f: Callable[..., Any]) -> Any:
        seen: list[Any] = []
        x = leaf(1.0, 2.0)
        x.register_hook(lambda g: seen.append(g.tolist()))
        h = x * 1
        h.retain_grad()
        y = f(h)
        y.register_hook(lambda g: g * 10)
        y.retain_grad()
        y.sum().backward()
        return seen, h.grad.tolist(), y.grad.tolist(), x.grad.tolist()

    assert ran(same_gradients(lambda x: x * x, run))


def test_hooks_inside() -> None:
    def hooked(x: tg.Tensor) -> tg.Tensor:
        h = x * 2
        h.register_hook(lambda g: g * 3)
        return h.exp()

    def run(f: Callable[..., Any]) -> Any:
        x = leaf(1.0, 2.0)
        f(x).sum().backward()
        return x.grad.tolist()

    same_gradients(hooked, run)

    def all_inside(x: tg.Tensor) -> Any:
        h = x * 2
        h.register_hook(lambda g: g * 3)
        h.exp().sum().backward()

    def run_inside(f: Callable[..., Any]) -> Any:
        x = leaf(1.0, 2.0)
        f(x)
        return x.grad.tolist()

    same_gradients(all_inside, run_inside)


def test_builtin_as_hook_inside() -> None:
    seen: list[tg.Tensor] = []

    def hooked(x: tg.Tensor) -> None:
        h = x * 2
        h.register_hook(seen.append)
        h.sum().backward()

    captured = tg.trace(hooked)
    for _ in range(3):
        captured(leaf(1.0))
    assert len(seen) == 3


def test_hook_registered_from_inside_on_a_parameter() -> None:
    seen: list[Any] = []
    w = leaf(1.0)

    def hook(x: tg.Tensor) -> tg.Tensor:
        w.register_hook(lambda g: seen.append(g.item()))
        return w * x

    captured = tg.trace(hook)
    for _ in range(3):
        captured(tg.ones(1)).backward()
    assert len(seen) == 1 + 2 + 3


def test_retain_grad_inside() -> None:
    def inside(x: tg.Tensor) -> Any:
        h = x * 2
        h.retain_grad()
        h.exp().sum().backward()
        return h.grad

    def run(f: Callable[..., Any]) -> Any:
        return f(leaf(0.5)).tolist()

    same_gradients(inside, run)


class Cube(tg.autograd.Function):
    """A derivative that a user wrote, not the true one."""

    @staticmethod
    def forward(ctx: Any, x: tg.Tensor) -> tg.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: tg.Tensor) -> tg.Tensor:
        (x,) = ctx.saved_tensors
        return g * x * 100


def test_function_of_the_users() -> None:
    def run(f: Callable[..., Any]) -> Any:
        x = leaf(1.0, 2.0)
        y = f(x)
        y.sum().backward()
        return y.tolist(), x.grad.tolist()

    same_gradients(lambda x: Cube.apply(x) * 2, run)

    def run_inside(f: Callable[..., Any]) -> Any:
        x = leaf(1.0, 2.0)
        f(x)
        return x.grad.tolist()

    same_gradients(lambda x: Cube.apply(x).sum().backward(), run_inside)


def test_requires_grad_changed_inside() -> None:
    def run(f: Callable[..., Any]) -> Any:
        x = tg.ones(2)
        y = f(x)
        return x.requires_grad, y.requires_grad

    same_gradients(lambda x: x.requires_grad_() * 2, run)
    same_gradients(lambda x: (x * 2).detach_(), run)

    def frozen(x: tg.Tensor) -> tg.Tensor:
        x.requires_grad = False
        return x * 2

    same_gradients(frozen, lambda f: (f(x := leaf(1.0)).requires_grad, x.requires_grad))


def test_leaf_and_inner_are_told_apart() -> None:
    def write(x: tg.Tensor) -> tg.Tensor:
        x.mul_(2)
        return x

    captured = tg.trace(write)
    for _ in range(2):
        captured(leaf(1.0) * 1)
        with pytest.raises(tg.errors.InplaceError, match="leaf"):
            captured(leaf(1.0))


def test_attributes_of_tensors() -> None:
    def look(x: tg.Tensor) -> Any:
        return x.is_leaf, x.requires_grad, x._version, x.grad is None, x * 2

    def make() -> Any:
        a, b = leaf(1.0), tg.ones(1)
        b.add_(1)
        c = leaf(1.0)
        c.grad = tg.ones(1)
        return [(leaf(1.0),), (leaf(1.0) * 1,), (tg.ones(1),), (b,), (c,), (a,)]

    compare_calls(look, make)

    def tagged(x: Any) -> tg.Tensor:
        return x * x.scale

    captured = tg.trace(tagged)
    for scale in (2.0, 3.0, 2.0):
        x = tg.ones(1)
        x.scale = scale
        assert captured(x).item() == scale


def test_func_grad_of_a_captured_function() -> None:
    captured = tg.trace(lambda x: (x**3).sum())
    for _ in range(2):
        assert tg.func.grad(captured)(tg.tensor([2.0])).tolist() == [12.0]
        captured(tg.ones(1))


def test_no_confusion_of_perturbations() -> None:
    def f(x: tg.Tensor) -> tg.Tensor:
        def inner(y: tg.Tensor) -> tg.Tensor:
            return (x + y).sum()

        return (x * tg.func.grad(inner)(tg.ones(1))).sum()

    captured = tg.trace(lambda x: tg.func.grad(f)(x))
    for _ in range(3):
        assert captured(tg.ones(1)).tolist() == [1.0]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (2, 3)])
def test_shapes(shape: tuple[int, ...]) -> None:
    assert ran(
        compare_calls(
            lambda x: (x * 2 + x.sum(), x.mean() if x.numel() else x),
            lambda: [(tg.full(shape, k, requires_grad=True),) for k in (1.0, 2.0, 3.0)],
            backward=True,
        )
    )


LAYOUTS: dict[str, Callable[[tg.Tensor], tg.Tensor]] = {
    "transposed": lambda x: x.t(),
    "step": lambda x: x[::2],
    "columns": lambda x: x[:, 1:3],
    "flipped": lambda x: x.flip(0),
    "expanded": lambda x: x[0].expand(3, 4),
    "one column": lambda x: x[:, 0],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_inputs(name: str) -> None:
    def make() -> Any:
        found = []
        for k in (1.0, 2.0, 3.0):
            base = (tg.arange(16).to(tg.float32) * k).view(4, 4)
            found.append((LAYOUTS[name](base),))
        return found

    assert ran(compare_calls(lambda x: ((x + 1).exp().sum(0), x * 2, x > 3), make))


def test_reversed_memory() -> None:
    """Negative strides, which only NumPy makes."""

    def make() -> Any:
        arrays = [np.arange(4.0)[::-1] + k for k in range(3)]
        return [(tg.from_numpy(a.copy()[::-1].copy()),) for a in arrays]

    assert ran(compare_calls(lambda x: x * 2, make))


def test_integers_and_masks() -> None:
    def f(x: tg.Tensor, i: tg.Tensor, mask: tg.Tensor) -> Any:
        return x[i], x * mask, i // 2 + i % 3, (~mask).any(), tg.where(mask, x, 0.0)

    def make() -> Any:
        return [
            (
                tg.tensor([k, 2.0, 3.0], requires_grad=True),
                tg.tensor([0, 2]),
                tg.tensor([True, False, k > 1]),
            )
            for k in (1.0, 2.0, 3.0)
        ]

    assert ran(compare_calls(f, make, backward=True))


def test_a_bound_gradient_beside_what_backward_needs() -> None:
    def f(a: Any) -> Any:
        (a * a).sum().backward()
        # Backward needs the draw, which is no result.
        return tg.rand(4) * a

    def make() -> Any:
        return [[tg.full((4,), k, requires_grad=True)] for k in (1.0, 2.0, 3.0)]

    compare_calls(f, make, backward=True)


def test_the_error_of_a_written_tensor_names_the_line_in_every_call():
    def spoilt(x):
        w = tg.ones(3) * 2
        y = x * w
        w.add_(1)
        return y.sum()

    captured = tg.trace(spoilt)
    for function in (spoilt, captured):
        for _ in range(3):
            loss = function(tg.ones(3, requires_grad=True))
            with pytest.raises(tg.errors.GradientError, match=r"since, at .*\.py:\d+"):
                loss.backward()


def test_the_error_of_a_written_argument_names_the_line_in_every_call():
    def spoil(x, w):
        y = x * w
        w.add_(1)
        return y.sum()

    captured = tg.trace(spoil)
    for function in (spoil, captured):
        for _ in range(3):
            loss = function(tg.ones(3, requires_grad=True), tg.ones(3))
            with pytest.raises(tg.errors.GradientError, match=r"since, at .*\.py:\d+"):
                loss.backward()
