"""Optimizers and schedules against PyTorch: fifty steps on a small problem."""

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")

OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd_decay": ("SGD", {"lr": 0.1, "weight_decay": 0.1}),
    "momentum": ("SGD", {"lr": 0.05, "momentum": 0.9}),
    "damped": ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.5}),
    "nesterov": ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    "maximize": ("SGD", {"lr": 0.001, "momentum": 0.5, "maximize": True}),
    "adam": ("Adam", {"lr": 0.05}),
    "adam_decay": ("Adam", {"lr": 0.05, "weight_decay": 0.1, "betas": (0.8, 0.9)}),
    "amsgrad": ("Adam", {"lr": 0.05, "amsgrad": True, "eps": 0.01}),
    "adam_maximize": ("Adam", {"lr": 0.001, "maximize": True}),
    "adamw": ("AdamW", {"lr": 0.05}),
    "adamw_amsgrad": ("AdamW", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.3}),
    "rmsprop": ("RMSprop", {"lr": 0.01}),
    "rmsprop_all": (
        "RMSprop",
        {"lr": 0.01, "momentum": 0.9, "centered": True, "weight_decay": 0.1},
    ),
    "adagrad": ("Adagrad", {"lr": 0.1}),
    "adagrad_all": (
        "Adagrad",
        {
            "lr": 0.1,
            "lr_decay": 0.1,
            "weight_decay": 0.1,
            "initial_accumulator_value": 0.5,
        },
    ),
}


def _run(library, optimizer, dtype, steps=50):
    """Fit a curve; the second parameter gets no gradient at first."""
    rng = np.random.default_rng(3)
    data = rng.normal(size=(3, 8, 4)).astype(dtype)
    wanted = rng.normal(size=(8, 4)).astype(dtype)
    name, settings = optimizer
    first = library.nn.Parameter(library.tensor(data[1]))
    second = library.nn.Parameter(library.tensor(data[2]))
    chosen = getattr(library.optim, name)([first, second], **settings)
    values = []
    for step in range(steps):
        chosen.zero_grad()
        prediction = library.tanh(library.tensor(data[0]) * first)
        if step >= 3:
            prediction = prediction + library.tanh(second)
        difference = prediction - library.tensor(wanted)
        (difference * difference).sum().backward()
        chosen.step()
        values.append(first.detach().numpy().copy())
    return values, second.detach().numpy(), chosen


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_fifty_steps(optimizer):
    ours, our_second, _ = _run(tg, optimizer, "float64")
    theirs, their_second, _ = _run(torch, optimizer, "float64")
    for step, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12, err_msg=str(step))
    np.testing.assert_allclose(our_second, their_second, rtol=1e-9)


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_float32(optimizer):
    ours, our_second, _ = _run(tg, optimizer, "float32", 20)
    theirs, their_second, _ = _run(torch, optimizer, "float32", 20)
    np.testing.assert_allclose(ours[-1], theirs[-1], rtol=2e-5, atol=1e-6)
    assert our_second.dtype == their_second.dtype


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_state_has_the_same_names_and_values(optimizer):
    ours = _run(tg, optimizer, "float64", 5)[2].state_dict()
    theirs = _run(torch, optimizer, "float64", 5)[2].state_dict()
    assert ours["state"].keys() == theirs["state"].keys()
    for number, kept in theirs["state"].items():
        assert set(ours["state"][number]) == set(kept)
        for name, value in kept.items():
            own = ours["state"][number][name]
            assert str(own.dtype).split(".")[-1] == str(value.dtype).split(".")[-1]
            np.testing.assert_allclose(own.numpy(), value.numpy(), rtol=1e-9)
    for ours_group, theirs_group in zip(
        ours["param_groups"], theirs["param_groups"], strict=True
    ):
        missing = set(theirs_group) - set(ours_group)
        assert not missing


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_step_size_as_tensor(name):
    as_number = _run(tg, (name, {"lr": 0.05}), "float64", 10)[0][-1]
    as_tensor = _run(
        tg, (name, {"lr": tg.tensor(0.05, dtype=tg.float64)}), "float64", 10
    )
    np.testing.assert_allclose(as_tensor[0][-1], as_number, rtol=1e-12)


SCHEDULES = {
    "step": ("StepLR", {"step_size": 3, "gamma": 0.5}),
    "multistep": ("MultiStepLR", {"milestones": [2, 5, 5], "gamma": 0.5}),
    "lambda": ("LambdaLR", {"lr_lambda": lambda epoch: 0.9**epoch}),
    "multiplicative": ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.9}),
    "constant": ("ConstantLR", {"factor": 0.5, "total_iters": 4}),
    "linear": ("LinearLR", {"total_iters": 6}),
    "exponential": ("ExponentialLR", {"gamma": 0.9}),
    "polynomial": ("PolynomialLR", {"total_iters": 7, "power": 2.0}),
    "cosine": ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
    "cycle": ("OneCycleLR", {"max_lr": 0.5, "total_steps": 14}),
    "three": (
        "OneCycleLR",
        {
            "max_lr": 0.5,
            "epochs": 7,
            "steps_per_epoch": 2,
            "three_phase": True,
            "anneal_strategy": "linear",
        },
    ),
}


def _schedule(library, schedule, optimizer="SGD"):
    name, settings = schedule
    parameter = library.nn.Parameter(library.ones(2))
    extra = {"momentum": 0.9} if optimizer == "SGD" else {}
    chosen = getattr(library.optim, optimizer)([parameter], lr=0.1, **extra)
    scheduler = getattr(library.optim.lr_scheduler, name)(chosen, **settings)
    values = []
    for _ in range(13):
        group = chosen.param_groups[0]
        momentum = group["momentum"] if "momentum" in group else group["betas"][0]
        values.append((group["lr"], scheduler.get_last_lr()[0], momentum))
        chosen.step()
        scheduler.step()
    return values


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_schedules(schedule):
    np.testing.assert_allclose(
        _schedule(tg, schedule), _schedule(torch, schedule), rtol=1e-12
    )


def test_one_cycle_moves_the_first_beta():
    schedule = SCHEDULES["cycle"]
    np.testing.assert_allclose(
        _schedule(tg, schedule, "Adam"), _schedule(torch, schedule, "Adam"), rtol=1e-12
    )


PLATEAUS = [
    {"patience": 1},
    {"patience": 0, "cooldown": 2, "factor": 0.5, "min_lr": 0.02},
    {"mode": "max", "patience": 0, "threshold_mode": "abs", "threshold": 0.1},
]


def _plateau(library, settings):
    parameter = library.nn.Parameter(library.ones(2))
    optimizer = library.optim.SGD([parameter], lr=0.1)
    scheduler = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **settings)
    values = []
    for measure in [1.0, 0.9, 0.95, 0.9, 0.9, 0.91, 0.5, 0.6, 0.7, 0.7, 0.8]:
        scheduler.step(measure)
        values.append(optimizer.param_groups[0]["lr"])
    return values


@pytest.mark.parametrize("settings", PLATEAUS)
def test_plateau(settings):
    np.testing.assert_allclose(_plateau(tg, settings), _plateau(torch, settings))
