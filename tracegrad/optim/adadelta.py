"""Adadelta."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32
from tracegrad.ops.creation import zeros, zeros_like
from tracegrad.optim.optimizer import (
    Optimizer,
    check_at_least,
    check_not_differentiable,
    check_within,
    decayed,
    descent,
)


class Adadelta(Optimizer):
    """Gradients over their root mean square, times that of the steps so far.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
        What a step is multiplied with.
    rho : float
        How much of the mean squares is kept.
    eps : float
        Added to mean squares.
    weight_decay : float
        How much of the parameter is added to its gradient.
    foreach, capturable, differentiable
        Accepted for PyTorch's sake; `differentiable` must be False.
    maximize : bool
        Whether to go up.

    Raises
    ------
    ArgumentError
        If a setting is out of its range.

    Notes
    -----
    Source: Zeiler, "ADADELTA: An Adaptive Learning Rate Method" (2012).
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least("Adadelta", 0.0, lr=lr, eps=eps, weight_decay=weight_decay)
        check_within("Adadelta", 0.0, 1.0, rho=rho)
        check_not_differentiable("Adadelta", differentiable)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": zeros(dtype=float32),
            "square_avg": zeros_like(parameter),
            "acc_delta": zeros_like(parameter),
        }

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        rho, eps = group["rho"], group["eps"]
        state["step"].add_(1)
        gradient = decayed(parameter, descent(parameter, group), group)
        squares, steps = state["square_avg"], state["acc_delta"]
        squares.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
        change = steps.add(eps).sqrt() / squares.add(eps).sqrt() * gradient
        steps.mul_(rho).addcmul_(change, change, value=1 - rho)
        parameter.sub_(change * group["lr"])
