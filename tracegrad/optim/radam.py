"""RAdam: Adam that is careful while its second moment is uncertain."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32, float64
from tracegrad.ops.creation import ones_like, zeros, zeros_like
from tracegrad.ops.selection import where
from tracegrad.optim.optimizer import (
    Optimizer,
    check_at_least,
    check_fraction,
    check_not_differentiable,
    decayed,
    descent,
)

# Below this many effective samples the second moment is not used.
_FEWEST_SAMPLES = 5.0


class RAdam(Optimizer):
    """Adam with a rectified step size.

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
    Source: Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond"
    (2020).
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least("RAdam", 0.0, lr=lr, eps=eps, weight_decay=weight_decay)
        check_fraction("RAdam", beta1=betas[0], beta2=betas[1])
        check_not_differentiable("RAdam", differentiable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": zeros(dtype=float32),
            "exp_avg": zeros_like(parameter),
            "exp_avg_sq": zeros_like(parameter),
        }

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        state["step"].add_(1)
        gradient = decayed(parameter, descent(parameter, group), group)
        first, second = state["exp_avg"], state["exp_avg_sq"]
        first.lerp_(gradient, 1 - beta1)
        second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        count = state["step"].to(float64)
        left = 1 - beta2**count
        most = 2 / (1 - beta2) - 1
        samples = most - 2 * count * beta2**count / left
        rectified = self._rectification(samples, most)
        adapted = rectified * left.sqrt() / second.sqrt().add(group["eps"])
        factor = where(samples > _FEWEST_SAMPLES, adapted, ones_like(adapted))
        parameter.sub_(first / (1 - beta1**count) * group["lr"] * factor)

    def _rectification(self, samples: Any, most: float) -> Any:
        """Return by how much the step size is too large for so few samples."""
        above = (samples - 4) * (samples - 2) * most
        return (above / ((most - 4) * (most - 2) * samples)).sqrt()
