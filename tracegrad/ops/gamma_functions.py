"""The gamma function's logarithm and its derivatives."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    NotSupportedError,
)
from tracegrad.ops import _special_helpers as _special_helpers
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating


def _digamma_of(number: float) -> float:
    """Return the digamma function by many steps up, for tests."""
    end = number + 2000
    steps = [-1 / (number + k) for k in range(2000)]
    return math.fsum([*steps, math.log(end), -1 / (2 * end), -1 / (12 * end**2)])


def second_floating(rng: Any) -> Any:
    """Return examples whose first operand has no derivative to check."""
    return [((rng.integers(2, 6, (3, 4)), rng.uniform(0.8, 5.0, (3, 4))), {})]


def _zeta_of(s: float, q: float) -> float:
    """Return Hurwitz' function by many terms, for tests."""
    end = q + 4000
    terms = [(q + k) ** -s for k in range(4000)]
    rest = end ** (1 - s) / (s - 1) + 0.5 * end**-s + s / 12 * end ** (-s - 1)
    return math.fsum([*terms, rest])


def no_first_derivative(name: str) -> Any:
    """Return the derivative by a first operand: none is stated."""

    def refuse(input: Any) -> Any:
        raise NotSupportedError(
            f"{name}: there is no derivative with respect to its first operand; "
            "detach it"
        )

    return times(refuse)


@pointwise(
    numpy={"float": "tg_zeta_of(np, {input}, {other})"},
    reference=_zeta_of,
    promote=floating,
    domain=(1.2, 4.0),
    examples=lambda rng: second_floating(rng),
    public=False,
    method=False,
    inplace=False,
)
def special_zeta(input: Tensor, other: Tensor) -> Tensor:
    """Hurwitz' zeta function: the sum of ``(k + other) ** -input`` over k from 0.

    There is no derivative with respect to `input`. Source: NIST DLMF 25.11.1; by
    Euler and Maclaurin's formula, 2.10.1.
    """


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


special_zeta.derivative(
    input=no_first_derivative("special.zeta"),
    other=times(lambda input, other: special_zeta(input + 1, other) * -input),
)
lgamma.derivative(input=times(lambda input: digamma(input)))
digamma.derivative(input=times(lambda input: special_zeta(2, input)))


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
    return special_zeta(n + 1, input) * (sign * float(math.factorial(n)))  # type: ignore[no-any-return]


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
