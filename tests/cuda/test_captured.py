"""What captured functions do besides computing, on the pretended device."""

from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.support.cuda_on_cpu.fake_cupy import Installed


def cuda(*numbers: float, **options: Any) -> Any:
    return tg.tensor(numbers, device="cuda", **options)


def calls(function: Any, make: Any, count: int = 3) -> list[Any]:
    """What calls return, and what their arguments hold afterwards."""
    found = []
    for _ in range(count):
        given = make()
        result = function(*given)
        results = result if isinstance(result, tuple) else (result,)
        found.append([t.tolist() for t in (*results, *given)])
    return found


def write(x: Any) -> Any:
    x.add_(1)
    return x * 2


def write_through_a_view(x: Any) -> Any:
    x[1:].mul_(3)
    return x + 0


def return_a_view(x: Any) -> Any:
    y = x * 2
    return y[1:], y


def return_the_input(x: Any) -> Any:
    x.sub_(1)
    return x


def set_items(x: Any) -> Any:
    x[0] = x[2]
    x[x > 2] = 0
    return x.sum()


def write_and_read_before(x: Any) -> Any:
    before = x.clone()
    x.zero_()
    return before


@pytest.mark.parametrize(
    "function",
    [
        write,
        write_through_a_view,
        return_a_view,
        return_the_input,
        set_items,
        write_and_read_before,
    ],
)
def test_writes_and_views(fake_cupy: Installed, function: Any) -> None:
    def make() -> Any:
        return (cuda(1.0, 2.0, 3.0),)

    captured = tg.trace(function, strict=True)
    assert calls(captured, make) == calls(function, make)
    assert len(captured.specializations) == 1


def test_versions_and_identity(fake_cupy: Installed) -> None:
    captured = tg.trace(return_the_input, strict=True)
    for _ in range(3):
        x = cuda(1.0, 2.0)
        assert captured(x) is x
        assert x._version == 1


def test_a_view_that_is_returned_shares_memory(fake_cupy: Installed) -> None:
    captured = tg.trace(return_a_view, strict=True)
    for _ in range(3):
        view, base = captured(cuda(1.0, 2.0))
        base.zero_()
        assert view.tolist() == [0.0]
        assert view._base is base


def test_two_arguments_that_share_memory(fake_cupy: Installed) -> None:
    def add_first(x: Any, y: Any) -> Any:
        x.add_(1)
        return x + y

    captured = tg.trace(add_first)
    for _ in range(2):
        a, b = cuda(1.0, 2.0), cuda(5.0, 5.0)
        assert captured(a, b).tolist() == [7.0, 8.0]
        assert captured(a, a).tolist() == [6.0, 8.0]
        assert captured(b[:1], a[1:]).tolist() == [10.0]


def test_strides_of_arguments(fake_cupy: Installed) -> None:
    x = tg.randn(4, 6, device="cuda")
    for given in (x, x.t(), x[:, ::2], x[1:], x.expand(2, 4, 6)[1], x[:1]):
        captured = tg.trace(lambda x: tg.softmax(x * 2, 1), strict=True)
        wanted = tg.softmax(given * 2, 1).cpu().numpy()
        for _ in range(2):
            found = captured(given).cpu().numpy()
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_gradients_of_a_captured_call(fake_cupy: Installed) -> None:
    captured = tg.trace(lambda x, w: (x @ w).tanh().sum(), strict=True)

    def gradients(function: Any) -> list[Any]:
        x = cuda(1.0, 2.0, requires_grad=True)
        w = tg.ones(2, 3, device="cuda", requires_grad=True)
        function(x * 1, w).backward()
        return [x.grad.cpu().numpy(), w.grad.cpu().numpy()]

    wanted = gradients(lambda x, w: (x @ w).tanh().sum())
    for _ in range(2):
        for have, want in zip(gradients(captured), wanted, strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-7)


def test_a_second_derivative(fake_cupy: Installed) -> None:
    captured = tg.trace(lambda x: (x**3).sum(), strict=True)
    for _ in range(2):
        x = cuda(1.0, 2.0, requires_grad=True)
        (first,) = tg.autograd.grad(captured(x), [x], create_graph=True)
        (second,) = tg.autograd.grad(first.sum(), [x])
        assert second.tolist() == [6.0, 12.0]


def test_a_value_taken_by_python(fake_cupy: Installed) -> None:
    def signed(x: Any) -> Any:
        return x * 2 if x.sum() > 0 else x * -1

    captured = tg.trace(signed, strict=True)
    for number, wanted in [(1.0, 2.0), (-1.0, 1.0), (2.0, 4.0), (-3.0, 3.0)]:
        assert captured(cuda(number)).item() == wanted
    assert len(captured.specializations) == 2


def test_the_device_is_guarded(fake_cupy: Installed) -> None:
    captured = tg.trace(lambda x: x * 2, strict=True)
    for x in (tg.ones(2), cuda(1.0, 1.0), tg.ones(2), cuda(1.0, 1.0)):
        found = captured(x)
        assert found.device == x.device
        assert found.tolist() == [2.0, 2.0]
    assert len(captured.specializations) == 2


def test_constants(fake_cupy: Installed) -> None:
    captured = tg.trace(lambda x: x + cuda(1.0, 2.0), strict=True)
    x = cuda(0.0, 0.0)
    captured(x)
    before = fake_cupy.counters.host_to_device
    for _ in range(2):
        assert captured(x).tolist() == [1.0, 2.0]
    assert fake_cupy.counters.host_to_device - before <= 1


def test_inputs_from_the_cpu_are_moved_inside(fake_cupy: Installed) -> None:
    captured = tg.trace(lambda x, w: x.cuda() * w, strict=True)
    w = cuda(2.0, 3.0)
    for _ in range(2):
        assert captured(tg.ones(2), w).tolist() == [2.0, 3.0]


def test_a_call_that_raises_leaves_everything(fake_cupy: Installed) -> None:
    def picked(x: Any, index: Any) -> Any:
        x.add_(1)
        return x[index]

    captured = tg.trace(picked)
    x, index = cuda(1.0, 2.0), tg.tensor([1], device="cuda")
    assert captured(x, index).tolist() == [3.0]
    for function in (picked, captured):
        with pytest.raises(IndexError):
            function(x, tg.tensor([5], device="cuda"))
    assert x.tolist() == [4.0, 5.0]
    assert captured(x, index).tolist() == [6.0]


def test_example_inputs_leave_nothing(fake_cupy: Installed) -> None:
    x = cuda(1.0, 2.0)
    captured = tg.trace(write, (x,))
    assert x.tolist() == [1.0, 2.0]
    assert len(captured.specializations) == 1
    assert captured(x).tolist() == [4.0, 6.0]


def test_source_and_report(fake_cupy: Installed) -> None:
    captured = tg.trace(lambda x, w: tg.softmax(x @ w + 1, 1), strict=True)
    captured(tg.ones(2, 3, device="cuda"), tg.ones(3, 4, device="cuda"))
    assert "__global__ void" in captured.source
    assert "np.dot(x, w)" in captured.source
    report = str(captured.explain())
    assert "target cuda, for the tensors are on cuda" in report
    assert "1 kernel for the device: add_softmax" in report


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_any_order_of_threads(fake_cupy: Installed, seed: int) -> None:
    fake_cupy.schedule(seed)
    captured = tg.trace(lambda x: tg.nn.functional.layer_norm(x, (300,)), strict=True)
    tg.manual_seed(0)
    x = tg.randn(3, 300, device="cuda")
    captured(x)
    wanted = tg.nn.functional.layer_norm(x.cpu(), (300,)).numpy()
    np.testing.assert_allclose(captured(x).cpu().numpy(), wanted, rtol=1e-4, atol=1e-5)
