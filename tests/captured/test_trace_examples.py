"""`trace(function, example_inputs)` leaves nothing changed; `strict` refuses."""

from __future__ import annotations

from typing import Any

import pytest

import tracegrad as tg
from tracegrad import nn


def test_tuple_tensor_and_dict() -> None:
    def f(x: tg.Tensor, y: Any = 1.0) -> tg.Tensor:
        return x * y

    x = tg.ones(2)
    for examples in ((x,), (x, x * 3), x, {"x": x, "y": 2.0}, [x]):
        captured = tg.trace(f, examples)
        assert len(captured.specializations) == 1
        assert captured.specializations[0].hits == 0
    captured = tg.trace(f, {"x": x, "y": 2.0})
    assert captured(x=tg.ones(2), y=2.0).tolist() == [2.0, 2.0]
    assert captured.specializations[0].hits == 1


def test_everything_is_put_back() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout(0.5))
    optimizer = tg.optim.Adam(model.parameters(), lr=0.1)
    h = tg.ones(2, requires_grad=True) * 1

    def step(x: tg.Tensor, scratch: tg.Tensor, h: tg.Tensor) -> tg.Tensor:
        optimizer.zero_grad()
        scratch[1:].add_(1)
        h.mul_(2)
        loss = model(x).sum() + tg.rand(1).sum()
        loss.backward()
        optimizer.step()
        return loss

    x, scratch = tg.randn(4, 2), tg.zeros(3)
    tensors = [*model.parameters(), *model.buffers(), x, scratch, h]
    nodes = [t._node for t in tensors]
    before = [(t.tolist(), t._version, t._grad, t.requires_grad) for t in tensors]
    state = tg.get_rng_state().tolist()
    captured = tg.trace(step, (x, scratch, h))
    after = [(t.tolist(), t._version, t._grad, t.requires_grad) for t in tensors]
    assert after == before
    assert all(t._node is node for t, node in zip(tensors, nodes, strict=True))
    assert tg.get_rng_state().tolist() == state
    assert not optimizer.state
    assert len(captured.specializations) == 1, captured.explain()


def test_effects_are_refused_before_they_happen() -> None:
    seen: list[int] = []
    w = tg.ones(1, requires_grad=True)

    def note(x: tg.Tensor) -> tg.Tensor:
        seen.append(1)
        return x

    def freeze(x: tg.Tensor) -> tg.Tensor:
        w.requires_grad_(False)
        return x

    def hook(x: tg.Tensor) -> tg.Tensor:
        w.register_hook(lambda g: g)
        return x

    def assign(x: tg.Tensor) -> tg.Tensor:
        x.data = tg.zeros(1)
        return x

    x = tg.ones(1)
    for function in (note, freeze, hook, assign):
        with pytest.raises(tg.errors.CaptureError) as caught:
            tg.trace(function, x)
        line = function.__code__.co_firstlineno + 1
        assert f"test_trace_examples.py:{line}" in str(caught.value)
    assert seen == []
    assert w.requires_grad
    assert x.tolist() == [1.0]
    w.sum().backward()


def test_an_error_of_the_function_puts_back_too() -> None:
    def fail(x: tg.Tensor) -> None:
        x.add_(1)
        raise ValueError("no")

    x = tg.ones(2)
    with pytest.raises(ValueError, match=r"^no$"):
        tg.trace(fail, x)
    assert (x.tolist(), x._version) == ([1.0, 1.0], 0)


def test_strict_raises_with_the_line() -> None:
    def say(x: tg.Tensor) -> tg.Tensor:
        print(x)  # noqa: T201 - what is tested
        return x

    strict = tg.trace(say, strict=True)
    for _ in range(2):
        with pytest.raises(tg.errors.CaptureError, match="calls print") as caught:
            strict(tg.ones(1))
        assert f"test_trace_examples.py:{say.__code__.co_firstlineno + 1}" in str(
            caught.value
        )
    with tg.config(strict=True), pytest.raises(tg.errors.CaptureError):
        tg.trace(say)(tg.ones(1))
    tg.trace(say)(tg.ones(1))


def test_decorator_with_options() -> None:
    @tg.trace(target="numpy", strict=True)
    def double(x: tg.Tensor) -> tg.Tensor:
        """Double it."""
        return x * 2

    assert double.__name__ == "double"
    assert double.__doc__ == "Double it."
    assert double(tg.ones(1)).item() == 2.0
    assert "target numpy, as asked" in str(double.explain())
    assert tg.trace(tg.tensor([[1.0, 2.0], [3.0, 4.0]])).item() == 5.0
    with pytest.raises(tg.errors.ArgumentTypeError):
        tg.trace(3)
    with pytest.raises(tg.errors.ConfigError):
        tg.trace(lambda x: x, target="gpu")


def test_cache_clear() -> None:
    captured = tg.trace(lambda x: x * 2)
    captured(tg.ones(1))
    captured.cache_clear()
    assert captured.specializations == []
    assert captured.graph is None
    assert captured.source == ""
    assert captured(tg.ones(1)).item() == 2.0
    assert len(captured.specializations) == 1
