"""One training step of an MLP 64-128-10, batch 32, SGD: traced against its peers.

Peers: the same step written by hand in NumPy with ``out=``, and PyTorch eager (where it
is installed). Rounds are interleaved; the table gives medians and ratios of medians.

Run it with ``python benchmarks/mlp_step.py`` on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable

import numpy as np

import tracegrad as tg
from tracegrad import nn
from tracegrad.nn import functional as F  # noqa: N812 - PyTorch programs call it so

LEARNING_RATE = 0.1
f32 = np.float32


def data() -> tuple[np.ndarray, np.ndarray]:
    """Return a batch."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((32, 64)).astype(f32), rng.integers(0, 10, 32)


def by_hand() -> Callable[[], object]:
    """Return the step as one writes it in NumPy, without temporaries."""
    x, y = data()
    rng = np.random.default_rng(1)
    w1 = (rng.standard_normal((128, 64)) * 0.1).astype(f32)
    w2 = (rng.standard_normal((10, 128)) * 0.1).astype(f32)
    b1, b2 = np.zeros(128, f32), np.zeros(10, f32)
    h, mask = np.empty((32, 128), f32), np.empty((32, 128), bool)
    z, e = np.empty((32, 10), f32), np.empty((32, 10), f32)
    top, total = np.empty((32, 1), f32), np.empty((32, 1), f32)
    dh = np.empty((32, 128), f32)
    gw1, gw2, gb1, gb2 = map(np.empty_like, (w1, w2, b1, b2))
    t1, t2, t3, t4 = map(np.empty_like, (w1, w2, b1, b2))
    rows = np.arange(32)
    lr, part = f32(LEARNING_RATE), f32(1 / 32)

    def step() -> object:
        np.matmul(x, w1.T, out=h)
        np.add(h, b1, out=h)
        np.maximum(h, 0, out=h)
        np.matmul(h, w2.T, out=z)
        np.add(z, b2, out=z)
        np.maximum.reduce(z, axis=1, keepdims=True, out=top)
        np.subtract(z, top, out=z)
        np.exp(z, out=e)
        np.add.reduce(e, axis=1, keepdims=True, out=total)
        loss = (np.log(total[:, 0]) - z[rows, y]).mean()
        np.divide(e, total, out=e)
        e[rows, y] -= 1
        np.multiply(e, part, out=e)
        np.matmul(e.T, h, out=gw2)
        np.add.reduce(e, axis=0, out=gb2)
        np.matmul(e, w2, out=dh)
        np.greater(h, 0, out=mask)
        np.multiply(dh, mask, out=dh)
        np.matmul(dh.T, x, out=gw1)
        np.add.reduce(dh, axis=0, out=gb1)
        for parameter, gradient, scaled in (
            (w1, gw1, t1), (b1, gb1, t3), (w2, gw2, t2), (b2, gb2, t4),
        ):  # fmt: skip
            np.multiply(gradient, lr, out=scaled)
            np.subtract(parameter, scaled, out=parameter)
        return loss

    return step


def traced(eager: bool = False) -> Callable[[], object]:
    """Return tracegrad's step, captured or not."""
    tg.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = tg.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    x, y = (tg.from_numpy(a) for a in data())

    def step(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run = step if eager else tg.trace(step)
    return lambda: run(x, y)


def torch_eager() -> Callable[[], object] | None:
    """Return PyTorch's step, None where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch  # noqa: PLC0415 - an optional peer

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    x, y = (torch.from_numpy(a) for a in data())

    def step() -> object:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--calls", type=int, default=100)
    arguments = parser.parse_args()
    contestants = {
        "NumPy by hand": by_hand(),
        "tracegrad traced": traced(),
        "tracegrad eager": traced(eager=True),
        "PyTorch eager": torch_eager(),
    }
    runs = {name: run for name, run in contestants.items() if run is not None}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run(), run()
    for _ in range(arguments.rounds):
        for name, run in runs.items():
            began = time.perf_counter()
            for _ in range(arguments.calls):
                run()
            times[name].append((time.perf_counter() - began) / arguments.calls)
    medians = {name: statistics.median(t) for name, t in times.items()}
    hand = medians["NumPy by hand"]
    for name, median in medians.items():
        print(f"{name:18} {median * 1e6:9.1f} us   {median / hand:6.2f} x by hand")


if __name__ == "__main__":
    main()
