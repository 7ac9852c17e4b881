"""Muon: momentum whose matrix is made orthogonal."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bfloat16
from tracegrad.errors import ArgumentError
from tracegrad.ops.creation import zeros_like
from tracegrad.optim.optimizer import Optimizer, check_at_least

_MOST_STEPS = 100


class Muon(Optimizer):
    """Momentum, orthogonalized: for the matrices in a network's inner layers.

    Parameters
    ----------
    params : iterable of Tensor or dict
        Of two dimensions; use another optimizer for all else.
    lr : float
        The step size.
    weight_decay : float
        Times `lr`, how much of the parameter is taken off in each step.
    momentum : float
    nesterov : bool
        Whether to look ahead by the momentum.
    ns_coefficients : three of float
        Of the polynomial that is iterated.
    eps : float
        The smallest norm that a matrix is divided by.
    ns_steps : int
        How often it is iterated.
    adjust_lr_fn : str, optional
        ``"original"`` (if not given) or ``"match_rms_adamw"``: how the step size
        depends on the matrix's sizes.

    Raises
    ------
    ArgumentError
        If a setting is out of its range, or a parameter is no matrix.

    Notes
    -----
    The iteration is computed in bfloat16, as in PyTorch; it needs ml_dtypes.

    Source: Jordan et al., "Muon: An optimizer for hidden layers in neural networks"
    (2024); Liu et al., "Muon is Scalable for LLM Training" (2025) for the other step
    size.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_at_least("Muon", 0.0, lr=lr, momentum=momentum, weight_decay=weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ArgumentError(
                "Muon: adjust_lr_fn is 'original' or 'match_rms_adamw', "
                f"not {adjust_lr_fn!r}"
            )
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ArgumentError(
                        "Muon: parameters must be matrices, and one has the shape "
                        f"{list(parameter.shape)}"
                    )

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"momentum_buffer": zeros_like(parameter)}

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        lr, momentum = group["lr"], group["momentum"]
        gradient = parameter.grad
        buffer = state["momentum_buffer"]
        buffer.lerp_(gradient, 1 - momentum)
        change = gradient.lerp(buffer, momentum) if group["nesterov"] else buffer
        change = _orthogonalized(change, group)
        parameter.mul_(1 - lr * group["weight_decay"])
        parameter.sub_(change.to(parameter.dtype) * (lr * _factor(parameter, group)))


def _orthogonalized(matrix: Any, group: dict[str, Any]) -> Any:
    """Return the matrix with singular values near 1, by Newton-Schulz iteration."""
    if group["ns_steps"] >= _MOST_STEPS:
        raise ArgumentError(f"Muon: ns_steps must be below {_MOST_STEPS}")
    a, b, c = group["ns_coefficients"]
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.to(bfloat16)
    x = x.T if tall else x
    x = x / x.norm().clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        gram = x @ x.T
        x = x.addmm(gram.addmm(gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


def _factor(parameter: Any, group: dict[str, Any]) -> float:
    rows, columns = parameter.shape
    if group["adjust_lr_fn"] == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))
