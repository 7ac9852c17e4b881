"""Adamax: Adam by the largest gradient instead of the second moment."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32, float64
from tracegrad.ops.creation import zeros, zeros_like
from tracegrad.optim.optimizer import (
    Optimizer,
    check_at_least,
    check_fraction,
    check_not_differentiable,
    decayed,
    descent,
)


class Adamax(Optimizer):
    """Adam with the norm that is the largest absolute value.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
        The step size.
    betas : pair of float
        How much of the first moment and of the largest gradient is kept.
    eps : float
        Added to absolute gradients.
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
    Source: Kingma, Ba, "Adam: A Method for Stochastic Optimization" (2015), section 7.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_at_least("Adamax", 0.0, lr=lr, eps=eps, weight_decay=weight_decay)
        check_fraction("Adamax", beta1=betas[0], beta2=betas[1])
        check_not_differentiable("Adamax", differentiable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
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
            "exp_avg": zeros_like(parameter),
            "exp_inf": zeros_like(parameter),
        }

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        state["step"].add_(1)
        gradient = decayed(parameter, descent(parameter, group), group)
        first, largest = state["exp_avg"], state["exp_inf"]
        first.lerp_(gradient, 1 - beta1)
        largest.copy_((largest * beta2).maximum(gradient.abs().add(group["eps"])))
        size = group["lr"] / (1 - beta1 ** state["step"].to(float64))
        parameter.sub_(size * first / largest)
