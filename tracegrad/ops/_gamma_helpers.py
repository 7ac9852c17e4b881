"""The gamma function's relatives, written with NumPy's ufuncs: for kernels and sources.

Each takes the namespace as its first argument, as in `tracegrad.ops._numpy_helpers`.
"""

from __future__ import annotations

from typing import Any

from tracegrad.ops._numpy_helpers import helper


@helper()
def tg_lgamma(np: Any, x: Any) -> Any:
    """Logarithm of the size of the gamma function, in float64."""
    wide = np.positive(x, dtype="float64")
    # Below 0 by reflection, from 0 to 1.5 by one or two steps up, to 8
    # by steps down.
    y = np.where(wide <= 0, 1.0 - wide, wide)
    near = np.minimum(y, 8.0)
    below = near < 1.5
    # The distance from 1 as it is, of which one step up would lose digits.
    t = np.where(near < 0.5, near, near - 1.0)
    steps_up = np.where(below, np.log1p(t), 0.0)
    steps_up = np.where(near < 0.5, steps_up + np.log(near), steps_up)
    factors = np.ones_like(near)
    for _ in range(6):
        high = near >= 2.5
        near = np.where(high, near - 1.0, near)
        factors = np.where(high, factors * near, factors)
    # lgamma(2 + t) / t, by Chebyshev interpolation on [-1/2, 1/2] with 50 digits.
    t = np.where(below, t, near - 2.0)
    series = np.full_like(t, -1.3219945666117874e-07)
    for coefficient in (
        2.78740805211359e-07,
        -4.3252393445604814e-07,
        9.200527894968101e-07,
        -2.0439048107029907e-06,
        4.38470440459836e-06,
        -9.438715099211532e-06,
        2.0505590755833454e-05,
        -4.49263133791557e-05,
        9.945767355819498e-05,
        -0.00022315475400520507,
        0.0005096695154115458,
        -0.0011927539118428156,
        0.002890510331034267,
        -0.0073855510286719986,
        0.02058080842778038,
        -0.0673523010531981,
        0.32246703342411326,
        0.42278433509846713,
    ):
        series = series * t + coefficient
    small = t * series - steps_up + np.log(factors)
    z = np.maximum(y, 8.0)
    u = 1.0 / (z * z)
    tail = u * (-691.0 / 360360.0 + u * (1.0 / 156.0 - u * (3617.0 / 122400.0)))
    tail = u * (-1.0 / 1680.0 + u * (1.0 / 1188.0 + tail))
    tail = (1.0 / 12.0 + u * (-1.0 / 360.0 + u * (1.0 / 1260.0 + tail))) / z
    # z (log z - 1) - log(z) / 2, which overflows where the result does.
    large = (z - 0.5) * np.log(z) - z + 0.9189385332046728 + tail
    result = np.where(y < 8.0, small, np.where(np.isinf(y), np.inf, large))
    sine = np.abs(np.sin(np.pi * (wide - np.round(wide))))
    reflected = np.where(
        np.isinf(wide), np.inf, 1.1447298858494002 - np.log(sine) - result
    )
    return np.where(wide <= 0, reflected, result).astype(x.dtype)


@helper()
def tg_digamma(np: Any, x: Any) -> Any:
    """Derivative of `tg_lgamma`, in float64."""
    wide = np.positive(x, dtype="float64")
    y = np.where(wide <= 0, 1.0 - wide, wide)
    result = np.zeros_like(y)
    for _ in range(10):
        low = y < 10.0
        result = np.where(low, result - 1.0 / y, result)
        y = np.where(low, y + 1.0, y)
    u = 1.0 / (y * y)
    tail = u * (1.0 / 132.0 - u * (691.0 / 32760.0 - u / 12.0))
    tail = u * (1.0 / 252.0 - u * (1.0 / 240.0 - tail))
    tail = u * (1.0 / 12.0 - u * (1.0 / 120.0 - tail))
    result = result + np.log(y) - 0.5 / y - tail
    fraction = wide - np.round(wide)
    reflected = np.where(
        fraction == 0, np.nan, result - np.pi / np.tan(np.pi * fraction)
    )
    result = np.where(wide <= 0, reflected, result)
    return np.where(wide == 0, np.copysign(np.inf, -wide), result).astype(x.dtype)
