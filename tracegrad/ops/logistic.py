"""The logistic function and its inverse."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._functions import Choice, choosing
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating
from tracegrad.ops.selection import clamp_both, where

_SIGMOID = "np.reciprocal(np.add(np.exp(np.negative({input})), 1))"


@pointwise(
    numpy=_SIGMOID,
    c={"float": "1 / (exp{f}(-{input}) + 1)"},
    promote=floating,
    reference=lambda input: math.tanh(input / 2) / 2 + 0.5,
)
def sigmoid(input: Tensor) -> Tensor:
    """Logistic function 1 / (1 + exp(-x)) of each element."""


sigmoid.derivative(input=times(lambda out: out * (1 - out)))


@pointwise(
    name="logit",
    numpy={"float": "np.log(np.divide({input}, np.subtract(1, {input})))"},
    c={"float": "log{f}({input} / (1 - {input}))"},
    reference=lambda input: 2 * math.atanh(2 * input - 1),
    promote=floating,
    domain=(0.1, 0.9),
    public=False,
    method=False,
    inplace=False,
)
def log_odds(input: Tensor) -> Tensor:
    """log(x / (1 - x)), the inverse of the logistic function."""


def _log_odds_derivative(input: Any) -> Any:
    inside = (input >= 0) & (input <= 1)
    return where(inside, 1 / (input * (1 - input)), math.nan)


log_odds.derivative(input=times(_log_odds_derivative))


@choosing("logit")
def _logit(input: Any, eps: float | None = None) -> Choice:
    """Return log(x / (1 - x)), the inverse of the logistic function.

    Parameters
    ----------
    input : Tensor
    eps : float, optional
        Bring elements into [eps, 1 - eps] first; without it they are NaN outside of
        [0, 1].
    """
    if eps is None:
        return Choice(log_odds, (input,))
    return Choice(log_odds, (clamp_both(input, eps, 1 - eps),))
