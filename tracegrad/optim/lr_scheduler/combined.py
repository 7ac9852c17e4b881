"""Schedules made of schedules: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from tracegrad.errors import ArgumentError, ArgumentTypeError
from tracegrad.optim.lr_scheduler.base import LRScheduler, number, set_lr
from tracegrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from tracegrad.optim.optimizer import Optimizer


class _Combined(LRScheduler):
    """What both share: their parts' states are saved with their own."""

    _unsaved = ("optimizer", "_schedulers")
    _schedulers: list[Any]

    def state_dict(self) -> dict[str, Any]:
        """Return the states of the parts, and what else is to be kept."""
        parts = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": parts}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` returned."""
        own = {k: v for k, v in state_dict.items() if k != "_schedulers"}
        super().load_state_dict(own)
        parts = zip(self._schedulers, state_dict["_schedulers"], strict=True)
        for scheduler, state in parts:
            scheduler.load_state_dict(state)


def _check_parts(name: str, schedulers: Sequence[Any], optimizer: Any) -> None:
    for index, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise ArgumentTypeError(f"{name}: the part {index} has no optimizer")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ArgumentError(
                f"{name}: the part {index} is a ReduceLROnPlateau, whose step needs "
                "a measure; step it by itself"
            )
        if scheduler.optimizer is not optimizer:
            raise ArgumentError(f"{name}: the part {index} has another optimizer")


class SequentialLR(_Combined):
    """Schedules one after the other.

    Parameters
    ----------
    optimizer : Optimizer
    schedulers : list of LRScheduler
    milestones : list of int
        At which epoch each but the first begins.
    last_epoch : int

    Raises
    ------
    ArgumentError
        If the numbers of schedules and milestones do not fit, or a schedule has
        another optimizer, or needs a measure.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if not schedulers:
            raise ArgumentError("SequentialLR needs at least one scheduler")
        _check_parts("SequentialLR", schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ArgumentError(
                f"SequentialLR: {len(schedulers)} schedulers need "
                f"{len(schedulers) - 1} milestones, not {len(milestones)}"
            )
        self.optimizer = optimizer
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        # The parts' own beginnings are undone: only the first one begins now.
        for group in optimizer.param_groups:
            set_lr(group, group["initial_lr"])
        _undo(schedulers)
        first = schedulers[bisect_right(milestones, 0)]
        first._begin()
        self._last_lr = first.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        del epoch
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def _undo(schedulers: Sequence[Any]) -> None:
    for scheduler in schedulers:
        if isinstance(scheduler, _Combined):
            _undo(scheduler._schedulers)
        else:
            scheduler.last_epoch -= 1


class ChainedScheduler(_Combined):
    """Schedules that all change the step size in each epoch.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
    optimizer : Optimizer, optional
        That of the first if not given.

    Raises
    ------
    ArgumentError
        If there is no schedule, or one has another optimizer, or needs a measure.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if not schedulers:
            raise ArgumentError("ChainedScheduler needs at least one scheduler")
        chosen = optimizer or schedulers[0].optimizer
        _check_parts("ChainedScheduler", schedulers, chosen)
        self.optimizer = chosen
        self._schedulers = list(schedulers)
        self._last_lr = self._current()

    def _begin(self) -> None:
        for scheduler in self._schedulers:
            scheduler._begin()
        self._last_lr = [number(group["lr"]) for group in self.optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        del epoch
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._current()
