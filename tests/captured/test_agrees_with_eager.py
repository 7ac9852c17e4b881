"""A captured call does what the eager one does, beside giving the same values."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tracegrad as tg


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.t() * 2,
        lambda x: x.t().exp() + x.t(),
        lambda x: x.reshape(2, 1, 3).permute(2, 0, 1) + 1,
        lambda x: (x + 1, x.t() * x.t()),
    ],
)
def test_strides_of_results(function: Callable[[tg.Tensor], object]) -> None:
    traced, x = tg.trace(function), tg.arange(6.0).reshape(2, 3)
    for _ in range(3):
        found, expected = traced(x), function(x)
        pairs = (
            [(found, expected)]
            if isinstance(found, tg.Tensor)
            else zip(found, expected, strict=True)
        )
        for one, other in pairs:
            assert one.stride() == other.stride()
            assert one.tolist() == other.tolist()
            flat = (6,), (1,)
            assert one.as_strided(*flat).tolist() == other.as_strided(*flat).tolist()


@pytest.mark.parametrize("kind", ["hook", "post_accumulate"])
def test_a_hook_that_is_registered_after_capture_runs(kind: str) -> None:
    w, seen = tg.ones(2, requires_grad=True), []

    @tg.trace
    def step(x: tg.Tensor) -> tg.Tensor | None:
        w.grad = None
        (w * x).sum().backward()
        return w.grad

    step(tg.ones(2))
    step(tg.ones(2))
    if kind == "hook":
        w.register_hook(lambda g: seen.append(g.tolist()))
    else:
        w.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    step(tg.full((2,), 3.0))
    assert seen == [[3.0, 3.0]]


def test_wrong_arguments_are_named_as_python_names_them() -> None:
    def double(x: tg.Tensor) -> tg.Tensor:
        return x * 2

    x = tg.ones(1)
    for args, kwargs in (((), {}), ((x, x), {}), ((), {"y": x})):
        with pytest.raises(TypeError) as expected:
            double(*args, **kwargs)
        with pytest.raises(TypeError) as found:
            tg.trace(double)(*args, **kwargs)
        assert str(found.value).endswith(str(expected.value).rpartition(".")[2])
