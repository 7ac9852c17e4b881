"""The error function, its relatives, and the logistic function."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._functions import Choice, choosing
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating
from tracegrad.ops.exponential import exp
from tracegrad.ops.selection import clamp_both, where

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


@pointwise(
    numpy={"float": "tg_erf(np, {input})"},
    c={"float": "erf{f}({input})"},
    reference=math.erf,
    promote=floating,
)
def erf(input: Tensor) -> Tensor:
    """Error function of each element.

    Source: NIST DLMF 7.2.1; derivative 7.10.1.
    """


@pointwise(
    numpy={"float": "tg_erfc(np, {input})"},
    c={"float": "erfc{f}({input})"},
    reference=math.erfc,
    promote=floating,
)
def erfc(input: Tensor) -> Tensor:
    """Complementary error function of each element, exact where it is tiny.

    Source: NIST DLMF 7.2.2; derivative 7.10.1.
    """


@pointwise(
    numpy={"float": "tg_erfinv(np, {input})"},
    c={"float": "tg_erfinv_{t}({input})"},
    reference=lambda input: NormalDist().inv_cdf((input + 1) / 2) / math.sqrt(2),
    promote=floating,
    domain=(-0.9, 0.9),
)
def erfinv(input: Tensor) -> Tensor:
    """Number whose error function each element is; NaN outside of [-1, 1].

    Source: NIST DLMF 7.17.1.
    """


erf.derivative(input=times(lambda input: exp(-(input * input)) * _TWO_OVER_ROOT_PI))
erfc.derivative(input=times(lambda input: exp(-(input * input)) * -_TWO_OVER_ROOT_PI))
erfinv.derivative(input=times(lambda out: exp(out * out) * (1 / _TWO_OVER_ROOT_PI)))

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
