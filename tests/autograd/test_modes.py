"""Grad modes belong to a thread; anomaly mode names lines."""

import threading

import pytest

import tracegrad as tg


def test_modes_belong_to_a_thread() -> None:
    seen: list[bool] = []
    with tg.no_grad(), tg.inference_mode():
        thread = threading.Thread(
            target=lambda: seen.extend(
                [tg.is_grad_enabled(), tg.is_inference_mode_enabled()]
            )
        )
        thread.start()
        thread.join()
        seen.append(tg.is_grad_enabled())
    assert seen == [True, False, False]


def test_another_threads_no_grad_leaves_this_thread_on_the_tape() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with tg.no_grad():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    x = tg.ones(2, requires_grad=True)
    tracked = (x + x).requires_grad, (x * 2).requires_grad, x.exp().requires_grad
    leave.set()
    thread.join()
    assert tracked == (True, True, True)


def test_a_decorated_generator_restores_the_mode_between_steps() -> None:
    @tg.inference_mode()
    def steps():
        yield tg.ones(1).is_inference()

    generator = steps()
    assert next(generator) is True
    assert not tg.is_inference_mode_enabled()
    assert not tg.ones(1).is_inference()
    generator.close()


def test_an_exception_restores_the_mode() -> None:
    with pytest.raises(KeyError), tg.no_grad():
        raise KeyError
    assert tg.is_grad_enabled()


def test_anomaly_mode_names_the_forward_line() -> None:
    x = tg.tensor([0.0], requires_grad=True)
    with tg.autograd.detect_anomaly():
        y = x * 0
        z = y.sqrt()
        with pytest.raises(tg.errors.GradientError, match="SqrtBackward0") as info:
            (z * 0).sum().backward()
    assert any("test_modes.py" in note for note in info.value.__notes__)
    (x * 0).sqrt().backward()
    assert x.grad is not None


def test_anomaly_mode_names_the_line_of_any_error() -> None:
    x = tg.tensor([1.0], requires_grad=True)
    with tg.autograd.detect_anomaly(check_nan=False):
        y = x * 1
        z = y.exp()
        z.add_(1)
        with pytest.raises(tg.errors.GradientError) as info:
            z.sum().backward()
    assert any("test_modes.py" in note for note in info.value.__notes__)
