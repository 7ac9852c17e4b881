"""Adam and AdamW."""

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
    descent,
)


class Adam(Optimizer):
    """Adam: steps of a size that the gradients' moments set.

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
        How much of the parameter is added to its gradient, or, if
        `decoupled_weight_decay` is set, times `lr`, taken off the parameter.
    amsgrad : bool
        Whether to use the largest second moment so far.
    foreach, capturable, differentiable, fused
        Accepted for PyTorch's sake; `differentiable` must be False.
    maximize : bool
        Whether to go up.
    decoupled_weight_decay : bool
        Whether it is AdamW.

    Raises
    ------
    ArgumentError
        If a setting is out of its range.

    Notes
    -----
    The count of steps is a tensor, and what corrects the moments' bias is computed from
    it with operators: a captured step does not freeze it.

    Source: Kingma, Ba, "Adam: A Method for Stochastic Optimization" (2015); Reddi,
    Kale, Kumar, "On the Convergence of Adam and Beyond" (2018) for `amsgrad`.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        name = type(self).__name__
        check_at_least(name, 0.0, lr=lr, eps=eps, weight_decay=weight_decay)
        check_fraction(name, beta1=betas[0], beta2=betas[1])
        check_not_differentiable(name, differentiable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {
            "step": zeros(dtype=float32, device=parameter.device),
            "exp_avg": zeros_like(parameter),
            "exp_avg_sq": zeros_like(parameter),
        }
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(parameter)
        return state

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        lr, decay = group["lr"], group["weight_decay"]
        gradient = descent(parameter, group)
        state["step"].add_(1)
        if decay != 0 and group["decoupled_weight_decay"]:
            parameter.mul_(1 - lr * decay)
        elif decay != 0:
            gradient = gradient.add(parameter, alpha=decay)
        first, second = state["exp_avg"], state["exp_avg_sq"]
        first.lerp_(gradient, 1 - beta1)
        second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            largest.copy_(largest.maximum(second))
            second = largest
        # In float64: the first corrections are small differences of numbers near 1.
        count = state["step"].to(float64)
        size = lr / (1 - beta1**count)
        root = (1 - beta2**count).sqrt()
        parameter.sub_(size * first / (second.sqrt() / root + group["eps"]))


class AdamW(Adam):
    """Adam whose weight decay is taken off the parameter, not added to the gradient.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
    betas : pair of float
    eps : float
    weight_decay : float
        Times `lr`, how much of the parameter is taken off in each step.
    amsgrad, maximize : bool
    foreach, capturable, differentiable, fused
        As for `Adam`.

    Notes
    -----
    Source: Loshchilov, Hutter, "Decoupled Weight Decay Regularization" (2019).
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
