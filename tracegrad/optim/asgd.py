"""ASGD: gradient descent that keeps the average of the parameters."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32, float64
from tracegrad.ops.creation import full, ones, zeros, zeros_like
from tracegrad.ops.selection import where
from tracegrad.optim.optimizer import (
    Optimizer,
    check_at_least,
    check_not_differentiable,
    decayed,
    descent,
)


class ASGD(Optimizer):
    """Averaged stochastic gradient descent.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
        The step size.
    lambd : float
        How much of the parameter, times the step size, is taken off in each step.
    alpha : float
        The power by which the step size falls.
    t0 : float
        From which step on the average is taken; it is in ``state[p]["ax"]``.
    weight_decay : float
        How much of the parameter is added to its gradient.
    foreach, differentiable, capturable
        Accepted for PyTorch's sake; `differentiable` must be False.
    maximize : bool
        Whether to go up.

    Raises
    ------
    ArgumentError
        If a setting is out of its range.

    Notes
    -----
    Source: Polyak, Juditsky, "Acceleration of Stochastic Approximation by Averaging"
    (1992).
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_at_least("ASGD", 0.0, lr=lr, weight_decay=weight_decay)
        check_not_differentiable("ASGD", differentiable)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": zeros(dtype=float32),
            "eta": full((), float(group["lr"]), dtype=float32),
            "mu": ones((), dtype=float32),
            "ax": zeros_like(parameter),
        }

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        decay, lr = group["lambd"], group["lr"]
        state["step"].add_(1)
        gradient = decayed(parameter, descent(parameter, group), group)
        size = state["eta"].to(float64)
        parameter.mul_(1 - decay * size)
        parameter.sub_(gradient * size)
        share, average = state["mu"], state["ax"]
        moved = average + (parameter - average) * share
        average.copy_(where(share == 1, parameter, moved))
        count = state["step"].to(float64)
        state["eta"].copy_(lr / (1 + decay * lr * count) ** group["alpha"])
        share.copy_(1 / (count - group["t0"]).clamp(min=1))
