"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._functions import aliases
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating
from tracegrad.ops.powers import rsqrt


@pointwise(numpy="np.sinh({input})", c={"float": "sinh{f}({input})"}, promote=floating)
def sinh(input: Tensor) -> Tensor:
    """Hyperbolic sine of each element.

    Source: NIST DLMF 4.28.1; derivative 4.34.7.
    """


@pointwise(numpy="np.cosh({input})", c={"float": "cosh{f}({input})"}, promote=floating)
def cosh(input: Tensor) -> Tensor:
    """Hyperbolic cosine of each element.

    Source: NIST DLMF 4.28.2; derivative 4.34.8.
    """


sinh.derivative(input=times(lambda input: cosh(input)))
cosh.derivative(input=times(lambda input: sinh(input)))


@pointwise(numpy="np.tanh({input})", c={"float": "tanh{f}({input})"}, promote=floating)
def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent of each element.

    Source: NIST DLMF 4.28.4; derivative 4.34.9 by 4.35.12.
    """


tanh.derivative(input=times(lambda out: 1 - out * out))


@pointwise(
    numpy="np.arcsinh({input})", c={"float": "asinh{f}({input})"}, promote=floating
)
def asinh(input: Tensor) -> Tensor:
    """Number whose hyperbolic sine each element is.

    Source: NIST DLMF 4.37.16; derivative 4.38.9.
    """


asinh.derivative(input=times(lambda input: rsqrt(input * input + 1)))


@pointwise(
    numpy="np.arccosh({input})",
    c={"float": "acosh{f}({input})"},
    promote=floating,
    domain=(1.1, 4.0),
)
def acosh(input: Tensor) -> Tensor:
    """Number from 0 up whose hyperbolic cosine each element is.

    Source: NIST DLMF 4.37.19; derivative 4.38.10.
    """


def _acosh_derivative(input: Any) -> Any:
    if input.is_complex():
        return rsqrt(input - 1) * rsqrt(input + 1)
    return rsqrt(input * input - 1)


acosh.derivative(input=times(_acosh_derivative))


@pointwise(
    numpy="np.arctanh({input})",
    c={"float": "atanh{f}({input})"},
    promote=floating,
    domain=(-0.9, 0.9),
)
def atanh(input: Tensor) -> Tensor:
    """Number whose hyperbolic tangent each element is.

    Source: NIST DLMF 4.37.24; derivative 4.38.11.
    """


atanh.derivative(input=times(lambda input: 1 / (1 - input * input)))

aliases(arcsinh=asinh, arccosh=acosh, arctanh=atanh)
