"""Logarithm, sine and cosine in float32, to the bit as in PyTorch's normal kernel.

That kernel evaluates the polynomials of the Cephes library in float32 with fused
multiply-add. Here each fused step is a product and a sum in float64, rounded to
float32: the product is exact, so that the step is rounded once unless the sum in
float64 falls exactly on a tie (about once in 10**9 steps). Only IEEE arithmetic is
used, so the values do not depend on the machine, as those of NumPy's float32
functions do.

Source: S. L. Moshier, Cephes Mathematical Library 2.2 (``logf``, ``sinf``), 1992; the
order of the fused steps was found by comparing with PyTorch 2.13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

from tracegrad.random_streams.rounding import F32, F64


def _float32_values(*values: float) -> tuple[float, ...]:
    return tuple(float(np.float32(value)) for value in values)


_SQRT_HALF: Final = np.float32(0.707106781186547524)
_LOG: Final = _float32_values(
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
# log(2) in two parts, the first of which has few bits.
_LOG2_HIGH, _LOG2_LOW = _float32_values(0.693359375, -2.12194440e-4)

_FOUR_OVER_PI: Final = np.float32(1.27323954473516)
# -pi/4 in three parts.
_QUARTER_PI: Final = _float32_values(
    -0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8
)
_SINE: Final = _float32_values(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COSINE: Final = _float32_values(
    2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2
)


def log_float32(x: F32) -> F32:
    """Natural logarithm of numbers in (0, 1] that are not subnormal.

    Parameters
    ----------
    x : ndarray of float32, shape (...)

    Returns
    -------
    ndarray of float32, shape (...)
    """
    fraction, exponent = np.frexp(x)
    small = fraction < _SQRT_HALF
    power = (exponent - small).astype(np.float64)
    # Exact: the fraction goes from [1/2, 1) to [sqrt(1/2) - 1, sqrt(2) - 1).
    fraction = np.where(small, fraction + fraction, fraction) - np.float32(1.0)
    reduced = fraction.astype(np.float64)
    square = _rounded(reduced * reduced)
    series = _polynomial(_LOG, reduced)
    series = _rounded(series * reduced)
    series = _fused(series, square, _rounded(power * _LOG2_LOW))
    series = _fused(square, -0.5, series)
    total = _rounded(reduced + series)
    return (power * _LOG2_HIGH + total).astype(np.float32)


def sincos_float32(x: F32) -> tuple[F32, F32]:
    """Sine and cosine of numbers in [0, 2 pi].

    Parameters
    ----------
    x : ndarray of float32, shape (...)

    Returns
    -------
    sine, cosine : ndarray of float32, shape (...)
    """
    octant = (x * _FOUR_OVER_PI).astype(np.int32)
    quarter = (octant + 1) >> 1
    steps = (2 * quarter).astype(np.float64)
    reduced = x.astype(np.float64)
    for part in _QUARTER_PI:
        reduced = _fused(steps, part, reduced)
    square = _rounded(reduced * reduced)
    near_sine = _sine_series(reduced, square)
    near_cosine = _cosine_series(square)
    swapped = quarter & 1 == 1
    sine = np.where(swapped, near_cosine, near_sine)
    cosine = np.where(swapped, near_sine, near_cosine)
    # Negative are the sine in quarters 2 and 3, and the cosine in quarters 1 and 2.
    _flip_signs(sine, quarter & 2)
    _flip_signs(cosine, quarter + 1 & 2)
    return sine, cosine


def _flip_signs(values: F32, flags: NDArray[np.int32]) -> None:
    """Negate, in place, where the flag is 2 and not 0."""
    bits = values.view(np.uint32)
    bits ^= flags.view(np.uint32) << np.uint32(30)


def _sine_series(reduced: F64, square: F64) -> F32:
    series = _rounded(_polynomial(_SINE, square) * square)
    return (series * reduced + reduced).astype(np.float32)


def _cosine_series(square: F64) -> F32:
    series = _rounded(_polynomial(_COSINE, square) * square)
    tail = series * square - 0.5 * square
    return np.add(tail.astype(np.float32), np.float32(1.0), dtype=np.float32)


def _polynomial(coefficients: tuple[float, ...], x: F64) -> F64:
    """Evaluate by Horner's rule, the highest power first."""
    value = _fused(x, coefficients[0], coefficients[1])
    for coefficient in coefficients[2:]:
        value = _fused(value, x, coefficient)
    return value


def _fused(a: F64, b: F64 | float, c: F64 | float) -> F64:
    """Return ``a * b + c`` of float32 numbers kept in float64, rounded to float32."""
    total = a * b
    total += c
    return _rounded(total)


def _rounded(x: F64) -> F64:
    return x.astype(np.float32).astype(np.float64)
