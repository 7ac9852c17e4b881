"""The error function and its relatives."""

from __future__ import annotations

import math

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating
from tracegrad.ops.exponential import exp

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


def _inverse_of_erf(y: float) -> float:
    """Return where `math.erf` is `y`, by bisection: slow, and by another way."""
    low, high = -6.0, 6.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return (low + high) / 2


@pointwise(
    numpy={"float": "tg_erfinv(np, {input})"},
    c={"float": "tg_erfinv_{t}({input})"},
    reference=_inverse_of_erf,
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
