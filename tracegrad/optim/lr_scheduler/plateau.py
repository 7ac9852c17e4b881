"""A schedule that looks at a measure of success."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.errors import ArgumentError, ArgumentTypeError
from tracegrad.optim.lr_scheduler.base import LRScheduler, number, set_lr
from tracegrad.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """The step size times `factor` when a measure has not got better for a while.

    Parameters
    ----------
    optimizer : Optimizer
    mode : str
        ``"min"`` if a smaller measure is better, else ``"max"``.
    factor : float
        Below 1.
    patience : int
        How many epochs without progress are borne.
    threshold : float
        By how much a measure must be better to count.
    threshold_mode : str
        ``"rel"``: by that share of the best; ``"abs"``: by that amount.
    cooldown : int
        How many epochs after a reduction are not judged.
    min_lr : float or list of float
        The smallest step size, of all groups or of each.
    eps : float
        A smaller change is not made.

    Raises
    ------
    ArgumentError
        If the factor is 1 or more, or a mode unknown.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ArgumentError("the factor of ReduceLROnPlateau must be below 1")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ArgumentError(
                "ReduceLROnPlateau: mode is 'min' or 'max', threshold_mode 'rel' or "
                f"'abs', not {mode!r} and {threshold_mode!r}"
            )
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(f"{type(optimizer).__name__} is not an Optimizer")
        count = len(optimizer.param_groups)
        several = isinstance(min_lr, list | tuple)
        self.min_lrs = list(min_lr) if several else [min_lr] * count
        if len(self.min_lrs) != count:
            raise ArgumentError(f"expected {count} min_lrs, got {len(self.min_lrs)}")
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._reset()
        self._last_lr = self._current()

    def _reset(self) -> None:
        """Forget what was measured."""
        self.best = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take this epoch's measure, and reduce the step sizes if it is time."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._current()

    def _reduce(self) -> None:
        for group, low in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            old = number(group["lr"])
            new = max(old * self.factor, low)
            if old - new > self.eps:
                set_lr(group, new)

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "abs":
            return sign * value < sign * self.best - self.threshold
        return sign * value < sign * self.best * (1.0 - sign * self.threshold)
