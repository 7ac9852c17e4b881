"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError
from tracegrad.ops.creation import zeros_like
from tracegrad.optim.optimizer import (
    Optimizer,
    check_at_least,
    check_not_differentiable,
    decayed,
    descent,
)


class SGD(Optimizer):
    """Stochastic gradient descent.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
        The step size.
    momentum : float
    dampening : float
        How much less of a gradient goes into the momentum; not of the first one.
    weight_decay : float
        How much of the parameter is added to its gradient.
    nesterov : bool
        Whether to look ahead by the momentum.
    maximize : bool
        Whether to go up.
    foreach, differentiable, fused
        Accepted for PyTorch's sake; `differentiable` must be False.

    Raises
    ------
    ArgumentError
        If a setting is negative, or `nesterov` goes without momentum or with dampening.

    Notes
    -----
    Source: Sutskever et al., "On the Importance of Initialization and Momentum in Deep
    Learning" (2013), with the step size outside the momentum.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_at_least("SGD", 0.0, lr=lr, momentum=momentum, weight_decay=weight_decay)
        check_not_differentiable("SGD", differentiable)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ArgumentError(
                "Nesterov momentum requires a momentum and zero dampening"
            )
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if group["momentum"] == 0:
            return {}
        if group["dampening"] == 0:
            # From zero, the first step is as any other.
            return {"momentum_buffer": zeros_like(parameter)}
        return {"momentum_buffer": None}

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        gradient = decayed(parameter, descent(parameter, group), group)
        if group["momentum"] != 0:
            gradient = self._with_momentum(gradient, state, group)
        lr = group["lr"]
        if isinstance(lr, Tensor):
            parameter.sub_(gradient * lr)
        else:
            parameter.add_(gradient, alpha=-lr)

    def _with_momentum(
        self, gradient: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> Any:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = gradient.clone().detach()
        else:
            buffer.mul_(group["momentum"]).add_(gradient, alpha=1 - group["dampening"])
        if group["nesterov"]:
            return gradient.add(buffer, alpha=group["momentum"])
        return buffer
