"""Schedules that change the step size a little each epoch."""

from __future__ import annotations

import math

from tracegrad.errors import ArgumentError
from tracegrad.optim.lr_scheduler.base import LRScheduler
from tracegrad.optim.optimizer import Optimizer


class ConstantLR(LRScheduler):
    """The step size times `factor` for the first epochs.

    Parameters
    ----------
    optimizer : Optimizer
    factor : float
    total_iters : int
        How many epochs.
    last_epoch : int
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise ArgumentError("the factor of ConstantLR must be from 0 to 1")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch != self.total_iters:
            return self._current()
        return self._scaled(1.0 / self.factor)


class LinearLR(LRScheduler):
    """The step size times a factor that goes from one number to another.

    Parameters
    ----------
    optimizer : Optimizer
    start_factor, end_factor : float
    total_iters : int
        In how many epochs.
    last_epoch : int
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0 or not 0 <= end_factor <= 1.0:
            raise ArgumentError("the factors of LinearLR must be from 0 to 1")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self.last_epoch > self.total_iters:
            return self._current()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self._scaled(1.0 + rise / before)


class ExponentialLR(LRScheduler):
    """Each epoch, the step size times `gamma`.

    Parameters
    ----------
    optimizer : Optimizer
    gamma : float
    last_epoch : int
    """

    def __init__(
        self, optimizer: Optimizer, gamma: float, last_epoch: int = -1
    ) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        return self._current() if self.last_epoch == 0 else self._scaled(self.gamma)

    def _lr_at(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The step size falls to zero by a power of the epochs left.

    Parameters
    ----------
    optimizer : Optimizer
    total_iters : int
        After how many epochs.
    power : float
    last_epoch : int
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self._current()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((left / before) ** self.power)


class CosineAnnealingLR(LRScheduler):
    """The step size goes to `eta_min` along half a cosine, and back.

    Parameters
    ----------
    optimizer : Optimizer
    T_max : int
        In how many epochs.
    eta_min : float
    last_epoch : int

    Notes
    -----
    Source: Loshchilov, Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts"
    (2017), without the restarts.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803 - PyTorch's name
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        epoch = self.last_epoch
        if epoch == 0:
            return self._current()
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                lr + (base - self.eta_min) * rise
                for base, lr in zip(self.base_lrs, self._current(), strict=True)
            ]
        ratio = self._height(epoch) / self._height(epoch - 1)
        return [ratio * (lr - self.eta_min) + self.eta_min for lr in self._current()]

    def _lr_at(self) -> list[float]:
        half = self._height(self.last_epoch) / 2
        return [self.eta_min + (base - self.eta_min) * half for base in self.base_lrs]
