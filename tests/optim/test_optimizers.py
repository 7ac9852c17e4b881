"""Optimizers: exact numbers, lazily made state, groups, saving; what raises."""

import copy

import pytest

import tracegrad as tg
from tracegrad import nn, optim
from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    NotSupportedError,
    StateError,
)


def _steps(make, gradient, count=3, start=1.0):
    parameter = nn.Parameter(tg.tensor([start]))
    optimizer = make([parameter])
    values = []
    for _ in range(count):
        parameter.grad = tg.tensor([gradient])
        optimizer.step()
        values.append(parameter.item())
    return values


# The optimizer, the gradient of each step, and where a parameter at 1 goes.
NUMBERS = {
    "momentum": (
        lambda p: optim.SGD(p, 0.1, momentum=0.9, dampening=0.5),
        1.0,
        [0.9, 0.76, 0.584],
    ),
    "nesterov": (
        lambda p: optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
        1.0,
        [0.81, 0.539, 0.1951],
    ),
    "adam": (lambda p: optim.Adam(p, 0.1), 0.01, [0.9, 0.8, 0.7]),
    "adam eps": (lambda p: optim.Adam(p, 0.1, eps=1.0), 1.0, [0.95]),
    "adam decay": (lambda p: optim.Adam(p, 0.1, weight_decay=0.1), 0.0, [0.9]),
    "adamw decay": (lambda p: optim.AdamW(p, 1.0), 0.0, [0.99, 0.9801]),
    "adagrad": (lambda p: optim.Adagrad(p, 0.1), 1.0, [0.9, 0.8292893]),
    "rmsprop": (lambda p: optim.RMSprop(p, 0.1), 1.0, [0.0]),
}


@pytest.mark.parametrize("case", NUMBERS.values(), ids=NUMBERS)
def test_numbers(case):
    make, gradient, expected = case
    found = _steps(make, gradient, len(expected))
    assert found == pytest.approx(expected, abs=2e-6)


def test_a_parameter_without_gradient_is_left_alone():
    first, second = nn.Parameter(tg.ones(1)), nn.Parameter(tg.ones(1))
    optimizer = optim.AdamW([first, second], lr=0.1)
    first.grad = tg.ones(1)
    optimizer.step()
    assert second.item() == 1.0
    assert second not in optimizer.state
    optimizer.zero_grad()
    before = first.item()
    optimizer.step()
    assert first.grad is None
    assert first.item() == before
    assert optimizer.state[first]["step"].item() == 1.0


def test_zeros_in_place_of_no_gradient():
    parameter = nn.Parameter(tg.ones(1))
    optimizer = optim.SGD([parameter], lr=0.1)
    parameter.grad = tg.ones(1)
    kept = parameter.grad
    optimizer.zero_grad(set_to_none=False)
    assert parameter.grad is kept
    assert kept.item() == 0.0


def test_updates_are_off_the_tape_and_in_place():
    parameter = nn.Parameter(tg.ones(2))
    array = parameter.detach().numpy()
    optimizer = optim.Adam([parameter], lr=0.5)
    (parameter * parameter).sum().backward()
    optimizer.step()
    assert parameter.is_leaf
    assert array[0] != 1.0


def test_a_closure_computes_with_gradients():
    parameter = nn.Parameter(tg.ones(1))
    optimizer = optim.SGD([parameter], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (parameter * 2).sum()
        loss.backward()
        return loss

    with tg.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 2.0
    assert parameter.item() == pytest.approx(0.8)


def test_groups_have_their_own_settings():
    a, b = nn.Parameter(tg.ones(1)), nn.Parameter(tg.ones(1))
    optimizer = optim.SGD([{"params": a}, {"params": [b], "lr": 1.0}], lr=0.1)
    a.grad, b.grad = tg.ones(1), tg.ones(1)
    optimizer.step()
    assert (a.item(), b.item()) == (pytest.approx(0.9), 0.0)
    c = nn.Parameter(tg.ones(1))
    optimizer.add_param_group({"params": [c], "momentum": 0.5})
    assert optimizer.param_groups[2]["lr"] == 0.1
    assert "Parameter Group 2" in repr(optimizer)


def test_named_parameters_are_accepted():
    layer = nn.Linear(1, 1)
    optimizer = optim.SGD(layer.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


def test_what_raises():
    parameter = nn.Parameter(tg.ones(1))
    with pytest.raises(ValueError, match="empty parameter list"):
        optim.SGD([], lr=0.1)
    with pytest.raises(TypeError, match="iterable of Tensors"):
        optim.SGD(parameter, lr=0.1)
    with pytest.raises(TypeError, match="only optimize Tensors"):
        optim.SGD([1], lr=0.1)
    with pytest.raises(ValueError, match="non-leaf"):
        optim.SGD([parameter * 2], lr=0.1)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optim.SGD([{"params": [parameter]}, {"params": [parameter]}], lr=0.1)
    with pytest.raises(ArgumentTypeError, match="order"):
        optim.SGD([{"params": {parameter}}], lr=0.1)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([parameter, parameter], lr=0.1)
    for wrong in (
        lambda: optim.SGD([parameter], lr=-1.0),
        lambda: optim.SGD([parameter], lr=0.1, nesterov=True),
        lambda: optim.Adam([parameter], betas=(1.0, 0.9)),
        lambda: optim.RMSprop([parameter], alpha=-1.0),
        lambda: optim.Adagrad([parameter], eps=-1.0),
    ):
        with pytest.raises(ArgumentError):
            wrong()
    with pytest.raises(NotSupportedError, match="differentiable"):
        optim.Adam([parameter], differentiable=True)


def _trained(dtype=tg.float32):
    parameter = nn.Parameter(tg.ones(2, dtype=dtype))
    optimizer = optim.Adam([parameter], lr=0.1)
    for _ in range(3):
        parameter.grad = tg.ones(2, dtype=dtype)
        optimizer.step()
    return parameter, optimizer


def test_state_is_keyed_by_number_and_goes_back():
    parameter, optimizer = _trained()
    saved = copy.deepcopy(optimizer.state_dict())
    assert list(saved["state"]) == [0]
    assert saved["param_groups"][0]["params"] == [0]
    assert saved["state"][0]["step"].item() == 3.0
    other = nn.Parameter(parameter.detach().clone())
    again = optim.Adam([other], lr=9.0)
    again.load_state_dict(saved)
    assert again.param_groups[0]["lr"] == 0.1
    for p, chosen in ((parameter, optimizer), (other, again)):
        p.grad = tg.ones(2)
        chosen.step()
    assert other.tolist() == parameter.tolist()


def test_loaded_state_takes_the_parameters_dtype():
    _, optimizer = _trained()
    wide = nn.Parameter(tg.ones(2, dtype=tg.float64))
    again = optim.Adam([wide], lr=0.1)
    again.load_state_dict(optimizer.state_dict())
    assert again.state[wide]["exp_avg"].dtype is tg.float64
    assert again.state[wide]["step"].dtype is tg.float32


def test_loading_what_does_not_fit():
    _, optimizer = _trained()
    state = optimizer.state_dict()
    two = [nn.Parameter(tg.ones(1)), nn.Parameter(tg.ones(1))]
    with pytest.raises(StateError, match="match the size"):
        optim.Adam(two).load_state_dict(state)
    with pytest.raises(StateError, match="different number"):
        optim.Adam([{"params": p} for p in two]).load_state_dict(state)


def test_step_hooks_run_around_each_step():
    parameter = nn.Parameter(tg.ones(1))
    optimizer = optim.SGD([parameter], lr=1.0)
    seen = []
    before = optimizer.register_step_pre_hook(lambda *_: seen.append(parameter.item()))
    optimizer.register_step_post_hook(lambda *_: seen.append(parameter.item()))
    parameter.grad = tg.ones(1)
    optimizer.step()
    before.remove()
    optimizer.step()
    assert seen == [1.0, 0.0, -1.0]


def test_schedules_set_numbers_and_tensors():
    for lr in (0.1, tg.tensor(0.1, dtype=tg.float64)):
        optimizer = optim.SGD([nn.Parameter(tg.ones(1))], lr=lr)
        scheduler = optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
        optimizer.step()
        scheduler.step()
        assert scheduler.get_last_lr() == [0.05]
        assert float(optimizer.param_groups[0]["lr"]) == 0.05
    assert optimizer.param_groups[0]["lr"] is lr


def test_schedules_are_saved():
    optimizer = optim.SGD([nn.Parameter(tg.ones(1))], lr=0.1)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
    for _ in range(3):
        scheduler.step()
    state = copy.deepcopy(scheduler.state_dict())
    other = optim.lr_scheduler.CosineAnnealingLR(
        optim.SGD([nn.Parameter(tg.ones(1))], lr=0.1), 5
    )
    other.load_state_dict(state)
    assert other.last_epoch == 3
    assert "optimizer" not in state


def test_schedules_refuse():
    optimizer = optim.Adagrad([nn.Parameter(tg.ones(1))], lr=0.1)
    schedules = optim.lr_scheduler
    for wrong in (
        lambda: schedules.OneCycleLR(optimizer, 0.1),
        lambda: schedules.OneCycleLR(optimizer, 0.1, total_steps=5),
        lambda: schedules.LambdaLR(optimizer, [abs, abs]),
        lambda: schedules.ReduceLROnPlateau(optimizer, factor=1.0),
        lambda: schedules.LinearLR(optimizer, start_factor=0.0),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()
    with pytest.raises(TypeError, match="not an Optimizer"):
        schedules.StepLR(3, 1)
