"""Whole training steps on the pretended device: eager, traced, and on the CPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.support.cuda_on_cpu.fake_cupy import Installed
from tracegrad import nn
from tracegrad.nn import functional

Array = np.ndarray[Any, Any]
Optimizer = Callable[[Any], Any]

STEPS = 4
OPTIMIZERS: dict[str, Optimizer] = {
    "sgd": lambda p: tg.optim.SGD(p, 0.1, momentum=0.9),
    "adam": lambda p: tg.optim.Adam(p, 0.01),
    "adamw": lambda p: tg.optim.AdamW(p, 0.01),
}


def perceptron(dropout: float) -> Any:
    """An MLP with layer norm and dropout; the same parameters each time."""
    tg.manual_seed(0)
    return nn.Sequential(
        nn.Linear(6, 8),
        nn.LayerNorm(8),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Linear(8, 4),
    )


def trained(
    device: str, make: Optimizer, traced: bool, dropout: float = 0.0
) -> tuple[list[float], list[Array], Any]:
    """Losses and parameters of a few steps, and the step."""
    model = perceptron(dropout).to(device)
    optimizer = make(model.parameters())

    def step(x: Any, labels: Any) -> Any:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return loss

    run = tg.trace(step, strict=True) if traced else step
    rng = np.random.default_rng(0)
    tg.manual_seed(3)
    losses = []
    for _ in range(STEPS):
        x = tg.tensor(rng.standard_normal((5, 6)), dtype=tg.float32, device=device)
        labels = tg.tensor(rng.integers(0, 4, 5), device=device)
        losses.append(run(x, labels).item())
    parameters = [p.detach().cpu().numpy() for p in model.parameters()]
    return losses, parameters, run


def check_equal(
    found: tuple[list[float], list[Array], Any],
    wanted: tuple[list[float], list[Array], Any],
) -> None:
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5)
    for have, want in zip(found[1], wanted[1], strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_those_of_the_cpu(fake_cupy: Installed, name: str) -> None:
    make = OPTIMIZERS[name]
    on_cpu = trained("cpu", make, traced=False)
    check_equal(trained("cuda", make, traced=False), on_cpu)
    traced = trained("cuda", make, traced=True)
    check_equal(traced, on_cpu)
    assert len(traced[2].specializations) == 1
    assert "ran eagerly" not in str(traced[2].explain())
    assert "RawKernel" in traced[2].source


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_dropout_draws_what_eager_mode_draws(fake_cupy: Installed, name: str) -> None:
    make = OPTIMIZERS[name]
    eager = trained("cuda", make, traced=False, dropout=0.3)
    check_equal(trained("cuda", make, traced=True, dropout=0.3), eager)
    assert eager[0] != trained("cuda", make, traced=False, dropout=0.0)[0]


def test_a_hit_copies_nothing_but_what_labels_need(fake_cupy: Installed) -> None:
    *_, step = trained("cuda", OPTIMIZERS["sgd"], traced=True)
    x, labels = tg.randn(5, 6, device="cuda"), tg.randint(4, (5,), device="cuda")
    step(x, labels)
    counters = fake_cupy.counters
    before = counters.host_to_device, counters.device_to_host, counters.launches
    step(x, labels)
    # The labels are looked at, one that is out of range raises, and counted.
    assert counters.host_to_device - before[0] <= 1
    assert counters.device_to_host - before[1] <= 3
    assert counters.launches - before[2] == len(
        step.specializations[0].compiled.source.kernels
    )


def test_a_convolution_with_batch_norm(fake_cupy: Installed) -> None:
    def results(device: str, traced: bool) -> list[Array]:
        tg.manual_seed(0)
        model = nn.Sequential(
            nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(12, 2),
        ).to(device)  # fmt: skip

        def step(x: Any) -> Any:
            loss = (model(x) ** 2).mean()
            loss.backward()
            return loss

        run = tg.trace(step, strict=True) if traced else step
        sample = np.random.default_rng(0).standard_normal((2, 2, 6, 6))
        x = tg.tensor(sample, dtype=tg.float32, device=device)
        losses = [run(x), run(x)]
        found = [*losses, *(p.grad for p in model.parameters()), *model.buffers()]
        return [t.detach().cpu().numpy() for t in found]

    wanted = results("cpu", traced=False)
    for traced in (False, True):
        for have, want in zip(results("cuda", traced), wanted, strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-6)
