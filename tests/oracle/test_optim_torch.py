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

# Compared over prescribed gradients only: their paths part by rounding sooner.
MORE = {
    "nadam": ("NAdam", {"lr": 0.05}),
    "nadam_all": (
        "NAdam",
        {
            "lr": 0.05,
            "betas": (0.8, 0.9),
            "weight_decay": 0.1,
            "momentum_decay": 0.1,
            "eps": 1e-3,
        },
    ),
    "nadamw": (
        "NAdam",
        {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True},
    ),
    "radam": ("RAdam", {"lr": 0.05}),
    "radam_all": (
        "RAdam",
        {"lr": 0.05, "betas": (0.7, 0.9), "weight_decay": 0.1, "eps": 1e-3},
    ),
    "radamw": (
        "RAdam",
        {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True},
    ),
    "adamax": ("Adamax", {"lr": 0.05}),
    "adamax_all": (
        "Adamax",
        {"lr": 0.05, "betas": (0.7, 0.9), "weight_decay": 0.1, "eps": 1e-3},
    ),
    "adadelta": ("Adadelta", {}),
    "adadelta_all": (
        "Adadelta",
        {"lr": 0.5, "rho": 0.7, "weight_decay": 0.1, "eps": 1e-3},
    ),
    "rprop": ("Rprop", {"lr": 0.05}),
    "rprop_all": (
        "Rprop",
        {"lr": 0.05, "etas": (0.3, 1.7), "step_sizes": (1e-3, 0.1)},
    ),
    "asgd": ("ASGD", {"lr": 0.05}),
    "asgd_all": (
        "ASGD",
        {"lr": 0.05, "lambd": 0.01, "alpha": 0.6, "t0": 5, "weight_decay": 0.1},
    ),
    "adafactor": ("Adafactor", {"lr": 0.05}),
    "adafactor_all": (
        "Adafactor",
        {
            "lr": 0.05,
            "beta2_decay": -0.5,
            "eps": (1e-4, 1e-2),
            "d": 1.5,
            "weight_decay": 0.1,
        },
    ),
    **{
        f"{name.lower()}_maximize": (name, {"lr": 0.001, "maximize": True})
        for name in (
            "NAdam",
            "RAdam",
            "Adamax",
            "Adadelta",
            "Rprop",
            "ASGD",
            "Adafactor",
        )
    },
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


def _along(library, optimizer, dtype, steps=20):
    """Step along gradients that do not depend on the parameters."""
    rng = np.random.default_rng(4)
    name, settings = optimizer
    shapes = [(3, 4), (5,), (), (2, 3, 2)]
    parameters = [
        library.nn.Parameter(library.tensor(rng.normal(size=shape).astype(dtype)))
        for shape in shapes
    ]
    chosen = getattr(library.optim, name)(parameters, **settings)
    values = []
    for _ in range(steps):
        for parameter, shape in zip(parameters, shapes, strict=True):
            gradient = np.asarray(rng.normal(size=shape)).astype(dtype)
            parameter.grad = library.tensor(gradient)
        chosen.step()
        values.append([p.detach().numpy().copy() for p in parameters])
    return values, chosen


ALL = OPTIMIZERS | MORE


@pytest.mark.parametrize("optimizer", ALL.values(), ids=ALL)
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-6)]
)
def test_twenty_steps_along_gradients(optimizer, dtype, tolerance):
    ours, _ = _along(tg, optimizer, dtype)
    theirs, _ = _along(torch, optimizer, dtype)
    for step, (mine, yours) in enumerate(zip(ours, theirs, strict=True)):
        for a, b in zip(mine, yours, strict=True):
            np.testing.assert_allclose(
                a, b, rtol=tolerance, atol=tolerance, err_msg=str(step)
            )


@pytest.mark.parametrize("optimizer", MORE.values(), ids=MORE)
def test_states_go_both_ways(optimizer):
    """Ten steps here, ten there, and the other way round, end at the same place."""
    name, settings = optimizer
    ends = []
    for first, second in ((tg, torch), (torch, tg)):
        _, chosen = _along(first, optimizer, "float64", 10)
        state = _converted(chosen.state_dict(), second)
        parameters = [
            second.nn.Parameter(second.tensor(p.detach().numpy().copy()))
            for p in chosen.param_groups[0]["params"]
        ]
        other = getattr(second.optim, name)(parameters, **settings)
        other.load_state_dict(state)
        for parameter in parameters:
            parameter.grad = second.full_like(parameter, 0.5)
        other.step()
        ends.append([p.detach().numpy() for p in parameters])
    for a, b in zip(*ends, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def _converted(value, library):
    if isinstance(value, dict):
        return {key: _converted(part, library) for key, part in value.items()}
    if isinstance(value, list):
        return [_converted(part, library) for part in value]
    if isinstance(value, tg.Tensor | torch.Tensor):
        return library.tensor(value.numpy().copy())
    return value


@pytest.mark.parametrize("adjust", [None, "original", "match_rms_adamw"])
@pytest.mark.parametrize("nesterov", [True, False])
@pytest.mark.parametrize("shape", [(4, 6), (6, 4)])
def test_muon(adjust, nesterov, shape):
    values = {}
    for library in (tg, torch):
        rng = np.random.default_rng(4)
        start = rng.normal(size=shape).astype("float32")
        parameter = library.nn.Parameter(library.tensor(start))
        chosen = library.optim.Muon(
            [parameter], lr=0.1, adjust_lr_fn=adjust, nesterov=nesterov
        )
        for _ in range(5):
            gradient = rng.normal(size=shape).astype("float32")
            parameter.grad = library.tensor(gradient)
            chosen.step()
        values[library] = parameter.detach().numpy()
        assert list(chosen.state_dict()["state"][0]) == ["momentum_buffer"]
    # The iteration is in bfloat16, whose products round in different places.
    np.testing.assert_allclose(values[tg], values[torch], atol=0.02)


def _rosenbrock(library, settings, steps=8):
    x = library.nn.Parameter(library.tensor([-1.2, 1.0], dtype=library.float64))
    y = library.nn.Parameter(library.tensor([0.5], dtype=library.float64))
    chosen = library.optim.LBFGS([x, y], **settings)
    losses, calls = [], []

    def closure():
        chosen.zero_grad()
        calls.append(0)
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2 + (y * y).sum() ** 2
        loss.backward()
        return loss

    for _ in range(steps):
        losses.append(chosen.step(closure).item())
    state = next(iter(chosen.state_dict()["state"].values()))
    return losses, len(calls), x.detach().numpy(), state


LBFGS = [
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "max_iter": 4, "history_size": 3},
    {"lr": 0.001, "max_iter": 5},
    {"lr": 0.1, "max_iter": 3, "max_eval": 2},
    {"line_search_fn": "strong_wolfe", "lr": 0.5, "max_iter": 7, "max_eval": 9},
]


@pytest.mark.parametrize("settings", LBFGS)
def test_lbfgs(settings):
    ours = _rosenbrock(tg, settings)
    theirs = _rosenbrock(torch, settings)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6, atol=1e-12)
    assert ours[1] == theirs[1]
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-6)
    assert ours[3].keys() == theirs[3].keys()


@pytest.mark.parametrize("optimizer", ALL.values(), ids=ALL)
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


STEP_SIZES = [
    "SGD",
    "Adam",
    "AdamW",
    "RMSprop",
    "Adagrad",
    "NAdam",
    "RAdam",
    "Adamax",
    "Adadelta",
    "Rprop",
    "ASGD",
    "Adafactor",
]


@pytest.mark.parametrize("name", STEP_SIZES)
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
    "triangular": (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3, "step_size_down": 2},
    ),
    "triangular2": (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 2, "mode": "triangular2"},
    ),
    "exp_range": (
        "CyclicLR",
        {
            "base_lr": 0.01,
            "max_lr": 0.1,
            "step_size_up": 3,
            "mode": "exp_range",
            "gamma": 0.9,
            "base_momentum": 0.7,
        },
    ),
    "scaled": (
        "CyclicLR",
        {
            "base_lr": 0.01,
            "max_lr": 0.1,
            "step_size_up": 3,
            "scale_fn": lambda x: 1 / (1 + x),
            "scale_mode": "iterations",
        },
    ),
    "restarts": ("CosineAnnealingWarmRestarts", {"T_0": 3}),
    "longer restarts": (
        "CosineAnnealingWarmRestarts",
        {"T_0": 2, "T_mult": 2, "eta_min": 0.01},
    ),
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


def _parts(library, optimizer, which):
    schedules = library.optim.lr_scheduler
    if which == "sequential":
        parts = [
            schedules.LinearLR(optimizer, 0.1, total_iters=3),
            schedules.ExponentialLR(optimizer, 0.9),
            schedules.CosineAnnealingLR(optimizer, 4),
        ]
        return schedules.SequentialLR(optimizer, parts, [3, 6])
    if which == "constant first":
        parts = [
            schedules.ConstantLR(optimizer, 0.1, total_iters=2),
            schedules.StepLR(optimizer, 2, 0.5),
        ]
        return schedules.SequentialLR(optimizer, parts, [2])
    if which == "chained":
        parts = [
            schedules.ConstantLR(optimizer, 0.1, total_iters=4),
            schedules.ExponentialLR(optimizer, 0.9),
        ]
        return schedules.ChainedScheduler(parts)
    if which == "nested":
        inner = schedules.SequentialLR(
            optimizer,
            [schedules.ConstantLR(optimizer), schedules.ExponentialLR(optimizer, 0.9)],
            [2],
        )
        parts = [schedules.LinearLR(optimizer, total_iters=2), inner]
        return schedules.ChainedScheduler(parts, optimizer)
    return library.optim.swa_utils.SWALR(optimizer, 0.5, *which)


COMBINED = [
    "sequential",
    "constant first",
    "chained",
    "nested",
    (5, "linear"),
    (5, "cos"),
    (0, "cos"),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("which", COMBINED, ids=str)
def test_combined_schedules(which):
    values = {}
    for library in (tg, torch):
        parameter = library.nn.Parameter(library.ones(2))
        optimizer = library.optim.SGD([parameter], lr=0.1)
        scheduler = _parts(library, optimizer, which)
        found = []
        for step in range(12):
            found.append((optimizer.param_groups[0]["lr"], scheduler.get_last_lr()[0]))
            optimizer.step()
            scheduler.step()
            if step == 6:
                state = scheduler.state_dict()
                twin = library.optim.SGD([parameter], lr=0.1)
                twin.load_state_dict(optimizer.state_dict())
                optimizer = twin
                scheduler = _parts(library, optimizer, which)
                scheduler.load_state_dict(state)
                saved = optimizer.param_groups[0]
                saved["lr"] = found[-1][0] if which == "chained" else saved["lr"]
        values[library] = found
    np.testing.assert_allclose(values[tg], values[torch], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_restarts_at_given_epochs():
    values = {}
    for library in (tg, torch):
        parameter = library.nn.Parameter(library.ones(2))
        optimizer = library.optim.SGD([parameter], lr=0.1)
        for settings in ({"T_0": 3}, {"T_0": 2, "T_mult": 2}):
            scheduler = library.optim.lr_scheduler.CosineAnnealingWarmRestarts(
                optimizer, **settings
            )
            found = values.setdefault(library, [])
            for epoch in (0, 0.5, 1.75, 2, None, 7.25, None, None, 3):
                scheduler.step(epoch)
                found.append(optimizer.param_groups[0]["lr"])
    np.testing.assert_allclose(values[tg], values[torch], rtol=1e-12)


AVERAGES = [
    {},
    {"use_buffers": True},
    {"avg": "ema"},
    {"avg": "ema", "use_buffers": True},
    {"multi": "ema"},
    {"multi": "ema", "use_buffers": True},
    {"avg": "swa"},
]


@pytest.mark.parametrize("settings", AVERAGES, ids=str)
def test_averaged_models(settings):
    values = {}
    for library in (tg, torch):
        rng = np.random.default_rng(3)
        tools = library.optim.swa_utils
        model = library.nn.Sequential(
            library.nn.Linear(3, 4), library.nn.BatchNorm1d(4)
        )
        given = {"use_buffers": settings.get("use_buffers", False)}
        for kind, name in (("avg", "avg_fn"), ("multi", "multi_avg_fn")):
            if kind in settings:
                make = getattr(tools, f"get_{settings[kind]}_{name}")
                given[name] = make(0.9) if settings[kind] == "ema" else make()
        averaged = tools.AveragedModel(model, **given)
        data = [library.tensor(rng.normal(size=(5, 3)).astype("f")) for _ in range(3)]
        for batch in data:
            with library.no_grad():
                for parameter in model.parameters():
                    new = np.asarray(rng.normal(size=tuple(parameter.shape)), "f")
                    parameter.copy_(library.tensor(new))
            model(batch)
            averaged.update_parameters(model)
        state = averaged.state_dict()
        found = [(k, v.numpy().tolist()) for k, v in state.items()]
        tools.update_bn(data, averaged)
        found += [(k, v.numpy().tolist()) for k, v in averaged.state_dict().items()]
        values[library] = found
    assert [name for name, _ in values[tg]] == [name for name, _ in values[torch]]
    for (_, a), (_, b) in zip(values[tg], values[torch], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
