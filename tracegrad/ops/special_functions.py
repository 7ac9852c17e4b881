"""Special functions of `tracegrad.special` that stand in no other family."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops import _special_helpers as _special_helpers
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating
from tracegrad.ops.exponential import exp, log, log1p, xlogy
from tracegrad.ops.gamma_functions import (
    lgamma,
    no_first_derivative,
    second_floating,
)
from tracegrad.ops.selection import where

_ROOT_HALF = math.sqrt(0.5)
_ROOT_TAU = math.sqrt(2 * math.pi)

# -- of the normal distribution -----------------------------------------------------


@pointwise(
    numpy={"float": "tg_erfcx(np, {input})"},
    reference=lambda input: math.exp(input * input) * math.erfc(input),
    promote=floating,
    domain=(-1.5, 2.0),
    public=False,
    method=False,
    inplace=False,
)
def special_erfcx(input: Tensor) -> Tensor:
    """`erfc` times ``exp(input ** 2)``, without overflow.

    Source: NIST DLMF 7.2.3, 7.12.1; derivative by 7.10.1.
    """


@pointwise(
    numpy={"float": "0.5 * tg_erfc(np, {input} * -0.7071067811865476)"},
    c={"float": "({T})0.5 * erfc{f}({input} * ({T})-0.7071067811865476)"},
    reference=lambda input: NormalDist().cdf(input),
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_ndtr(input: Tensor) -> Tensor:
    """Distribution function of the standard normal distribution.

    Source: NIST DLMF 7.20.1.
    """


@pointwise(
    numpy={"float": "tg_log_ndtr(np, {input})"},
    reference=lambda input: math.log(math.erfc(-input * _ROOT_HALF) / 2),
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_log_ndtr(input: Tensor) -> Tensor:
    """Logarithm of `special.ndtr`, without underflow.

    Source: NIST DLMF 7.20.1.
    """


@pointwise(
    numpy={"float": "tg_ndtri(np, {input})"},
    reference=lambda input: NormalDist().inv_cdf(input),
    promote=floating,
    domain=(0.05, 0.95),
    public=False,
    method=False,
    inplace=False,
)
def special_ndtri(input: Tensor) -> Tensor:
    """Number whose `special.ndtr` each element is; NaN outside of [0, 1].

    Source: NIST DLMF 7.20.1.
    """


special_erfcx.derivative(
    input=times(lambda input, out: 2 * input * out - 2 / math.sqrt(math.pi))
)
special_ndtr.derivative(
    input=times(lambda input: exp(input * input * -0.5) * (1 / _ROOT_TAU))
)
special_log_ndtr.derivative(
    input=times(
        lambda input: math.sqrt(2 / math.pi) / special_erfcx(input * -_ROOT_HALF)
    )
)
special_ndtri.derivative(input=times(lambda out: exp(out * out * 0.5) * _ROOT_TAU))

# -- entropies ----------------------------------------------------------------------


@pointwise(
    numpy={
        "float": (
            "np.where({input} > 0, "
            "-{input} * np.log(np.where({input} > 0, {input}, 1)), "
            "np.where({input} == 0, 0, "
            "np.where(np.isnan({input}), {input}, -np.inf)))"
        )
    },
    reference=lambda input: -input * math.log(input),
    promote=floating,
    domain=(0.2, 3.0),
    public=False,
    method=False,
    inplace=False,
)
def special_entr(input: Tensor) -> Tensor:
    """``-input * log(input)``; 0 at 0, -inf below."""


@pointwise(
    numpy={
        "float": (
            "np.where(np.isnan({other}), {other}, np.where({input} == 0, 0, "
            "{input} * np.log1p({other})))"
        )
    },
    reference=lambda input, other: input * math.log1p(other),
    promote=floating,
    domain=(0.2, 3.0),
    public=False,
    method=False,
    inplace=False,
)
def special_xlog1py(input: Tensor, other: Tensor) -> Tensor:
    """``input * log1p(other)``, which is 0 where `input` is 0 and `other` not NaN."""


def _log1p_like(input: Any, other: Any) -> Any:
    """Return log1p(other), 0 where xlog1py is 0 around."""
    return where((input == 0) & (other <= -1), 0, log1p(other))


special_entr.derivative(input=times(lambda input: -log(input) - 1))
special_xlog1py.derivative(
    input=times(lambda input, other: _log1p_like(input, other)),
    other=times(lambda input, other: input / (other + 1)),
)

# -- of the gamma function's family --------------------------------------------------


def _lower_gamma(a: float, x: float) -> float:
    """Return the lower regularized function by its power series, for tests."""
    term = total = 1 / a
    for k in range(1, 200):
        term *= x / (a + k)
        total += term
    return total * math.exp(a * math.log(x) - x - math.lgamma(a))


@pointwise(
    numpy={"float": "tg_gammainc(np, {input}, {other})"},
    reference=_lower_gamma,
    promote=floating,
    domain=(1.2, 4.0),
    examples=lambda rng: second_floating(rng),
)
def igamma(input: Tensor, other: Tensor) -> Tensor:
    """Lower regularized incomplete gamma function of `input`, up to `other`.

    There is no derivative with respect to `input`. Source: NIST DLMF 8.2.4, 8.7.1 and
    8.9.2.
    """


@pointwise(
    numpy={"float": "tg_gammaincc(np, {input}, {other})"},
    reference=lambda input, other: 1 - _lower_gamma(input, other),
    promote=floating,
    domain=(1.2, 4.0),
    examples=lambda rng: second_floating(rng),
)
def igammac(input: Tensor, other: Tensor) -> Tensor:
    """Upper regularized incomplete gamma function of `input`, from `other` on.

    There is no derivative with respect to `input`. Source: NIST DLMF 8.2.4, 8.7.1 and
    8.9.2.
    """


def _gamma_density(input: Any, other: Any) -> Any:
    return exp(xlogy(input - 1, other) - other - lgamma(input))


igamma.derivative(
    input=no_first_derivative("igamma"),
    other=times(lambda input, other: _gamma_density(input, other)),
)
igammac.derivative(
    input=no_first_derivative("igammac"),
    other=times(lambda input, other: -_gamma_density(input, other)),
)
