"""A line search for a step that satisfies the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

# How much the loss must fall, and the slope flatten, by Nocedal and Wright.
_FALL: Final = 1e-4
_FLATTEN: Final = 0.9
_SMALLEST: Final = 1e-9


@final
@dataclass(frozen=True, slots=True)
class Point:
    """A loss and the gradient there."""

    loss: float
    gradient: Any


@final
@dataclass(frozen=True, slots=True)
class _Trial:
    """A step size, what is there, and the slope along the direction."""

    size: float
    point: Point
    slope: float

    @property
    def loss(self) -> float:
        return self.point.loss


def strong_wolfe(
    evaluate: Callable[[float], Point],
    size: float,
    direction: Any,
    start: Point,
    slope: float,
    most: int,
) -> tuple[Point, float]:
    """Return a point where the loss fell enough and is flat enough, and its step size.

    Parameters
    ----------
    evaluate : callable
        From a step size to the point there.
    size : float
        Where to begin.
    direction : Tensor, shape (n,)
    start : Point
        At the step size zero.
    slope : float
        There, along the direction; negative.
    most : int
        How many trials there may be beside the first.

    Notes
    -----
    Source: Nocedal, Wright, "Numerical Optimization" (2006), algorithms 3.5 and 3.6,
    with the interpolation and the safeguards of PyTorch.
    """
    return _Search(evaluate, direction, start, slope, most).run(size)


@final
class _Search:
    def __init__(
        self,
        evaluate: Callable[[float], Point],
        direction: Any,
        start: Point,
        slope: float,
        most: int,
    ) -> None:
        self._evaluate = evaluate
        self._direction = direction
        self._start = _Trial(0.0, start, slope)
        self._left = most
        self._largest = direction.abs().max().item()

    def _try(self, size: float) -> _Trial:
        point = self._evaluate(size)
        return _Trial(size, point, point.gradient.dot(self._direction).item())

    def _is_high(self, trial: _Trial) -> bool:
        bound = self._start.loss + _FALL * trial.size * self._start.slope
        return trial.loss > bound

    def _is_flat(self, trial: _Trial) -> bool:
        return abs(trial.slope) <= -_FLATTEN * self._start.slope

    def run(self, size: float) -> tuple[Point, float]:
        low, high = self._bracket(self._try(size))
        if high is None:
            return low.point, low.size
        if low.loss > high.loss:
            low, high = high, low
        best = self._zoom(low, high)
        return best.point, best.size

    def _bracket(self, trial: _Trial) -> tuple[_Trial, _Trial | None]:
        """Return two trials between which there is a good one; or that one."""
        before = self._start
        for made in range(self._left):
            self._left -= 1
            if self._is_high(trial) or (made > 1 and trial.loss >= before.loss):
                self._left += 1
                return before, trial
            if self._is_flat(trial):
                return trial, None
            if trial.slope >= 0:
                self._left += 1
                return before, trial
            least = trial.size + 0.01 * (trial.size - before.size)
            size = _between(before, trial, least, trial.size * 10)
            before, trial = trial, self._try(size)
        return self._start, trial

    def _zoom(self, low: _Trial, high: _Trial) -> _Trial:
        """Return a good trial between two, or the best one that was found."""
        stuck = False
        while self._left > 0:
            if abs(high.size - low.size) * self._largest < _SMALLEST:
                break
            size, stuck = self._inner_size(low, high, stuck)
            trial = self._try(size)
            self._left -= 1
            if self._is_high(trial) or trial.loss >= low.loss:
                high = trial
                if high.loss < low.loss:
                    low, high = high, low
                continue
            if self._is_flat(trial):
                return trial
            if trial.slope * (high.size - low.size) >= 0:
                high = low
            low = trial
        return low

    def _inner_size(self, low: _Trial, high: _Trial, stuck: bool) -> tuple[float, bool]:
        """Return a size between two, and whether it lies at one of them."""
        left, right = sorted((low.size, high.size))
        size = _between(low, high, left, right)
        margin = 0.1 * (right - left)
        if min(right - size, size - left) >= margin:
            return size, False
        if not (stuck or size >= right or size <= left):
            return size, True
        near_right = abs(size - right) < abs(size - left)
        return (right - margin if near_right else left + margin), False


def _between(a: _Trial, b: _Trial, least: float, most: float) -> float:
    """Return where the cubic through two trials is lowest, within bounds."""
    middle = (least + most) / 2.0
    if a.size == b.size:
        return middle
    if a.size > b.size:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.size - b.size)
    squared = d1**2 - a.slope * b.slope
    if squared < 0:
        return middle
    d2 = math.sqrt(squared)
    bend = b.slope - a.slope + 2 * d2
    if bend == 0:
        return middle
    share = (b.slope + d2 - d1) / bend
    return min(max(b.size - (b.size - a.size) * share, least), most)
