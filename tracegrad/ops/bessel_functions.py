"""Bessel functions of order 0 and 1."""

from __future__ import annotations

import math

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops import _bessel_helpers as _bessel_helpers
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating
from tracegrad.ops.rounding import sign
from tracegrad.ops.selection import where

# -- references: integrals by the trapezoidal rule, which converges fast here ----------

_ANGLES = [math.pi * k / 200 for k in range(400)]


def _j(order: int, x: float) -> float:
    return math.fsum(math.cos(order * t - x * math.sin(t)) for t in _ANGLES) / 400


def _i(order: int, x: float) -> float:
    terms = (math.exp(x * math.cos(t)) * math.cos(order * t) for t in _ANGLES)
    return math.fsum(terms) / 400


def _k(order: int, x: float) -> float:
    steps = [k / 64 for k in range(-640, 641)]
    terms = (math.exp(-x * math.cosh(t)) * math.cosh(order * t) for t in steps)
    return math.fsum(terms) / 128


def _y0(x: float) -> float:
    """Return Neumann's series, Watson, "Bessel Functions", section 3.571."""
    euler = 0.5772156649015329
    tail = math.fsum((-1) ** (k + 1) * _j(2 * k, x) / k for k in range(1, 20))
    return (2 * (math.log(x / 2) + euler) * _j(0, x) + 4 * tail) / math.pi


def _y1(x: float) -> float:
    """Return it by the Wronskian, NIST DLMF 10.5.2."""
    return (_j(1, x) * _y0(x) - 2 / (math.pi * x)) / _j(0, x)


# -- modified, of the first kind, with derivatives -------------------------------


@pointwise(
    numpy={"float": "tg_i0(np, {input})"},
    reference=lambda input: _i(0, input),
    promote=floating,
)
def i0(input: Tensor) -> Tensor:
    """Modified Bessel function of the first kind, of order 0.

    Source: NIST DLMF 10.25.2; derivative 10.29.3.
    """


@pointwise(
    numpy={"float": "tg_i1(np, {input})"},
    reference=lambda input: _i(1, input),
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_i1(input: Tensor) -> Tensor:
    """Modified Bessel function of the first kind, of order 1.

    Source: NIST DLMF 10.25.2; derivative 10.29.2.
    """


@pointwise(
    numpy={"float": "tg_i0e(np, {input})"},
    reference=lambda input: _i(0, input) * math.exp(-abs(input)),
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_i0e(input: Tensor) -> Tensor:
    """`i0` times ``exp(-abs(input))``.

    Source: NIST DLMF 10.25.2; derivative 10.29.3.
    """


@pointwise(
    numpy={"float": "tg_i1e(np, {input})"},
    reference=lambda input: _i(1, input) * math.exp(-abs(input)),
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_i1e(input: Tensor) -> Tensor:
    """`special.i1` times ``exp(-abs(input))``.

    Source: NIST DLMF 10.25.2; derivative 10.29.2.
    """


def _over(value: Tensor, input: Tensor) -> Tensor:
    """Return ``value / input`` for a function that is ``input / 2`` around 0."""
    nowhere = input == 0
    return where(nowhere, 0.5, value / where(nowhere, 1, input))  # type: ignore[no-any-return]


i0.derivative(input=times(lambda input: special_i1(input)))
special_i1.derivative(
    input=times(lambda input: i0(input) - _over(special_i1(input), input))
)
special_i0e.derivative(
    input=times(lambda input: special_i1e(input) - sign(input) * special_i0e(input))
)
special_i1e.derivative(
    input=times(
        lambda input: (
            special_i0e(input)
            - _over(special_i1e(input), input)
            - sign(input) * special_i1e(input)
        )
    )
)


# -- the others, which PyTorch does not differentiate ---------------------------


@pointwise(
    numpy={"float": "tg_j0(np, {input})"},
    reference=lambda input: _j(0, input),
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_bessel_j0(input: Tensor) -> Tensor:
    """Bessel function of the first kind, of order 0.

    Source: NIST DLMF 10.2.2.
    """


@pointwise(
    numpy={"float": "tg_j1(np, {input})"},
    reference=lambda input: _j(1, input),
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_bessel_j1(input: Tensor) -> Tensor:
    """Bessel function of the first kind, of order 1.

    Source: NIST DLMF 10.2.2.
    """


@pointwise(
    numpy={"float": "tg_y0(np, {input})"},
    reference=_y0,
    promote=floating,
    domain=(0.3, 2.0),
    public=False,
    method=False,
    inplace=False,
)
def special_bessel_y0(input: Tensor) -> Tensor:
    """Bessel function of the second kind, of order 0.

    Source: NIST DLMF 10.2.3.
    """


@pointwise(
    numpy={"float": "tg_y1(np, {input})"},
    reference=_y1,
    promote=floating,
    domain=(0.3, 2.0),
    public=False,
    method=False,
    inplace=False,
)
def special_bessel_y1(input: Tensor) -> Tensor:
    """Bessel function of the second kind, of order 1.

    Source: NIST DLMF 10.2.3.
    """


@pointwise(
    numpy={"float": "tg_k0(np, {input})"},
    reference=lambda input: _k(0, input),
    promote=floating,
    domain=(0.3, 5.0),
    public=False,
    method=False,
    inplace=False,
)
def special_modified_bessel_k0(input: Tensor) -> Tensor:
    """Modified Bessel function of the second kind, of order 0.

    Source: NIST DLMF 10.32.9.
    """


@pointwise(
    numpy={"float": "tg_k1(np, {input})"},
    reference=lambda input: _k(1, input),
    promote=floating,
    domain=(0.3, 5.0),
    public=False,
    method=False,
    inplace=False,
)
def special_modified_bessel_k1(input: Tensor) -> Tensor:
    """Modified Bessel function of the second kind, of order 1.

    Source: NIST DLMF 10.32.9.
    """


@pointwise(
    numpy={"float": "tg_k0e(np, {input})"},
    reference=lambda input: _k(0, input) * math.exp(input),
    promote=floating,
    domain=(0.3, 5.0),
    public=False,
    method=False,
    inplace=False,
)
def special_scaled_modified_bessel_k0(input: Tensor) -> Tensor:
    """`special.modified_bessel_k0` times ``exp(input)``.

    Source: NIST DLMF 10.32.9.
    """


@pointwise(
    numpy={"float": "tg_k1e(np, {input})"},
    reference=lambda input: _k(1, input) * math.exp(input),
    promote=floating,
    domain=(0.3, 5.0),
    public=False,
    method=False,
    inplace=False,
)
def special_scaled_modified_bessel_k1(input: Tensor) -> Tensor:
    """`special.modified_bessel_k1` times ``exp(input)``.

    Source: NIST DLMF 10.32.9.
    """


@pointwise(
    numpy={"float": "tg_i0(np, {input})"},
    reference=lambda input: _i(0, input),
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_modified_bessel_i0(input: Tensor) -> Tensor:
    """`i0`, without derivative, as PyTorch has it.

    Source: NIST DLMF 10.25.2.
    """


@pointwise(
    numpy={"float": "tg_i1(np, {input})"},
    reference=lambda input: _i(1, input),
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_modified_bessel_i1(input: Tensor) -> Tensor:
    """`special.i1`, without derivative, as PyTorch has it.

    Source: NIST DLMF 10.25.2.
    """


@pointwise(
    numpy={
        "float": (
            "np.where(np.isinf({input}), 0, np.where({input} == 0, 1, "
            "np.sin({input}) / np.where({input} == 0, 1, {input})))"
        )
    },
    reference=lambda input: math.sin(input) / input,
    promote=floating,
    public=False,
    method=False,
    inplace=False,
)
def special_spherical_bessel_j0(input: Tensor) -> Tensor:
    """Spherical Bessel function of order 0: ``sin(input) / input``.

    Source: NIST DLMF 10.49.3.
    """
