"""What schedules share."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.constructors import check_constructor
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    EntryError,
    NotSupportedError,
)
from tracegrad.optim.optimizer import Optimizer


def set_lr(group: dict[str, Any], value: float) -> None:
    """Set a group's step size; a tensor keeps its place and takes the value."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(value)  # type: ignore[attr-defined]
    else:
        group["lr"] = value


def number(value: Any) -> float:
    """Return a step size as a Python number."""
    return value.item() if isinstance(value, Tensor) else value  # type: ignore[no-any-return]


def per_group(value: Any, count: int) -> list[float]:
    """Return one value for each group.

    Raises
    ------
    ArgumentError
        If several are given, but not one for each.
    """
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ArgumentError(f"expected {count} values, one per group, got {len(value)}")
    return list(value)


class LRScheduler:
    """Base class of schedules.

    Parameters
    ----------
    optimizer : Optimizer
    last_epoch : int
        The epoch that was last; -1 to begin.

    Attributes
    ----------
    base_lrs : list of float
        The step sizes to begin with, one per group.

    Raises
    ------
    ArgumentTypeError
        If `optimizer` is none.
    """

    # What `state_dict` leaves out beside the optimizer.
    _unsaved: tuple[str, ...] = ("optimizer",)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let schedules of the package check their arguments."""
        super().__init_subclass__(**kwargs)
        check_constructor(cls)

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(f"{type(optimizer).__name__} is not an Optimizer")
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", number(group["lr"]))
            elif "initial_lr" not in group:
                raise EntryError("'initial_lr' is not in the group to resume from")
        self.optimizer = optimizer
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._begin()

    def _begin(self) -> None:
        """Make the first step, which only sets the step sizes to begin with."""
        self._step_count = 0
        self.step()

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch, from those before."""
        raise NotSupportedError(f"{type(self).__name__} defines no get_lr()")

    def get_last_lr(self) -> list[float]:
        """Return the step sizes that were set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or to a given one, and set the step sizes."""
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        values = self.get_lr() if epoch is None else self._lr_at()
        self._set(values)

    def _lr_at(self) -> list[float]:
        """Return the step sizes of `last_epoch`, without those before if possible."""
        return self.get_lr()

    def _set(self, values: list[float]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_lr(group, value)
        self._last_lr = [number(g["lr"]) for g in self.optimizer.param_groups]

    def _current(self) -> list[float]:
        return [number(group["lr"]) for group in self.optimizer.param_groups]

    def _scaled(self, factor: float) -> list[float]:
        return [lr * factor for lr in self._current()]

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer and functions."""
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in self._unsaved
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` returned."""
        self.__dict__.update(state_dict)


check_constructor(LRScheduler)
