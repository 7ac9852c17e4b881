"""Circular functions and their inverses."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import DTypeError
from tracegrad.ops._functions import Choice, aliases, choosing
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import arithmetic, floating
from tracegrad.ops.arithmetic import mul
from tracegrad.ops.powers import rsqrt
from tracegrad.ops.selection import where


@pointwise(numpy="np.sin({input})", c={"float": "sin{f}({input})"}, promote=floating)
def sin(input: Tensor) -> Tensor:
    """Sine of each element, in radians.

    Source: NIST DLMF 4.14.1; derivative 4.20.1.
    """


@pointwise(numpy="np.cos({input})", c={"float": "cos{f}({input})"}, promote=floating)
def cos(input: Tensor) -> Tensor:
    """Cosine of each element, in radians.

    Source: NIST DLMF 4.14.2; derivative 4.20.2.
    """


sin.derivative(input=times(lambda input: cos(input)))
cos.derivative(input=times(lambda input: -sin(input)))


@pointwise(
    numpy="np.tan({input})",
    c={"float": "tan{f}({input})"},
    promote=floating,
    domain=(-1.2, 1.2),
)
def tan(input: Tensor) -> Tensor:
    """Tangent of each element, in radians.

    Source: NIST DLMF 4.14.4; derivative 4.20.3 by 4.21.4.
    """


tan.derivative(input=times(lambda out: out * out + 1))


@pointwise(
    numpy="np.arcsin({input})",
    c={"float": "asin{f}({input})"},
    promote=floating,
    domain=(-0.9, 0.9),
)
def asin(input: Tensor) -> Tensor:
    """Angle from -pi/2 to pi/2 whose sine each element is.

    Source: NIST DLMF 4.23.1; derivative 4.24.7.
    """


asin.derivative(input=times(lambda input: rsqrt(1 - input * input)))


@pointwise(
    numpy="np.arccos({input})",
    c={"float": "acos{f}({input})"},
    promote=floating,
    domain=(-0.9, 0.9),
)
def acos(input: Tensor) -> Tensor:
    """Angle from 0 to pi whose cosine each element is.

    Source: NIST DLMF 4.23.2; derivative 4.24.8.
    """


acos.derivative(input=times(lambda input: -rsqrt(1 - input * input)))


@pointwise(
    numpy="np.arctan({input})", c={"float": "atan{f}({input})"}, promote=floating
)
def atan(input: Tensor) -> Tensor:
    """Angle from -pi/2 to pi/2 whose tangent each element is.

    Source: NIST DLMF 4.23.3; derivative 4.24.9.
    """


atan.derivative(input=times(lambda input: 1 / (input * input + 1)))


@pointwise(
    numpy={"float": "np.arctan2({input}, {other})"},
    c={"float": "atan2{f}({input}, {other})"},
    promote=floating,
    domain=(0.3, 3.0),
)
def atan2(input: Tensor, other: Tensor) -> Tensor:
    """Angle of the point (`other`, `input`), from -pi to pi.

    The derivatives at (0, 0) are 0.

    Source: NIST DLMF 4.23.26.
    """


def _over_square(x: Any, input: Any, other: Any) -> Any:
    """Return ``x / (input**2 + other**2)``, 0 at the origin."""
    square = input * input + other * other
    nowhere = square == 0
    return where(nowhere, 0, x / where(nowhere, 1, square))


atan2.derivative(
    input=times(lambda input, other: _over_square(other, input, other)),
    other=times(lambda input, other: -_over_square(input, input, other)),
)


@pointwise(
    numpy={"float": "np.hypot({input}, {other})"},
    c={"float": "hypot{f}({input}, {other})"},
    promote=arithmetic,
    domain=(0.3, 3.0),
)
def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Length of the vector (`input`, `other`), without overflow on the way.

    The derivatives at (0, 0) are NaN.
    """


hypot.derivative(
    input=times(lambda input, out: input / out),
    other=times(lambda other, out: other / out),
)


@pointwise(
    numpy={
        "float": "np.sinc({input})",
        "complex": "np.sinc({input})",
    },
    c={"float": "tg_sinc_{t}({input})"},
    promote=floating,
)
def sinc(input: Tensor) -> Tensor:
    """sin(pi x) / (pi x), which is 1 at 0."""


def _sinc_derivative(input: Any) -> Any:
    """Return (cos(pi x) - sinc(x)) / x, by its series near 0.

    Source: the Taylor series of NIST DLMF 10.49.3, with pi x for the argument.
    """
    small = abs(input) < 0.02
    away = where(small, 1, input)
    s = input * input * (math.pi * math.pi)
    series = 1 / 3 - s * (1 / 30 - s * (1 / 840 - s * (1 / 45360)))
    near = input * (-math.pi * math.pi) * series
    return where(small, near, (cos(away * math.pi) - sinc(away)) / away)


sinc.derivative(input=times(_sinc_derivative))

aliases(arcsin=asin, arccos=acos, arctan=atan, arctan2=atan2)


@choosing("deg2rad")
def _deg2rad(input: Any) -> Choice:
    """Return angles given in degrees in radians."""
    return _scaled("deg2rad", input, math.pi / 180)


@choosing("rad2deg")
def _rad2deg(input: Any) -> Choice:
    """Return angles given in radians in degrees."""
    return _scaled("rad2deg", input, 180 / math.pi)


def _scaled(name: str, input: Any, factor: float) -> Choice:
    if isinstance(input, Tensor) and input.is_complex():
        raise DTypeError(f"{name} takes a real tensor, not {input.dtype.name}")
    return Choice(mul, (input, factor))
