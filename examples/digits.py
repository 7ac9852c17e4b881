"""Handwritten digits: the same training step, eager and captured.

Trains an MLP and a small CNN on scikit-learn's 1,797 images of digits, each twice from
one seed: as it is written, and with the step under `tg.trace`. Prints how far the two
loss curves are apart, the accuracy on images that were not trained on, the times of a
step, and where to read the NumPy program that came out.

Run it with ``python examples/digits.py``.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import tracegrad as tg
from tracegrad import nn
from tracegrad.nn import functional as F  # noqa: N812 - PyTorch programs call it so

BATCH = 32
SEED = 0


def load() -> tuple[tg.Tensor, tg.Tensor, tg.Tensor, tg.Tensor]:
    """Return images scaled to [0, 1] and labels, for training and for the test."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(images))
    images = (images[order] / 16.0).astype(np.float32)
    labels = labels[order].astype(np.int64)
    split = 1400
    x, y = tg.from_numpy(images), tg.from_numpy(labels)
    return x[:split], y[:split], x[split:], y[split:]


def mlp() -> nn.Module:
    """Return a multi-layer perceptron."""
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def cnn() -> nn.Module:
    """Return a small convolutional network."""
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 4 * 4, 10),
    )


def make_step(model: nn.Module, optimizer: Any) -> Callable[..., Any]:
    """Return one training step, as one writes it."""

    def step(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def train(
    build: Callable[[], nn.Module], epochs: int, traced: bool
) -> tuple[nn.Module, list[float], list[float], Any]:
    """Train a model; return it, its losses, seconds per step, and the step."""
    tg.manual_seed(SEED)
    model = build()
    optimizer = tg.optim.Adam(model.parameters(), lr=3e-3)
    step: Any = make_step(model, optimizer)
    if traced:
        step = tg.trace(step)
    x, y, _, _ = load()
    losses, seconds = [], []
    for _ in range(epochs):
        for start in range(0, len(x) - BATCH + 1, BATCH):
            xb, yb = x[start : start + BATCH], y[start : start + BATCH]
            began = time.perf_counter()
            loss = step(xb, yb)
            seconds.append(time.perf_counter() - began)
            losses.append(loss.item())
    return model, losses, seconds, step


def accuracy(model: nn.Module) -> float:
    """Return the part of the test images whose digit is found."""
    _, _, x, y = load()
    model.eval()
    with tg.no_grad():
        found = model(x).argmax(1)
    return float((found == y).float().mean().item())


def compare(name: str, build: Callable[[], nn.Module], epochs: int, out: Path) -> None:
    """Train both ways and print what came of it."""
    _, eager_losses, eager_seconds, _ = train(build, epochs, traced=False)
    model, losses, seconds, step = train(build, epochs, traced=True)
    apart = max(abs(a - b) / abs(a) for a, b in zip(eager_losses, losses, strict=True))
    source = out / f"digits_{name}_step.py"
    source.write_text(step.source)
    eager_ms = statistics.median(eager_seconds) * 1e3
    traced_ms = statistics.median(seconds) * 1e3
    print(f"{name}: {len(losses)} steps of {BATCH} images")
    print(
        f"  loss {losses[0]:.3f} to {losses[-1]:.3f}; the curves differ by {apart:.1e}"
    )
    print(f"  test accuracy {accuracy(model):.1%}")
    print(f"  step: eager {eager_ms:.3f} ms, traced {traced_ms:.3f} ms")
    print(f"  first traced call (capture and compile): {seconds[0] * 1e3:.0f} ms")
    print(f"  emitted NumPy source: {source}")
    print(f"  {step.explain()}")


def main() -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--out", type=Path, default=Path("."))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    compare("mlp", mlp, arguments.epochs, arguments.out)
    compare("cnn", cnn, max(1, arguments.epochs // 3), arguments.out)


if __name__ == "__main__":
    main()
