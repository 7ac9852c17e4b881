"""The gamma function's logarithm and its derivatives."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentTypeError, ArgumentValueError
from tracegrad.ops import _gamma_helpers as _gamma_helpers
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating


def _digamma_of(number: float) -> float:
    """Return the digamma function by many steps up, for tests."""
    end = number + 2000
    steps = [-1 / (number + k) for k in range(2000)]
    return math.fsum([*steps, math.log(end), -1 / (2 * end), -1 / (12 * end**2)])


def _zeta_of(exponent: float, start: float) -> float:
    """Return the Hurwitz zeta function by many terms, for tests."""
    end = start + 4000
    terms = [(start + k) ** -exponent for k in range(4000)]
    rest = end ** (1 - exponent) / (exponent - 1) + 0.5 * end**-exponent
    return math.fsum([*terms, rest, exponent / 12 * end ** (-exponent - 1)])


@pointwise(
    numpy={"float": "tg_lgamma(np, {input})"},
    c={"float": "lgamma{f}({input})"},
    reference=math.lgamma,
    promote=floating,
    domain=(0.3, 12.0),
)
def lgamma(input: Tensor) -> Tensor:
    """Logarithm of the size of the gamma function; inf at 0 and negative integers.

    Source: NIST DLMF 5.11.1 (Stirling's series), 5.5.1 and 5.5.3.
    """


@pointwise(
    numpy={"float": "tg_digamma(np, {input})"},
    reference=_digamma_of,
    promote=floating,
    domain=(0.3, 12.0),
)
def digamma(input: Tensor) -> Tensor:
    """Derivative of `lgamma`; -inf at 0, NaN at negative integers.

    Source: NIST DLMF 5.11.2, 5.5.2 and 5.5.4.
    """


@pointwise(
    numpy={"float": "tg_zeta(np, {exponent}, {input})"},
    reference=lambda input, exponent=2.0: _zeta_of(exponent, input),
    promote=floating,
    domain=(0.3, 6.0),
    public=False,
    method=False,
    inplace=False,
)
def hurwitz_zeta(input: Tensor, exponent: float = 2.0) -> Tensor:
    """Sum of ``(input + k)**-exponent`` over k from 0, for exponents above 1.

    Source: NIST DLMF 25.11.1; by Euler and Maclaurin's formula, 2.10.1.
    """


lgamma.derivative(input=times(lambda input: digamma(input)))
digamma.derivative(input=times(lambda input: hurwitz_zeta(input, 2.0)))
hurwitz_zeta.derivative(
    input=times(lambda input, exponent: hurwitz_zeta(input, exponent + 1) * -exponent)
)


@public_function(name="polygamma", method=False)
def polygamma(n: int, input: Tensor) -> Tensor:
    """Return derivative number `n` of `digamma`.

    Parameters
    ----------
    n : int
        Not negative.
    input : Tensor

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If `n` is no integer, or negative.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.polygamma(1, tg.tensor([1.0]))  # pi**2 / 6
    tensor([1.6449])
    """
    if n.__class__ is not int:
        raise ArgumentTypeError(f"polygamma: n must be int, not {type(n).__name__}")
    if n < 0:
        raise ArgumentValueError(f"polygamma(n, x) does not support negative n: {n}")
    if n == 0:
        return digamma(input)  # type: ignore[no-any-return]
    sign = 1 if n % 2 else -1
    return hurwitz_zeta(input, n + 1.0) * (sign * float(math.factorial(n)))  # type: ignore[no-any-return]


@public_function(name="mvlgamma")
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Return the logarithm of the multivariate gamma function of dimension `p`.

    Parameters
    ----------
    input : Tensor
        All above ``(p - 1) / 2``.
    p : int
        At least 1.

    Raises
    ------
    ArgumentValueError
        If `p` is less than 1.

    Notes
    -----
    Source: NIST DLMF 35.3.4.
    """
    if p < 1:
        raise ArgumentValueError(
            f"mvlgamma: p has to be greater than or equal to 1: {p}"
        )
    total: Any = p * (p - 1) / 4 * math.log(math.pi)
    for j in range(p):
        total = lgamma(input - j / 2) + total
    return total  # type: ignore[no-any-return]
