"""Averages of a model's weights over its training, and the schedule for them.

Source: Izmailov et al., "Averaging Weights Leads to Wider Optima and Better
Generalization" (2018); Polyak, Juditsky (1992) for exponential averages.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tracegrad as tg
from tracegrad import no_grad
from tracegrad.device import Device
from tracegrad.dtypes import int64
from tracegrad.errors import ArgumentError, AssertedError
from tracegrad.ops.creation import zeros
from tracegrad.optim.lr_scheduler.base import LRScheduler, number, per_group
from tracegrad.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

_NORMALIZATIONS = (tg.nn.BatchNorm1d, tg.nn.BatchNorm2d, tg.nn.BatchNorm3d)

# From an average, a current value and how many went into the average, to a new one.
Average = Callable[[Any, Any, Any], Any]
# The same for lists, in place.
MultiAverage = Callable[[Sequence[Any], Sequence[Any], Any], None]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ArgumentError(f"the decay must be in [0, 1], not {decay}")


def _is_continuous(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return the function of an exponential average, for one tensor.

    Raises
    ------
    ArgumentError
        If `decay` is not in [0, 1].
    """
    _check_decay(decay)

    def average(averaged: Any, current: Any, count: Any) -> Any:
        with no_grad():
            return decay * averaged + (1 - decay) * current

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """Return the function of an exponential average, for lists of tensors in place.

    Raises
    ------
    ArgumentError
        If `decay` is not in [0, 1].
    """
    _check_decay(decay)

    def average(averaged: Sequence[Any], current: Sequence[Any], count: Any) -> None:
        with no_grad():
            for old, new in zip(averaged, current, strict=True):
                if _is_continuous(old):
                    old.lerp_(new, 1 - decay)
                else:
                    old.copy_(old * decay + new * (1 - decay))

    return average


def get_swa_avg_fn() -> Average:
    """Return the function of an average of equal weights, for one tensor."""

    def average(averaged: Any, current: Any, count: Any) -> Any:
        with no_grad():
            return averaged + (current - averaged) / (count + 1)

    return average


def get_swa_multi_avg_fn() -> MultiAverage:
    """Return the function of an average of equal weights, for lists in place."""

    def average(averaged: Sequence[Any], current: Sequence[Any], count: Any) -> None:
        with no_grad():
            for old, new in zip(averaged, current, strict=True):
                if _is_continuous(old):
                    old.lerp_(new, 1 / (float(count) + 1))
                else:
                    old.copy_(old + (new - old) / (count + 1))

    return average


class AveragedModel(tg.nn.Module):
    """A model whose weights are the average of another's.

    Parameters
    ----------
    model : Module
        It is copied.
    device : Device or str, optional
    avg_fn : callable, optional
        ``avg_fn(averaged, current, count)`` gives the new average of a parameter.
    multi_avg_fn : callable, optional
        The same for lists of parameters, in place.
    use_buffers : bool
        Whether buffers are averaged too; otherwise they are copied.

    Raises
    ------
    AssertedError
        If both functions are given.
    """

    n_averaged: Any

    def __init__(
        self,
        model: tg.nn.Module,
        device: Device | str | None = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertedError("only one of avg_fn and multi_avg_fn can be given")
        self.module: Any = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", zeros((), dtype=int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the averaged model."""
        return self.module(*args, **kwargs)

    def _averaged_parts(self, model: Any) -> list[Any]:
        if self.use_buffers:
            return list(itertools.chain(model.parameters(), model.buffers()))
        return list(model.parameters())

    def update_parameters(self, model: tg.nn.Module) -> None:
        """Take the weights of a model into the average; the first are copied."""
        averaged = [part.detach() for part in self._averaged_parts(self.module)]
        current = [
            new.detach().to(old.device)
            for old, new in zip(averaged, self._averaged_parts(model), strict=True)
        ]
        if self.n_averaged.item() == 0:
            for old, new in zip(averaged, current, strict=True):
                old.copy_(new)
        else:
            self._average(averaged, current)
        if not self.use_buffers:
            buffers = zip(self.module.buffers(), model.buffers(), strict=True)
            for old, new in buffers:
                old.detach().copy_(new.detach())
        self.n_averaged += 1

    def _average(self, averaged: list[Any], current: list[Any]) -> None:
        if self.avg_fn is None:
            average = self.multi_avg_fn or get_swa_multi_avg_fn()
            average(averaged, current, self.n_averaged)
            return
        for old, new in zip(averaged, current, strict=True):
            old.copy_(self.avg_fn(old, new, self.n_averaged))


def update_bn(
    loader: Iterable[Any], model: tg.nn.Module, device: Device | str | None = None
) -> None:
    """Compute the statistics of a model's batch normalizations anew.

    Parameters
    ----------
    loader : iterable
        Of batches, or of tuples whose first part is the batch.
    model : Module
    device : Device or str, optional
        Where batches are moved to.
    """
    layers = [m for m in model.modules() if isinstance(m, _NORMALIZATIONS)]
    momenta = [layer.momentum for layer in layers]
    if not layers:
        return
    for layer in layers:
        layer.reset_running_stats()
        # Of all batches the same share.
        layer.momentum = None
    was_training = model.training
    model.train()
    with no_grad():
        for batch in loader:
            data = batch[0] if isinstance(batch, list | tuple) else batch
            model(data if device is None else data.to(device))
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """The step size goes to a fixed one, and stays there.

    Parameters
    ----------
    optimizer : Optimizer
    swa_lr : float or list of float
        The fixed step size, of all groups or of each.
    anneal_epochs : int
        In how many epochs.
    anneal_strategy : str
        ``"cos"`` or ``"linear"``.
    last_epoch : int

    Raises
    ------
    ArgumentError
        If the strategy is not known, or the number of epochs negative.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: Any = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        groups = optimizer.param_groups
        for group, fixed in zip(groups, per_group(swa_lr, len(groups)), strict=True):
            group["swa_lr"] = fixed
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentError(
                f"anneal_strategy must be 'cos' or 'linear', not {anneal_strategy!r}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ArgumentError(
                f"anneal_epochs must be an int of at least 0, not {anneal_epochs!r}"
            )
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """Return how much of the fixed step size there is at a step."""
        place = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        if self._anneal_strategy == "linear":
            return place
        return (1 - math.cos(math.pi * place)) / 2

    def get_lr(self) -> list[float]:
        """Return the step sizes of this epoch."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        values = []
        for group in self.optimizer.param_groups:
            lr, fixed = number(group["lr"]), group["swa_lr"]
            start = fixed if before == 1 else (lr - before * fixed) / (1 - before)
            values.append(fixed * now + start * (1 - now))
        return values
