"""Adagrad."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32, float64
from tracegrad.ops.creation import full_like, zeros
from tracegrad.optim.optimizer import (
    Optimizer,
    check_at_least,
    check_not_differentiable,
    descent,
)


class Adagrad(Optimizer):
    """Gradients over the root of the sum of their squares so far.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
        The step size.
    lr_decay : float
        How fast the step size falls with the number of steps.
    weight_decay : float
        How much of the parameter is added to its gradient.
    initial_accumulator_value : float
        What the sums start from.
    eps : float
        Added to the root.
    foreach, differentiable, fused
        Accepted for PyTorch's sake; `differentiable` must be False.
    maximize : bool
        Whether to go up.

    Raises
    ------
    ArgumentError
        If a setting is negative.

    Notes
    -----
    Source: Duchi, Hazan, Singer, "Adaptive Subgradient Methods" (2011).
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_at_least("Adagrad", 0.0, lr=lr, lr_decay=lr_decay, eps=eps)
        check_at_least(
            "Adagrad",
            0.0,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
        )
        check_not_differentiable("Adagrad", differentiable)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter] = self._init_state(parameter, group)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        start = group["initial_accumulator_value"]
        return {
            "step": zeros(dtype=float32, device=parameter.device),
            "sum": full_like(parameter, start),
        }

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        gradient = descent(parameter, group)
        state["step"].add_(1)
        if group["weight_decay"] != 0:
            gradient = gradient.add(parameter, alpha=group["weight_decay"])
        size = group["lr"]
        if group["lr_decay"] != 0:
            count = state["step"].to(float64)
            size = size / (1 + (count - 1) * group["lr_decay"])
        total = state["sum"]
        total.addcmul_(gradient, gradient)
        parameter.sub_(size * gradient / total.sqrt().add(group["eps"]))
