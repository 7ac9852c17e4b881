"""Eager overhead beside PyTorch's: small operators, and backward through a long chain.

    python benchmarks/eager.py [ROUNDS]

Both libraries run in one process, in turns, on one thread; the table shows medians
over the rounds. What is timed does almost no arithmetic: the time is overhead.
"""

import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import tracegrad as tg

CHAIN = 1000


@dataclass(frozen=True, slots=True)
class Case:
    """One measurement: a function for each library, and what to divide by."""

    name: str
    make: Callable[[Any], Callable[[], float]]
    bound: float


def timed(function: Callable[[], Any], count: int) -> float:
    """Return the seconds of one call, over `count` calls."""
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count


def operands(lib: Any, *tracked: bool) -> list[Any]:
    """Return tensors of 16 float32, some of which require gradients."""
    values = np.linspace(0.5, 1.0, 16, dtype=np.float32)
    return [lib.tensor(values).requires_grad_(wanted) for wanted in tracked]


def plain_add(lib: Any) -> Callable[[], float]:
    """``x + y`` without gradients."""
    x, y = operands(lib, False, False)
    return lambda: timed(lambda: x + y, 5000)


def tracked_add(lib: Any) -> Callable[[], float]:
    """``x + y`` where `x` requires gradients."""
    x, y = operands(lib, True, False)
    return lambda: timed(lambda: x + y, 5000)


def chain_of(x: Any, y: Any) -> Any:
    """Return the end of a chain of 1,000 operators."""
    z = x
    for _ in range(CHAIN // 2):
        z = (z + y) * y
    return z


def forward(lib: Any, *tracked: bool) -> Callable[[], float]:
    """A chain's forward, per operator."""
    x, y = operands(lib, *tracked)
    return lambda: timed(lambda: chain_of(x, y), 5) / CHAIN


def backward(lib: Any, *tracked: bool) -> Callable[[], float]:
    """A chain's backward, per operator."""
    x, y = operands(lib, *tracked)

    def run() -> float:
        seconds = 0.0
        for _ in range(5):
            end = chain_of(x, y).sum()
            seconds += timed(end.backward, 1)
        return seconds / 5 / CHAIN

    return run


CASES = (
    Case("x + y", plain_add, 1.0),
    Case("x + y, x requires grad", tracked_add, 1.0),
    Case("chain forward, x requires grad", lambda lib: forward(lib, True, False), 1.0),
    Case(
        "chain backward, x requires grad", lambda lib: backward(lib, True, False), 1.5
    ),
    Case(
        "chain backward, both require grad", lambda lib: backward(lib, True, True), 1.5
    ),
)


def measure(case: Case, rounds: int) -> tuple[float, float, float, float]:
    """Return the medians of both in microseconds, and the extreme ratios."""
    ours, theirs = case.make(tg), case.make(torch)
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    ratios = [mine / other for mine, other in pairs]
    mine = statistics.median(pair[0] for pair in pairs)
    other = statistics.median(pair[1] for pair in pairs)
    return mine * 1e6, other * 1e6, min(ratios), max(ratios)


def check_results() -> None:
    """Make sure that both compute the same before anything is timed."""
    gradients = []
    for lib in (tg, torch):
        x, y = operands(lib, True, True)
        chain_of(x, y).sum().backward()
        gradients.append((x.grad.numpy(), y.grad.numpy()))
    for mine, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4)


def main(rounds: int) -> None:
    """Print the table."""
    torch.set_num_threads(1)
    check_results()
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"PyTorch {torch.__version__}, {platform.machine()}, one thread, "
        f"{rounds} rounds; microseconds per operator"
    )
    print(f"{'':34}{'tracegrad':>10}{'torch':>8}{'ratio':>7}{'spread':>14}{'bound':>7}")
    for case in CASES:
        mine, other, low, high = measure(case, rounds)
        print(
            f"{case.name:34}{mine:10.2f}{other:8.2f}{mine / other:7.2f}"
            f"{low:7.2f}-{high:5.2f} {case.bound:7.1f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
