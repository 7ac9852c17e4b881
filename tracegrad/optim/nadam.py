"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32, float64
from tracegrad.ops.creation import ones, zeros, zeros_like
from tracegrad.optim.optimizer import (
    Optimizer,
    check_at_least,
    check_fraction,
    check_not_differentiable,
    decayed,
    descent,
)


class NAdam(Optimizer):
    """Adam that looks ahead by its momentum.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
        The step size.
    betas : pair of float
        How much of the first and of the second moment is kept.
    eps : float
        Added to the root of the second moment.
    weight_decay : float
        How much of the parameter is added to its gradient.
    momentum_decay : float
        How fast the momentum comes near to its full size.
    decoupled_weight_decay : bool
        Whether `weight_decay`, times `lr`, is taken off the parameter instead.
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
    Source: Dozat, "Incorporating Nesterov Momentum into Adam" (2016).
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least("NAdam", 0.0, lr=lr, eps=eps, weight_decay=weight_decay)
        check_at_least("NAdam", 0.0, momentum_decay=momentum_decay)
        check_fraction("NAdam", beta1=betas[0], beta2=betas[1])
        check_not_differentiable("NAdam", differentiable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": zeros(dtype=float32),
            "mu_product": ones((), dtype=float32),
            "exp_avg": zeros_like(parameter),
            "exp_avg_sq": zeros_like(parameter),
        }

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        lr = group["lr"]
        state["step"].add_(1)
        gradient = decayed(parameter, descent(parameter, group), group)
        count = state["step"].to(float64)
        now = self._momentum(count, group)
        after = self._momentum(count + 1, group)
        # In the dtype of the product, as PyTorch rounds it.
        product = state["mu_product"].mul_(now.to(state["mu_product"].dtype))
        product = product.to(float64)
        first, second = state["exp_avg"], state["exp_avg_sq"]
        first.lerp_(gradient, 1 - beta1)
        second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        root = second.div(1 - beta2**count).sqrt().add(group["eps"])
        parameter.sub_(lr * (1 - now) / (1 - product) * gradient / root)
        parameter.sub_(lr * after / (1 - product * after) * first / root)

    def _momentum(self, count: Any, group: dict[str, Any]) -> Any:
        """Return the momentum of a step: from half of beta1 up to all of it."""
        return group["betas"][0] * (1 - 0.5 * 0.96 ** (count * group["momentum_decay"]))
