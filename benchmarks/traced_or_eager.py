"""When tracing pays: captured calls beside eager ones, by size and number of operators.

    python benchmarks/traced_or_eager.py [ROUNDS]

Both run in one process, in turns; the table shows the medians, over the rounds, of the
time of a call, and of the ratio with its lowest and highest. Above 1 the captured call
is slower. The first call, which records and compiles, is not in it.
"""

import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tracegrad as tg
from tracegrad import nn

_SECONDS_OF_A_ROUND = 0.01


@dataclass(frozen=True, slots=True)
class Case:
    """A function, and what to call it with."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]


def chain(count: int) -> Callable[[Any], Any]:
    """Return a function of `count` pointwise operators."""

    def pointwise(x: Any) -> Any:
        for _ in range(count // 2):
            x = (x * 0.5).tanh()
        return x

    return pointwise


def single(x: Any) -> Any:
    """One operator."""
    return x + 1.0


def softmax(x: Any) -> Any:
    """A composite of rows."""
    return nn.functional.softmax(x, dim=1)


def training_step(batch: int) -> Case:
    """Return a step of a small network, with its optimizer."""
    tg.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.01)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    labels = tg.arange(batch) % 10
    return Case(f"training step, batch {batch}", step, (tg.rand(batch, 64), labels))


def cases() -> list[Case]:
    """Return what is measured."""
    found = [Case("1 operator, 10 elements", single, (tg.rand(10),))]
    for size in (10, 10_000, 1_000_000):
        for count in (4, 16):
            name = f"{count} operators, {size:,} elements"
            found.append(Case(name, chain(count), (tg.rand(size),)))
    found.append(Case("softmax, 32 x 10", softmax, (tg.rand(32, 10),)))
    found.append(Case("softmax, 512 x 512", softmax, (tg.rand(512, 512),)))
    return [*found, training_step(32)]


def timed(function: Callable[..., Any], args: tuple[Any, ...], count: int) -> float:
    """Return the seconds of one call, over `count` calls."""
    start = time.perf_counter()
    for _ in range(count):
        function(*args)
    return (time.perf_counter() - start) / count


def measured(case: Case, rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds of an eager and of a captured call, by round."""
    captured = tg.trace(case.function)
    for _ in range(3):
        captured(*case.args)
    assert captured.specializations[0].hits
    once = timed(case.function, case.args, 3)
    count = max(1, int(_SECONDS_OF_A_ROUND / once))
    eager, traced = [], []
    for _ in range(rounds):
        eager.append(timed(case.function, case.args, count))
        traced.append(timed(captured, case.args, count))
    return eager, traced


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{platform.machine()}, {rounds} rounds; microseconds per call"
    )
    print(f"{'':34}{'eager':>10}{'captured':>10}{'ratio':>7}{'spread':>14}")
    for case in cases():
        eager, traced = measured(case, rounds)
        ratios = [b / a for a, b in zip(eager, traced, strict=True)]
        print(
            f"{case.name:34}{statistics.median(eager) * 1e6:10.1f}"
            f"{statistics.median(traced) * 1e6:10.1f}{statistics.median(ratios):7.2f}"
            f"{min(ratios):7.2f}-{max(ratios):5.2f}"
        )


if __name__ == "__main__":
    main()
