"""The one-cycle schedule: up, then far down, momentum the other way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

from tracegrad.errors import ArgumentError
from tracegrad.optim.lr_scheduler.base import LRScheduler, per_group
from tracegrad.optim.optimizer import Optimizer


@final
@dataclass(frozen=True, slots=True)
class _Phase:
    """Until which step, and between which of a group's settings."""

    end: float
    lr: tuple[str, str]
    momentum: tuple[str, str]


class OneCycleLR(LRScheduler):
    """The step size rises to `max_lr`, then falls far below where it began.

    Parameters
    ----------
    optimizer : Optimizer
    max_lr : float or list of float
        Of all groups or of each.
    total_steps : int, optional
        How many steps the cycle has; or `epochs` times `steps_per_epoch`.
    epochs, steps_per_epoch : int, optional
    pct_start : float
        The share of the steps in which it rises.
    anneal_strategy : str
        ``"cos"`` or ``"linear"``.
    cycle_momentum : bool
        Whether momentum (or the first beta) goes down as the step size goes up.
    base_momentum, max_momentum : float or list of float
    div_factor : float
        The first step size is ``max_lr / div_factor``.
    final_div_factor : float
        The last is the first over this.
    three_phase : bool
        Whether the fall to the first step size is a phase of its own.
    last_epoch : int

    Raises
    ------
    ArgumentError
        If the number of steps is not given, or a setting makes no sense.

    Notes
    -----
    Source: Smith, Topin, "Super-Convergence" (2018).
    """

    _unsaved = ("optimizer", "_phases")

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.total_steps = _steps(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1 or not isinstance(pct_start, float):
            raise ArgumentError(f"pct_start must be from 0.0 to 1.0, not {pct_start!r}")
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentError(
                f"anneal_strategy must be 'cos' or 'linear', not {anneal_strategy!r}"
            )
        self._anneal = anneal_strategy
        self._phases = _phases(self.total_steps, pct_start, three_phase)
        self.cycle_momentum = cycle_momentum
        groups = optimizer.param_groups
        highest = per_group(max_lr, len(groups))
        if last_epoch == -1:
            for group, high in zip(groups, highest, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self._use_beta1 = "betas" in optimizer.defaults
            if not self._use_beta1 and "momentum" not in optimizer.defaults:
                raise ArgumentError(
                    "cycle_momentum=True needs an optimizer with momentum or betas"
                )
            if last_epoch == -1:
                self._begin_momentum(groups, base_momentum, max_momentum)
        super().__init__(optimizer, last_epoch)

    def _begin_momentum(
        self, groups: list[dict[str, Any]], base: Any, highest: Any
    ) -> None:
        low, high = per_group(base, len(groups)), per_group(highest, len(groups))
        for group, least, most in zip(groups, low, high, strict=True):
            group["base_momentum"], group["max_momentum"] = least, most
            self._set_momentum(group, most)

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self._use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (1 + math.cos(math.pi * share))

    def get_lr(self) -> list[float]:
        """Return the step sizes of this step, and set the momenta."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ArgumentError(
                f"OneCycleLR was stepped {step} times, the cycle has "
                f"{self.total_steps} steps"
            )
        phase, share = self._place(step)
        values = []
        for group in self.optimizer.param_groups:
            start, end = (group[name] for name in phase.lr)
            values.append(self._between(start, end, share))
            if self.cycle_momentum:
                start, end = (group[name] for name in phase.momentum)
                self._set_momentum(group, self._between(start, end, share))
        return values

    def _place(self, step: int) -> tuple[_Phase, float]:
        """Return the phase of a step, and how far into it the step is."""
        start = 0.0
        for phase in self._phases[:-1]:
            if step <= phase.end:
                return phase, (step - start) / (phase.end - start)
            start = phase.end
        last = self._phases[-1]
        return last, (step - start) / (last.end - start)


def _steps(total: int | None, epochs: int | None, per_epoch: int | None) -> int:
    if total is not None:
        if total <= 0:
            raise ArgumentError(f"total_steps must be positive, not {total}")
        return total
    if epochs is None or per_epoch is None:
        raise ArgumentError(
            "OneCycleLR needs total_steps, or both epochs and steps_per_epoch"
        )
    if epochs <= 0 or per_epoch <= 0:
        raise ArgumentError("epochs and steps_per_epoch must be positive")
    return epochs * per_epoch


def _phases(total: int, pct_start: float, three: bool) -> tuple[_Phase, ...]:
    up = _Phase(
        pct_start * total - 1,
        ("initial_lr", "max_lr"),
        ("max_momentum", "base_momentum"),
    )
    back = ("base_momentum", "max_momentum")
    if not three:
        return up, _Phase(total - 1, ("max_lr", "min_lr"), back)
    down = _Phase(2 * pct_start * total - 2, ("max_lr", "initial_lr"), back)
    still = ("max_momentum", "max_momentum")
    return up, down, _Phase(total - 1, ("initial_lr", "min_lr"), still)
