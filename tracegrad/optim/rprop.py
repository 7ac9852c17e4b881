"""Rprop: steps by the signs of gradients."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32
from tracegrad.errors import ArgumentError
from tracegrad.ops.creation import full_like, zeros, zeros_like
from tracegrad.ops.selection import where
from tracegrad.optim.optimizer import (
    Optimizer,
    check_at_least,
    check_not_differentiable,
    descent,
)


class Rprop(Optimizer):
    """Resilient backpropagation: each element has a step size of its own.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
        The step sizes to begin with.
    etas : pair of float
        The factor where a gradient changed its sign, and where it did not.
    step_sizes : pair of float
        The smallest and the largest step size.
    capturable, foreach, differentiable
        Accepted for PyTorch's sake; `differentiable` must be False.
    maximize : bool
        Whether to go up.

    Raises
    ------
    ArgumentError
        If a setting is out of its range.

    Notes
    -----
    Source: Riedmiller, Braun, "A Direct Adaptive Method for Faster Backpropagation
    Learning: The RPROP Algorithm" (1993).
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least("Rprop", 0.0, lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ArgumentError(
                f"Rprop: etas must lie below and above 1, not {etas[0]} and {etas[1]}"
            )
        check_not_differentiable("Rprop", differentiable)
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": zeros(dtype=float32),
            "prev": zeros_like(parameter),
            "step_size": full_like(parameter, float(group["lr"])),
        }

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        smaller, larger = group["etas"]
        gradient = descent(parameter, group)
        state["step"].add_(1)
        agreement = gradient * state["prev"]
        turned = agreement < 0
        factor = where(turned, smaller, where(agreement > 0, larger, agreement.sign()))
        factor = where(agreement == 0, 1, factor)
        sizes = state["step_size"]
        sizes.mul_(factor).clamp_(*group["step_sizes"])
        gradient = where(turned, 0, gradient)
        parameter.sub_(gradient.sign() * sizes)
        state["prev"].copy_(gradient)
