"""Calls like one before: what is planned gives what the general way gives."""

from __future__ import annotations

import gc
import math
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.plans import LIMIT, PLANNED, planned, planned_inplace
from tracegrad.nn import functional as F


def several(call: Callable[[], Any], times: int = 3) -> list[Any]:
    """Return what the first call and the planned ones give."""
    return [call() for _ in range(times)]


def counted(function: Callable[..., Any]) -> tuple[Callable[..., Any], list[int]]:
    """Return a planned function, and how often the general way was gone."""
    calls: list[int] = []

    def general(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return function(*args, **kwargs)

    return planned(general), calls


def test_the_second_call_is_planned() -> None:
    call, general = counted(lambda x: tg.transpose(tg.exp(x), 0, 1))
    x = tg.randn(2, 3)
    results = several(lambda: call(x))
    assert len(general) == 1
    assert all(r.tolist() == x.exp().t().tolist() for r in results)
    assert call(tg.randn(3, 2)).shape == (2, 3)
    assert len(general) == 2


def test_python_arguments_tell_calls_apart() -> None:
    x = tg.arange(12.0).reshape(3, 4)
    for shape in ((4, 3), (2, 6), (-1,), (12, 1)):
        assert x.reshape(*shape).shape == x.numpy().reshape(shape).shape
    for key in (0, 1, True, slice(1, 3), slice(None, None, 2), (slice(None), 1), None):
        expected = x.numpy()[key]
        for result in several(lambda key=key: x[key]):
            np.testing.assert_array_equal(result.numpy(), expected)


def test_equal_numbers_of_different_kinds() -> None:
    call, _ = counted(lambda x, number: tg.full_like(x, number, dtype=tg.float64) * 1)
    x = tg.ones(2)
    signs = [math.copysign(1, call(x, zero)[0].item()) for zero in (0.0, -0.0) * 2]
    assert signs == [1, -1, 1, -1]
    call, _ = counted(lambda x, number: x * number)
    integers = tg.arange(3)
    for number in (1, 1.0, True, 1, 1.0, True):
        expected = (integers * number).dtype
        assert call(integers, number).dtype is expected


def test_a_tensor_given_twice() -> None:
    call, general = counted(lambda x, y: x.matmul(y) - y)
    x, y = tg.randn(3, 3), tg.randn(3, 3)
    for a, b in ((x, x), (x, y), (y, y), (y, x), (x, x)):
        assert call(a, b).tolist() == (a.matmul(b) - b).tolist()
    assert len(general) == 2


def test_gradients() -> None:
    def total(x: tg.Tensor) -> tg.Tensor:
        return (F.layer_norm(x.t(), (2,)) * F.softmax(x[:, :2].exp(), 0)[0]).sum()

    x = tg.randn(2, 3, dtype=tg.float64, requires_grad=True)
    found = []
    for _ in range(3):
        (first,) = tg.autograd.grad(total(x), x, create_graph=True)
        (second,) = tg.autograd.grad((first**2).sum(), x)
        found.append((first.tolist(), second.tolist()))
    assert found[0] == found[1] == found[2]
    assert tg.autograd.gradcheck(total, (x,))


def test_grad_modes() -> None:
    x = tg.ones(2, 2, requires_grad=True)
    for _ in range(3):
        assert x.t().requires_grad
        with tg.no_grad():
            assert not x.t().requires_grad
            view = x.t()
        with pytest.raises(tg.errors.InplaceError):
            view.mul_(2)
    with tg.inference_mode():
        assert all(t.is_inference() for t in several(lambda: tg.ones(2).reshape(2, 1)))


def test_views_share_memory_and_versions() -> None:
    x = tg.zeros(2, 3)
    views = several(lambda: x.t())
    views[2].add_(1)
    assert x.tolist() == [[1.0] * 3] * 2
    assert x._version == views[0]._version == 1
    saved = several(lambda: x.exp())
    assert saved[2]._version == 0


def test_a_view_of_what_was_written_with_gradients() -> None:
    def run() -> Any:
        leaf = tg.ones(3, requires_grad=True)
        x = leaf * 1
        view = x[1:]
        x.mul_(3)
        return tg.autograd.grad(view.sum(), leaf)[0].tolist()

    assert several(run) == [[0.0, 3.0, 3.0]] * 3


def test_writes_in_place() -> None:
    x = tg.ones(3)
    for step in range(1, 4):
        x.add_(1)
        x.mul_(tg.full((3,), 2.0))
        assert x._version == 2 * step
    assert x.tolist() == [22.0] * 3
    overlapping = tg.arange(6.0)
    for _ in range(3):
        with pytest.raises(tg.errors.InplaceError, match="overlap"):
            overlapping[1:].add_(overlapping[:-1])
    assert overlapping.tolist() == [0, 1, 2, 3, 4, 5]
    leaf = tg.ones(2, requires_grad=True)
    for _ in range(3):
        with pytest.raises(tg.errors.InplaceError):
            leaf.add_(1)
        with tg.no_grad():
            leaf.add_(1)
    assert leaf.tolist() == [4.0, 4.0]


def test_a_read_only_target() -> None:
    array = np.zeros(3, np.float32)
    x = tg.from_numpy(array)
    x.add_(1)
    x.add_(1)
    array.flags.writeable = False
    y = tg.from_numpy(array)
    for _ in range(2):
        with pytest.raises(tg.errors.InplaceError, match="read-only"):
            y.add_(1)
    assert array.tolist() == [2.0, 2.0, 2.0]


def test_what_looks_at_data_is_not_planned() -> None:
    call, general = counted(lambda x: x * int(x.sum().item()))
    assert [call(tg.full((2,), k))[0].item() for k in (1.0, 2.0, 3.0)] == [2, 8, 18]
    assert len(general) == 3
    indices = [tg.tensor(0), tg.tensor(1), tg.tensor(2)]
    assert [tg.arange(3)[i].item() for i in indices] == [0, 1, 2]
    masks = [[True, False], [True, True], [False, False]]
    assert [tg.arange(2)[tg.tensor(m)].numel() for m in masks] == [1, 2, 0]


def test_what_draws_is_not_planned() -> None:
    x = tg.ones(64)
    results = [F.dropout(x, 0.5).tolist() for _ in range(3)]
    assert results[0] != results[1] != results[2]


def test_what_writes_is_not_planned() -> None:
    call, general = counted(lambda x: x.add_(1) * 2)
    x = tg.zeros(2)
    assert [call(x)[0].item() for _ in range(3)] == [2.0, 4.0, 6.0]
    assert len(general) == 3


def test_warnings_are_given_each_time() -> None:
    x, y = tg.ones(2, 2), tg.ones(2)
    for _ in range(3):
        with pytest.warns(UserWarning, match="broadcast"):
            F.mse_loss(x, y)


def test_errors_are_raised_each_time() -> None:
    x = tg.ones(2, 3)
    for _ in range(3):
        with pytest.raises(tg.errors.ShapeError):
            x.reshape(4, 2)
        with pytest.raises(IndexError):
            F.embedding(tg.tensor([7]), x)
        assert F.embedding(tg.tensor([1]), x).shape == (1, 3)


def test_the_default_dtype_is_part_of_a_call() -> None:
    x = tg.arange(3)
    kinds = []
    for dtype in (tg.float32, tg.float64) * 2:
        tg.set_default_dtype(dtype)
        try:
            kinds.append((x / 2).dtype)
        finally:
            tg.set_default_dtype(tg.float32)
    assert kinds == [tg.float32, tg.float64] * 2


def test_requires_grad_and_devices_of_creations() -> None:
    for flag in (True, False, True, False):
        assert tg.zeros(2, requires_grad=flag).requires_grad is flag
    for device in ("meta", "cpu", "meta", "cpu"):
        assert tg.zeros(2, device=device).device.type == device


def test_nothing_is_kept_alive() -> None:
    gc.disable()
    try:
        x = tg.randn(3, 3, requires_grad=True)
        for _ in range(3):
            tg.matmul(x, x.t()).sum().backward()
        array = weakref.ref(x._array)
        gone = weakref.ref(x)
        del x
        assert gone() is None
        assert array() is None
    finally:
        gc.enable()


def test_functions_begin_anew_after_many_kinds() -> None:
    call, general = counted(lambda x, k: x.reshape(1, -1) * k)
    x = tg.ones(2)
    for k in range(LIMIT + 2):
        call(x, k + 1)
    assert len(general) == LIMIT + 2
    assert call(x, LIMIT + 2)[0, 0].item() == LIMIT + 2


def test_threads() -> None:
    call, _ = counted(lambda x, k: (x * 2).reshape(k, -1).sum(0))
    x = tg.arange(24.0)
    expected = {k: (x * 2).reshape(k, -1).sum(0).tolist() for k in (1, 2, 3, 4, 6)}
    wrong: list[Any] = []

    def work() -> None:
        for k in (1, 2, 3, 4, 6) * 40:
            if call(x, k).tolist() != expected[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_logging_shows_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    # A size of no other test: what was planned before is not logged.
    call, _ = counted(lambda x: x.reshape(1, 1, 1, 29))
    with tg.config(log="dispatch"):
        several(lambda: call(tg.ones(29)))
    assert capsys.readouterr().err.count("dispatch: view on cpu") == 3


def test_anomaly_mode_names_the_line() -> None:
    x = tg.ones(2, requires_grad=True)
    several(lambda: x.reshape(1, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with tg.autograd.detect_anomaly(check_nan=False):
            y = x.reshape(1, 2)
    assert "traceback_" in y.grad_fn.metadata


def test_plans_are_made_by_the_definition() -> None:
    assert OpDef.planned is planned
    for function in (tg.reshape, tg.matmul, tg.sum, tg.Tensor.add_, tg.Tensor.__lt__):
        assert getattr(function, PLANNED)
    assert planned_inplace(lambda x: x)(tg.ones(1)).item() == 1


def test_a_call_without_gradients_first() -> None:
    call, _ = counted(lambda x: x.reshape(2, 1).squeeze(1))
    x = tg.ones(2)
    with tg.no_grad():
        several(lambda: call(x))
    x.requires_grad_()
    view = call(x * 1)
    view.mul_(2)
    assert view.tolist() == [2.0, 2.0]


def test_where_of_two_numbers() -> None:
    mask = tg.tensor([True, False])
    for _ in range(3):
        assert tg.where(mask, 0, 1.0).tolist() == [0.0, 1.0]
        assert tg.where(mask, 2.0, 0).tolist() == [2.0, 0.0]
        assert tg.where(mask, 0, 1).tolist() == [0, 1]
