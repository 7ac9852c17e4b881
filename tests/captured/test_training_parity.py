"""A whole training step, traced and eager, over many steps: the same losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn
from tracegrad.nn import functional as F

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "adam": lambda p: tg.optim.Adam(p, lr=1e-3),
    "sgd-momentum": lambda p: tg.optim.SGD(p, lr=0.05, momentum=0.9),
}
MORE: dict[str, Callable[[Any], Any]] = {
    "nadam": lambda p: tg.optim.NAdam(p, lr=1e-3),
    "radam": lambda p: tg.optim.RAdam(p, lr=1e-3),
    "adamax": lambda p: tg.optim.Adamax(p, lr=1e-3),
    "adadelta": lambda p: tg.optim.Adadelta(p, lr=0.1),
    "rprop": lambda p: tg.optim.Rprop(p, lr=1e-3),
    "asgd": lambda p: tg.optim.ASGD(p, lr=1e-3, t0=2),
    "adafactor": lambda p: tg.optim.Adafactor(p, lr=1e-3),
}


def batches(count: int) -> list[tuple[Any, Any]]:
    """Return batches of images of classes that can be learned."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 64))
    found = []
    for _ in range(count):
        labels = rng.integers(0, 10, 32)
        images = centres[labels] + rng.normal(size=(32, 64))
        found.append((tg.from_numpy(images.astype(np.float32)), tg.from_numpy(labels)))
    return found


def train(kind: str, traced: bool, steps: int) -> tuple[list[float], Any]:
    """Return the losses: dropout on, the rate halved midway, eval() in between."""
    tg.manual_seed(7)
    model = nn.Sequential(
        nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 10)
    )
    optimizer = (OPTIMIZERS | MORE)[kind](model.parameters())

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def evaluate(x: Any, y: Any) -> Any:
        with tg.no_grad():
            return F.cross_entropy(model(x), y)

    run, check = (tg.trace(step), tg.trace(evaluate)) if traced else (step, evaluate)
    losses = []
    for number, (x, y) in enumerate(batches(steps)):
        if number == steps // 2:
            optimizer.param_groups[0]["lr"] /= 2
        losses.append(run(x, y).item())
        if number % 20 == 10:
            model.eval()
            losses.append(check(x, y).item())
            model.train()
    return losses, (run, check)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_two_hundred_steps(kind: str) -> None:
    expected, _ = train(kind, traced=False, steps=200)
    found, (run, check) = train(kind, traced=True, steps=200)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    report = str(run.explain())
    assert "eagerly" not in report
    # One program, and one more when the learning rate changed.
    assert len(run.specializations) == 2
    assert "lr" in report
    assert len(check.specializations) == 1
    assert "eagerly" not in str(check.explain())


@pytest.mark.parametrize("kind", MORE)
def test_forty_steps(kind: str) -> None:
    expected, _ = train(kind, traced=False, steps=40)
    found, (run, _) = train(kind, traced=True, steps=40)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert "eagerly" not in str(run.explain())
    # Rprop looks at the learning rate only where it begins.
    assert len(run.specializations) == (1 if kind == "rprop" else 2)


def test_training_goes_down() -> None:
    losses, _ = train("adam", traced=True, steps=60)
    assert losses[-1] < 0.7 * losses[0]
