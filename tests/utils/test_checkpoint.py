"""checkpoint: the same gradients, computed from what is kept of the arguments."""

import gc
import weakref

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn
from tracegrad.errors import ArgumentError, CheckpointError, GradientError
from tracegrad.utils.checkpoint import checkpoint, checkpoint_sequential


@pytest.fixture(params=[True, False], ids=["reentrant", "not reentrant"])
def reentrant(request):
    return request.param


def block():
    tg.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 3))


def gradients(model, x, run):
    x = x.detach().clone().requires_grad_()
    model.zero_grad()
    tg.manual_seed(7)
    run(x).square().sum().backward()
    return [t.grad.tolist() for t in (x, *model.parameters())], tg.rand(2).tolist()


def test_gradients_and_random_numbers_are_those_without(reentrant):
    model = block()
    x = tg.randn(5, 3)
    plain = gradients(model, x, model)
    found = gradients(model, x, lambda x: checkpoint(model, x, use_reentrant=reentrant))
    assert found == plain


def test_several_results_in_containers(reentrant):
    x = tg.ones(2, requires_grad=True)
    y = tg.full((2,), 3.0, requires_grad=True)

    def function(x, y):
        return {"product": x * y, "others": [x.exp().sum(), 5, x.argmax()], "same": x}

    found = checkpoint(function, x, y, use_reentrant=reentrant)
    assert found["others"][1] == 5
    assert found["same"] is x
    assert not found["others"][2].requires_grad
    (found["product"].sum() + found["others"][0]).backward()
    assert y.grad.tolist() == [1, 1]
    np.testing.assert_allclose(x.grad.tolist(), [3 + np.e] * 2, rtol=1e-6)


def test_only_one_of_several_results_is_used(reentrant):
    x = tg.ones(2, requires_grad=True)
    a, b = checkpoint(lambda x: (x * 2, x * 3), x, use_reentrant=reentrant)
    b.sum().backward()
    assert x.grad.tolist() == [3, 3]
    del a


def test_parameters_outside_of_the_arguments():
    w = nn.Parameter(tg.full((2,), 2.0))
    inner = w * 3
    x = tg.ones(2)
    out = checkpoint(lambda x: x * inner * w, x, use_reentrant=False)
    out.sum().backward()
    assert w.grad.tolist() == [12, 12]


def test_reentrant_needs_an_argument_that_requires_grad():
    w = nn.Parameter(tg.ones(2))
    with pytest.warns(UserWarning, match="none of the arguments requires grad"):
        out = checkpoint(lambda x: x * w, tg.ones(2), use_reentrant=True)
    assert not out.requires_grad


def test_autograd_grad_and_second_derivatives():
    x = tg.tensor([2.0], requires_grad=True)
    y = checkpoint(lambda x: x**3, x, use_reentrant=False)
    (first,) = tg.autograd.grad(y, x, create_graph=True)
    (second,) = tg.autograd.grad(first, x)
    assert first.item() == 12
    assert second.item() == 12
    assert x.grad is None


def test_nested_and_one_after_the_other(reentrant):
    x = tg.full((2,), 0.5, requires_grad=True)

    def inner(x):
        return checkpoint(lambda x: x.sin() * 2, x, use_reentrant=reentrant).exp()

    y = checkpoint(inner, x, use_reentrant=reentrant)
    checkpoint(lambda y: y * y, y, use_reentrant=reentrant).sum().backward()
    s, c = np.sin(0.5), np.cos(0.5)
    np.testing.assert_allclose(x.grad.tolist(), [np.exp(4 * s) * 4 * c] * 2, rtol=1e-5)


def test_hooks_run_once_on_the_whole_gradient(reentrant):
    x = tg.ones(2, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    y = checkpoint(lambda x: x * x, x, use_reentrant=reentrant) + x
    y.register_hook(lambda g: seen.append("y"))
    y.sum().backward()
    assert seen == ["y", [3, 3]]


def test_what_forward_made_is_not_kept(reentrant):
    kept = []

    def function(x):
        middle = x.exp()
        kept.append(weakref.ref(middle._array.base or middle))
        return middle.sin()

    x = tg.ones(1000, requires_grad=True)
    y = checkpoint(function, x, use_reentrant=reentrant)
    gc.collect()
    assert kept[0]() is None
    y.sum().backward()
    assert len(kept) == 2
    gc.collect()
    assert kept[1]() is None


def test_backward_twice(reentrant):
    x = tg.ones(2, requires_grad=True)
    y = checkpoint(lambda x: x * x, x, use_reentrant=reentrant).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 4]
    with pytest.raises(GradientError, match="retain_graph"):
        y.backward()


def test_an_argument_that_was_written_since(reentrant):
    x = tg.ones(2, requires_grad=True)
    y = x * 1
    z = checkpoint(lambda y: y * y, y, use_reentrant=reentrant)
    y.add_(1)
    with pytest.raises(CheckpointError, match="written in place"):
        z.sum().backward()


def test_a_function_that_gives_something_else_the_second_time(reentrant):
    calls = []

    def function(x):
        calls.append(0)
        return x * 2 if len(calls) == 1 else (x * 2)[:1]

    y = checkpoint(function, tg.ones(2, requires_grad=True), use_reentrant=reentrant)
    with pytest.raises(CheckpointError, match="other tensors"):
        y.sum().backward()


def test_random_numbers_may_differ_if_they_are_not_preserved():
    x = tg.ones(100, requires_grad=True)
    tg.manual_seed(0)
    y = checkpoint(
        lambda x: nn.functional.dropout(x),
        x,
        use_reentrant=False,
        preserve_rng_state=False,
    )
    y.sum().backward()
    assert y.tolist() != x.grad.tolist()
    tg.manual_seed(0)
    x.grad = None
    y = checkpoint(lambda x: nn.functional.dropout(x), x, use_reentrant=False)
    y.sum().backward()
    assert y.tolist() == x.grad.tolist()


def test_contexts():
    log = []

    class Log:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append(self.name)

        def __exit__(self, *exception):
            log.append("/" + self.name)

    x = tg.ones(1, requires_grad=True)
    y = checkpoint(
        lambda x: x * x,
        x,
        use_reentrant=False,
        context_fn=lambda: (Log("first"), Log("again")),
    )
    assert log == ["first", "/first"]
    y.backward()
    assert log[2:] == ["again", "/again"]


def test_autocast_is_as_it_was(reentrant):
    w = nn.Parameter(tg.ones(2, 2))
    with tg.autocast("cpu", dtype=tg.float16):
        y = checkpoint(lambda w: w @ w, w, use_reentrant=reentrant)
        assert y.dtype is tg.float16
    y.float().sum().backward()
    assert w.grad.tolist() == [[4, 4], [4, 4]]


def test_keyword_arguments():
    x = tg.ones(2, requires_grad=True)
    y = checkpoint(lambda x, scale: x * scale, x, scale=3, use_reentrant=False)
    assert y.tolist() == [3, 3]
    for wrong in (
        {"use_reentrant": True, "scale": 3},
        {"use_reentrant": True, "debug": True},
        {"use_reentrant": False, "determinism_check": "other"},
    ):
        with pytest.raises(ArgumentError):
            checkpoint(lambda x, **rest: x, x, **wrong)


def test_without_saying_which_form():
    x = tg.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="pass use_reentrant"):
        checkpoint(lambda x: x * 2, x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_without_gradients_it_only_calls(reentrant):
    with tg.no_grad():
        y = checkpoint(
            lambda x: x * 2, tg.ones(1, requires_grad=True), use_reentrant=reentrant
        )
    assert not y.requires_grad


def test_in_a_captured_function():
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def loss(x):
        return checkpoint(model, x, use_reentrant=False).sum()

    traced = tg.trace(loss)
    x = tg.ones(2, 3)
    for _ in range(2):
        model.zero_grad()
        loss(x).backward()
        expected = [p.grad.tolist() for p in model.parameters()]
        model.zero_grad()
        traced(x).backward()
        for found, want in zip(model.parameters(), expected, strict=True):
            np.testing.assert_allclose(found.grad.tolist(), want, rtol=1e-6)


def test_in_sequence(reentrant):
    model = nn.Sequential(*[nn.Linear(3, 3) for _ in range(5)])
    x = tg.ones(2, 3)
    plain = gradients(model, x, model)
    found = gradients(
        model, x, lambda x: checkpoint_sequential(model, 2, x, use_reentrant=reentrant)
    )
    assert found == plain
    with pytest.raises(ArgumentError, match="unknown"):
        checkpoint_sequential(model, 2, x, use_reentrant=reentrant, other=1)
