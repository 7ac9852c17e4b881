"""RMSprop."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32
from tracegrad.ops.creation import zeros, zeros_like
from tracegrad.optim.optimizer import (
    Optimizer,
    check_at_least,
    check_not_differentiable,
    descent,
)


class RMSprop(Optimizer):
    """Gradients over the root of their mean square.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
        The step size.
    alpha : float
        How much of the mean square is kept.
    eps : float
        Added to the root.
    weight_decay : float
        How much of the parameter is added to its gradient.
    momentum : float
    centered : bool
        Whether to take the mean off first: the root of a variance.
    capturable, foreach, differentiable
        Accepted for PyTorch's sake; `differentiable` must be False.
    maximize : bool
        Whether to go up.

    Raises
    ------
    ArgumentError
        If a setting is negative.

    Notes
    -----
    Source: Tieleman, Hinton, "Lecture 6.5: RMSprop" (2012); Graves, "Generating
    Sequences with Recurrent Neural Networks" (2013) for `centered`.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least("RMSprop", 0.0, lr=lr, eps=eps, momentum=momentum)
        check_at_least("RMSprop", 0.0, weight_decay=weight_decay, alpha=alpha)
        check_not_differentiable("RMSprop", differentiable)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {
            "step": zeros(dtype=float32, device=parameter.device),
            "square_avg": zeros_like(parameter),
        }
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(parameter)
        if group["centered"]:
            state["grad_avg"] = zeros_like(parameter)
        return state

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        gradient = descent(parameter, group)
        state["step"].add_(1)
        if group["weight_decay"] != 0:
            gradient = gradient.add(parameter, alpha=group["weight_decay"])
        alpha = group["alpha"]
        square = state["square_avg"]
        square.mul_(alpha).addcmul_(gradient, gradient, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(gradient, 1 - alpha)
            square = square.addcmul(mean, mean, value=-1)
        scaled = gradient / square.sqrt().add(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            scaled = buffer.mul_(group["momentum"]).add_(scaled)
        parameter.sub_(scaled * group["lr"])
