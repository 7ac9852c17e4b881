"""Schedules by a function of the epoch, or in steps."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tracegrad.errors import ArgumentError, ArgumentTypeError
from tracegrad.optim.lr_scheduler.base import LRScheduler
from tracegrad.optim.optimizer import Optimizer


class LambdaLR(LRScheduler):
    """The first step size times a function of the epoch.

    Parameters
    ----------
    optimizer : Optimizer
    lr_lambda : callable, or list of callable
        One for all groups, or one per group.
    last_epoch : int
    """

    _unsaved = ("optimizer", "lr_lambdas")

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1
    ) -> None:
        self.lr_lambdas = _per_group(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        return [
            base * function(self.last_epoch)
            for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)
        ]


class MultiplicativeLR(LRScheduler):
    """Each epoch, the step size times a function of the epoch.

    Parameters
    ----------
    optimizer : Optimizer
    lr_lambda : callable, or list of callable
    last_epoch : int
    """

    _unsaved = ("optimizer", "lr_lambdas")

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1
    ) -> None:
        self.lr_lambdas = _per_group(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        if self.last_epoch == 0:
            return self._current()
        return [
            lr * function(self.last_epoch)
            for lr, function in zip(self._current(), self.lr_lambdas, strict=True)
        ]


def _per_group(optimizer: Optimizer, functions: Any) -> list[Callable[[int], float]]:
    count = len(optimizer.param_groups)
    given = functions if isinstance(functions, list | tuple) else [functions] * count
    if len(given) != count:
        raise ArgumentError(f"expected {count} lr_lambdas, but got {len(given)}")
    for function in given:
        if not callable(function):
            raise ArgumentTypeError(
                f"lr_lambda must be a function, or a list of them, not {function!r}"
            )
    return list(given)


class StepLR(LRScheduler):
    """Every `step_size` epochs, the step size times `gamma`.

    Parameters
    ----------
    optimizer : Optimizer
    step_size : int
        In epochs.
    gamma : float
    last_epoch : int
    """

    def __init__(
        self,
        optimizer: Optimizer,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._current()
        return self._scaled(self.gamma)

    def _lr_at(self) -> list[float]:
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """At each milestone, the step size times `gamma`.

    Parameters
    ----------
    optimizer : Optimizer
    milestones : list of int
        Epochs.
    gamma : float
    last_epoch : int
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _lr_at(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]
