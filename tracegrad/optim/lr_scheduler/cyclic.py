"""Schedules that come again: triangles, and cosines with restarts."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from tracegrad.errors import ArgumentError, ArgumentTypeError
from tracegrad.optim.lr_scheduler.base import LRScheduler, per_group, set_lr
from tracegrad.optim.optimizer import Optimizer

_MODES = ("triangular", "triangular2", "exp_range")


class CyclicLR(LRScheduler):
    """The step size goes up and down between two bounds.

    Parameters
    ----------
    optimizer : Optimizer
    base_lr, max_lr : float or list of float
        The bounds, of all groups or of each.
    step_size_up : int
        How many steps it goes up.
    step_size_down : int, optional
        How many steps it goes down; as many if not given.
    mode : str
        How far it goes: ``"triangular"``, always as far; ``"triangular2"``, half as far
        in each cycle; ``"exp_range"``, times `gamma` in each step.
    gamma : float
    scale_fn : callable, optional
        How far, instead of `mode`.
    scale_mode : str
        Whether `scale_fn` gets the number of the ``"cycle"`` or of ``"iterations"``.
    cycle_momentum : bool
        Whether momentum (or the first beta) goes down as the step size goes up.
    base_momentum, max_momentum : float or list of float
    last_epoch : int

    Raises
    ------
    ArgumentError
        If `mode` is not known, or the optimizer has no momentum.

    Notes
    -----
    Source: Smith, "Cyclical Learning Rates for Training Neural Networks" (2017).
    """

    _unsaved = ("optimizer", "_scale_fn_custom")

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in _MODES and scale_fn is None:
            raise ArgumentError(f"CyclicLR: mode is one of {_MODES}, not {mode!r}")
        groups = optimizer.param_groups
        base_lrs = per_group(base_lr, len(groups))
        if last_epoch == -1:
            for group, low in zip(groups, base_lrs, strict=True):
                set_lr(group, low)
        self.max_lrs = per_group(max_lr, len(groups))
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._take_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _take_momentum(
        self, optimizer: Optimizer, base: Any, highest: Any, last_epoch: int
    ) -> None:
        self.use_beta1 = "betas" in optimizer.defaults
        if not self.use_beta1 and "momentum" not in optimizer.defaults:
            raise ArgumentError(
                "CyclicLR: cycle_momentum=True needs an optimizer with momentum or "
                "betas"
            )
        groups = optimizer.param_groups
        self.base_momentums = per_group(base, len(groups))
        self.max_momentums = per_group(highest, len(groups))
        if last_epoch != -1:
            return
        bounds = zip(groups, self.base_momentums, self.max_momentums, strict=True)
        for group, low, high in bounds:
            self._set_momentum(group, high)
            group["max_momentum"], group["base_momentum"] = high, low

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def scale_fn(self, x: float) -> float:
        """Return how far it goes in a cycle, or at a step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        if self.mode == "triangular2":
            return 1 / math.pow(2.0, x - 1)
        found: float = self.gamma**x
        return found

    def get_lr(self) -> list[float]:
        """Return the step sizes of this step, and set the momenta."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        if place <= self.step_ratio:
            height = place / self.step_ratio
        else:
            height = (place - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            momenta = [high - (high - low) * height * scale for low, high in bounds]
            for group, value in zip(self.optimizer.param_groups, momenta, strict=True):
                self._set_momentum(group, value)
        bounds = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height * scale for low, high in bounds]

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer; of a scaling object its attributes."""
        state = super().state_dict()
        custom = self._scale_fn_custom
        is_object = custom is not None and not isinstance(custom, FunctionType)
        state["_scale_fn_custom"] = dict(custom.__dict__) if is_object else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` returned."""
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom", None)
        super().load_state_dict(state)
        if attributes is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)


class CosineAnnealingWarmRestarts(LRScheduler):
    """The step size goes to `eta_min` along half a cosine, then begins anew.

    Parameters
    ----------
    optimizer : Optimizer
    T_0 : int
        How many epochs until the first new beginning.
    T_mult : int
        How many times longer each next time is.
    eta_min : float
    last_epoch : int

    Raises
    ------
    ArgumentError
        If `T_0` or `T_mult` is no positive int, or `eta_min` no number.

    Notes
    -----
    Source: Loshchilov, Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts"
    (2017).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: Any,  # noqa: N803 - PyTorch's name
        T_mult: Any = 1,  # noqa: N803 - PyTorch's name
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ArgumentError(f"T_0 must be a positive int, not {T_0!r}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ArgumentError(f"T_mult must be an int of at least 1, not {T_mult!r}")
        if not isinstance(eta_min, float | int):
            raise ArgumentError(f"eta_min must be a number, not {eta_min!r}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [
            self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs
        ]

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to a given one, which may be a fraction."""
        self._step_count += 1
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ArgumentError(f"the epoch must not be negative, as {epoch} is")
        self.T_i = self.T_0
        if epoch < self.T_0:
            self.T_cur = epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            growth = self.T_mult - 1
            restarts = int(math.log(epoch / self.T_0 * growth + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / growth
            self.T_i = self.T_0 * self.T_mult**restarts
