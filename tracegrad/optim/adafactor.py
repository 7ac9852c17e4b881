"""Adafactor: second moments kept as rows and columns only."""

from __future__ import annotations

from typing import Any

from tracegrad import dtypes
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32, float64
from tracegrad.errors import ArgumentError
from tracegrad.ops.creation import zeros, zeros_like
from tracegrad.optim.optimizer import Optimizer, check_at_least, descent

_EPSILON = {
    dtypes.float16: 2.0**-10,
    dtypes.bfloat16: 2.0**-7,
    dtypes.float32: 2.0**-23,
    dtypes.float64: 2.0**-52,
}


class Adafactor(Optimizer):
    """Adaptive steps with memory that grows with rows and columns, not with both.

    Parameters
    ----------
    params : iterable of Tensor or dict
    lr : float or Tensor
        The largest step size, relative to the size of the parameter.
    beta2_decay : float
        The power by which new gradients count less.
    eps : pair of float
        The smallest second moment (that of the dtype if None), and the smallest size
        of a parameter that steps are relative to.
    d : float
        The largest root mean square of a step before the step size.
    weight_decay : float
        Times `lr`, how much of the parameter is taken off in each step.
    foreach
        Accepted for PyTorch's sake.
    maximize : bool
        Whether to go up.

    Raises
    ------
    ArgumentError
        If a setting is out of its range.

    Notes
    -----
    Source: Shazeer, Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory
    Cost" (2018).
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_at_least("Adafactor", 0.0, lr=lr, eps2=eps[1], weight_decay=weight_decay)
        check_at_least("Adafactor", 1.0, d=d)
        if eps[0] is not None:
            check_at_least("Adafactor", 0.0, eps1=eps[0])
        if beta2_decay > 0:
            raise ArgumentError(
                f"Adafactor: beta2_decay must be at most 0, not {beta2_decay}"
            )
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        step = zeros((), dtype=float32)
        if parameter.ndim <= 1:
            return {"step": step, "variance": zeros_like(parameter)}
        *outer, rows, columns = parameter.shape
        dtype = parameter.dtype
        return {
            "step": step,
            "row_var": zeros((*outer, rows, 1), dtype=dtype),
            "col_var": zeros((*outer, 1, columns), dtype=dtype),
        }

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        smallest, least_size = group["eps"]
        if smallest is None:
            smallest = _EPSILON[parameter.dtype]
        gradient = descent(parameter, group)
        state["step"].add_(1)
        count = state["step"].to(float64)
        weight = (count ** group["beta2_decay"]).to(parameter.dtype)
        size = parameter.norm(2).to(float64) / parameter.numel() ** 0.5
        size = size.clamp(min=least_size) * (1 / count.sqrt()).clamp(max=group["lr"])
        if group["weight_decay"] != 0:
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
        squares = self._squares(gradient, state, weight, smallest)
        change = squares.clamp(min=smallest * smallest).rsqrt() * gradient
        largest = change.norm(2).to(float64) / (change.numel() ** 0.5 * group["d"])
        parameter.sub_(change * (size / largest.clamp(min=1.0)))

    def _squares(
        self, gradient: Any, state: dict[str, Any], weight: Any, smallest: float
    ) -> Any:
        """Return the estimate of squared gradients, after taking in new ones."""
        if "variance" in state:
            return state["variance"].lerp_(gradient * gradient, weight)
        rows, columns = state["row_var"], state["col_var"]
        rows.lerp_(_mean_square(gradient, -1), weight)
        columns.lerp_(_mean_square(gradient, -2), weight)
        return (rows @ columns) / rows.mean(dim=-2, keepdim=True).clamp(min=smallest)


def _mean_square(gradient: Any, dim: int) -> Any:
    return gradient.norm(dim=dim, keepdim=True).square() / gradient.shape[dim]
