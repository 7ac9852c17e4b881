"""Devices as a user meets them: copies, mixtures, what is missing."""

import sys
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.support.cuda_on_cpu.fake_cupy import Installed
from tracegrad.device import unregister_backend


def test_where_a_tensor_is(fake_cupy: Installed) -> None:
    x = tg.tensor([1.0, 2.0], device="cuda")
    assert str(x.device) == "cuda:0"
    assert x.is_cuda
    assert x.to("cuda") is x
    assert x.cuda() is x
    assert x.cpu().device.type == "cpu"
    assert x.cpu().cuda().tolist() == [1.0, 2.0]
    assert repr(x) == "tensor([1., 2.], device='cuda:0')"
    for made in (
        tg.zeros(2, device="cuda"),
        tg.arange(3, device="cuda:0"),
        tg.ones_like(x),
        x.new_zeros(2),
        tg.as_tensor(np.ones(2), device="cuda"),
        tg.eye(2, device="cuda"),
    ):
        assert made.device == x.device


def test_a_copy_carries_gradient(fake_cupy: Installed) -> None:
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    y = x.cuda()
    (y * y).sum().backward()
    assert x.grad is not None
    assert x.grad.device.type == "cpu"
    assert x.grad.tolist() == [2.0, 4.0]


def test_copy_and_set_data_across_devices(fake_cupy: Installed) -> None:
    x = tg.zeros(2, device="cuda")
    x.copy_(tg.tensor([1.0, 2.0]))
    assert x.cpu().tolist() == [1.0, 2.0]
    host = tg.zeros(2)
    host.copy_(x)
    assert host.tolist() == [1.0, 2.0]


def test_values_for_python(fake_cupy: Installed) -> None:
    x = tg.tensor([3.0], device="cuda")
    assert x.item() == 3.0
    assert float(x) == 3.0
    assert bool(x)
    assert x.tolist() == [3.0]
    with pytest.raises(TypeError, match=r"cpu\(\)"):
        x.numpy()
    with pytest.raises(TypeError, match=r"cpu\(\)"):
        np.asarray(x)
    assert x.numpy(force=True).tolist() == [3.0]


@pytest.mark.parametrize(
    "mixture",
    [
        lambda a, b: a + b,
        lambda a, b: b + a,
        lambda a, b: a @ b,
        lambda a, b: tg.cat([a, b]),
        lambda a, b: a.add_(b),
        lambda a, b: tg.where(a > 0, a, b),
        lambda a, b: tg.nn.functional.linear(a, b),
    ],
)
def test_mixtures_raise(fake_cupy: Installed, mixture: Any) -> None:
    a, b = tg.ones(2, 2, device="cuda"), tg.ones(2, 2)
    for function in (mixture, tg.trace(mixture)):
        with pytest.raises(RuntimeError, match=r"cuda:0 and cpu|cpu and cuda:0"):
            function(a, b)
    assert a.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_number_may_be_on_the_cpu(fake_cupy: Installed) -> None:
    a, b = tg.ones(2, device="cuda"), tg.tensor(2.0)
    for function in (tg.mul, tg.trace(lambda a, b: a * b, strict=True)):
        for _ in range(2):
            found = function(a, b)
            assert found.device == a.device
            assert found.tolist() == [2.0, 2.0]


def test_only_one_device(fake_cupy: Installed) -> None:
    with pytest.raises(tg.errors.DeviceError, match="cuda:1"):
        tg.zeros(2, device="cuda:1")


def test_gradient_of_another_device(fake_cupy: Installed) -> None:
    x = tg.ones(2, device="cuda")
    with pytest.raises(RuntimeError, match="cuda:0"):
        x.grad = tg.ones(2)


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    unregister_backend("cuda")
    message = r"CuPy is not installed: pip install 'tracegrad\[cuda\]'"
    for attempt in (
        lambda: tg.tensor([1.0], device="cuda"),
        lambda: tg.zeros(2, device="cuda"),
        lambda: tg.randn(2, device="cuda"),
        lambda: tg.ones(2).cuda(),
        lambda: tg.nn.Linear(2, 2).to("cuda"),
        lambda: tg.trace(lambda x: x * 2, target="cuda", strict=True)(tg.ones(2)),
    ):
        with pytest.raises(RuntimeError, match=message):
            attempt()
    assert tg.manual_seed(0).initial_seed() == 0
    assert tg.Generator("cuda").manual_seed(1).initial_seed() == 1
    assert tg.trace(lambda x: x * 2, strict=True)(tg.ones(2)).tolist() == [2.0, 2.0]


def test_a_gpu_that_is_not_there(
    fake_cupy: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake_cupy.module.cuda, "is_available", lambda: False)
    with pytest.raises(tg.errors.DeviceError, match="no usable GPU"):
        tg.zeros(2, device="cuda")


def test_targets_and_devices_that_do_not_fit(fake_cupy: Installed) -> None:
    x = tg.ones(2, device="cuda")
    with pytest.raises(tg.errors.CompileError, match="all tensors are on cuda:0"):
        tg.trace(lambda x: x * 2, target="numpy", strict=True)(x)
    with pytest.raises(tg.errors.CompileError, match="all tensors are on cpu"):
        tg.trace(lambda x: x * 2, target="cuda", strict=True)(tg.ones(2))
    with pytest.raises(tg.errors.CompileError, match="one device"):
        tg.trace(lambda x: x.cpu() * 2, strict=True)(x)
    with pytest.warns(UserWarning, match="one device"):
        assert tg.trace(lambda x: x.cpu() * 2)(x).tolist() == [2.0, 2.0]
