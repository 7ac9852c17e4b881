"""More special functions, written with NumPy's ufuncs: for kernels and sources.

Each takes the namespace as its first argument, as in `tracegrad.ops._numpy_helpers`.
"""

from __future__ import annotations

from typing import Any

from tracegrad.ops._bessel_helpers import tg_chebyshev
from tracegrad.ops._gamma_helpers import tg_lgamma
from tracegrad.ops._numpy_helpers import helper, tg_erfc, tg_erfinv

# Chebyshev coefficients of (1 + 2 a) exp(a**2) erfc(a) in (a - 3.75) / (a + 3.75), the
# highest first, computed with 60 digits. Source of the form: Shepherd and Laframboise,
# "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x" (1981).
TG_ERFCX = (
    -2.1873427099797206e-18,
    -2.237056573463199e-18,
    5.068148896771372e-17,
    7.418235233502443e-17,
    -1.2507950534055964e-15,
    -1.8645628807948696e-15,
    3.3478119482528366e-14,
    3.2525481481251405e-14,
    -9.654696748434287e-13,
    1.9455868545785715e-13,
    2.8687950109306935e-11,
    -6.31808834088665e-11,
    -7.754400208831348e-10,
    4.5219598112182875e-09,
    1.076499946567091e-08,
    -2.1886401049234397e-07,
    7.74038306619849e-07,
    4.13902798607301e-06,
    -6.916973302501207e-05,
    0.0004907758365258086,
    -0.002413163540417608,
    0.009074997670705265,
    -0.026658668435305753,
    0.05920993999819189,
    -0.08424913336651792,
    -0.004590054580646478,
    1.1775789345674017,
)


@helper("tg_chebyshev", "TG_ERFCX")
def tg_erfcx(np: Any, x: Any) -> Any:
    """Complementary error function times exp(x**2)."""
    wide = np.positive(x, dtype="float64")
    a = np.minimum(np.abs(wide), 1e300)
    value = tg_chebyshev(np, TG_ERFCX, (a - 3.75) / (a + 3.75)) / (1.0 + 2.0 * a)
    value = np.where(np.isinf(wide), 0.0, value)
    # exp(x**2) in two factors, the square of x in two parts.
    low = np.maximum(np.minimum(wide, 0.0), -28.0)
    high = np.positive(low.astype("float32"), dtype="float64")
    grown = np.exp(high * high) * np.exp((low - high) * (low + high))
    value = np.where(wide < 0, 2.0 * grown - value, value)
    return np.where(np.isnan(x), x, value).astype(x.dtype)


@helper("tg_erfc", "tg_erfcx")
def tg_log_ndtr(np: Any, x: Any) -> Any:
    """Logarithm of the normal distribution function."""
    wide = np.positive(x, dtype="float64")
    t = wide * 0.7071067811865476
    below = np.minimum(t, -0.5)
    tail = np.log(tg_erfcx(np, -below) * 0.5) - below * below
    value = np.where(t < -0.5, tail, np.log1p(-0.5 * tg_erfc(np, np.maximum(t, -0.5))))
    value = np.where(wide == -np.inf, -np.inf, value)
    return np.where(np.isnan(x), x, value).astype(x.dtype)


@helper("tg_erfinv", "tg_log_ndtr", "tg_erfcx")
def tg_ndtri(np: Any, p: Any) -> Any:
    """Inverse of the normal distribution function."""
    wide = np.positive(p, dtype="float64")
    centre = 1.4142135623730951 * tg_erfinv(np, 2.0 * wide - 1.0)
    # In the tails Newton's method on the logarithm, which is concave: no step goes
    # past the root.
    small = np.where(wide > 0.5, 1.0 - wide, wide)
    tail = np.where((small > 0) & (small < 0.25), small, 0.1)
    goal = np.log(tail)
    x = -np.sqrt(-2.0 * goal)
    for _ in range(8):
        slope = 0.7978845608028654 / tg_erfcx(np, x * -0.7071067811865476)
        x = x - (tg_log_ndtr(np, x) - goal) / slope
    value = np.where(small < 0.25, np.where(wide > 0.5, -x, x), centre)
    value = np.where(wide == 0, -np.inf, np.where(wide == 1, np.inf, value))
    return np.where((wide >= 0) & (wide <= 1), value, np.nan).astype(p.dtype)


@helper()
def tg_zeta_of(np: Any, s: Any, q: Any) -> Any:
    """Sum of (q + k)**-s over k from 0, for s > 1."""
    # One of the two may be a number.
    typed = q if hasattr(q, "dtype") else s
    s64 = np.positive(s, dtype="float64")
    q64 = np.positive(q, dtype="float64")
    power = np.where(s64 > 1, s64, 2.0)
    a = q64 + 0.0 * power
    total = np.zeros_like(a)
    lowest = float(np.min(a, initial=0.0, where=np.isfinite(a)))
    for _ in range(min(int(10.0 - lowest) + 1, 10000)):
        low = a < 10.0
        base = np.where(a == 0, np.inf, a)
        total = np.where(low, total + base**-power, total)
        a = np.where(low, a + 1.0, a)
    total = total + a ** (1.0 - power) / (power - 1.0) + 0.5 * a**-power
    # Euler and Maclaurin: B(2k) / (2k)! with rising factors of s and powers of a.
    factor, scale = power, a ** (-power - 1.0)
    for k, ratio in enumerate(
        (
            1.0 / 12.0,
            -1.0 / 720.0,
            1.0 / 30240.0,
            -1.0 / 1209600.0,
            1.0 / 47900160.0,
            -691.0 / 1307674368000.0,
            1.0 / 74724249600.0,
            -3617.0 / 10670622842880000.0,
        )
    ):
        total = total + ratio * factor * scale
        factor = factor * (power + 2.0 * k + 1.0) * (power + 2.0 * k + 2.0)
        scale = scale / (a * a)
    pole = (q64 <= 0) & (q64 == np.floor(q64))
    total = np.where(pole, np.inf, total)
    odd = (q64 < 0) & ~pole & (s64 != np.floor(s64))
    total = np.where(odd | (s64 < 1), np.nan, np.where(s64 == 1, np.inf, total))
    return np.where(np.isnan(s64 + q64), np.nan, total).astype(typed.dtype)


@helper("tg_lgamma")
def tg_gammainc_parts(np: Any, a: Any, x: Any) -> Any:
    """Lower and upper regularized incomplete gamma functions, a > 0 and x > 0."""
    scale = np.exp(a * np.log(x) - x - tg_lgamma(np, a))
    below = x < a + 1.0
    # Below, the power series; above, Lentz's method for the continued fraction.
    xs, xf = np.where(below, x, 0.5 * a), np.where(below, a + 2.0, x)
    term = 1.0 / a
    series, step = term, a
    b = xf + 1.0 - a
    c, d = np.full_like(b, 1e300), 1.0 / b
    fraction = d
    for k in range(1, 20000):
        step = step + 1.0
        term = term * xs / step
        series = series + term
        n = -k * (k - a)
        b = b + 2.0
        d = n * d + b
        d = 1.0 / np.where(d == 0, 1e-300, d)
        c = b + n / c
        c = np.where(c == 0, 1e-300, c)
        fraction = fraction * (d * c)
        done = (np.abs(term) < 1e-17 * np.abs(series)) & (np.abs(d * c - 1.0) < 1e-16)
        if np.all(done | ~np.isfinite(x + a)):
            break
    lower, upper = scale * series, scale * fraction
    return np.where(below, lower, 1.0 - upper), np.where(below, 1.0 - lower, upper)


@helper("tg_gammainc_parts")
def tg_gammainc_pair(np: Any, a: Any, x: Any) -> Any:
    """Both incomplete gamma functions, with their values at the edges."""
    a64, x64 = np.broadcast_arrays(
        np.positive(a, dtype="float64"), np.positive(x, dtype="float64")
    )
    inside = (a64 > 0) & (x64 > 0) & np.isfinite(a64) & np.isfinite(x64)
    lower, upper = tg_gammainc_parts(
        np, np.where(inside, a64, 1.0), np.where(inside, x64, 1.0)
    )
    whole = np.where((a64 == 0) | (x64 == np.inf), 1.0, 0.0)
    # Written so that NaN is no fit.
    fits = (a64 >= 0) & (x64 >= 0) & ((a64 > 0) | (x64 > 0))
    fits = fits & ~((a64 == np.inf) & (x64 == np.inf))
    return (
        np.where(fits, np.where(inside, lower, whole), np.nan),
        np.where(fits, np.where(inside, upper, 1.0 - whole), np.nan),
    )


@helper("tg_gammainc_pair")
def tg_gammainc(np: Any, a: Any, x: Any) -> Any:
    """Lower regularized incomplete gamma function."""
    return tg_gammainc_pair(np, a, x)[0].astype(a.dtype)


@helper("tg_gammainc_pair")
def tg_gammaincc(np: Any, a: Any, x: Any) -> Any:
    """Upper regularized incomplete gamma function."""
    return tg_gammainc_pair(np, a, x)[1].astype(a.dtype)


@helper()
def tg_three_terms(np: Any, x: Any, n: Any, *given: Any) -> Any:
    """Polynomial number n of a family, by its recurrence; 0 for negative n.

    Given are r, s, a to f. Number 1 is ``r x + s``, and
    ``(f k + 1) p[k + 1] = ((a + b k) x + c + d k) p[k] - e[k] p[k - 1]``, where
    ``e[k]`` is 1 if e is 0, else ``e k``. NaN beyond number 10000: a step each.
    """
    wide = np.positive(x, dtype="float64") + 0.0 * np.positive(n, dtype="float64")
    count = np.trunc(np.positive(n, dtype="float64")) + 0.0 * wide
    r, s, a, b, c, d, e, f = given
    before, last = np.ones_like(wide), r * wide + s
    value = np.where(count == 0, before, np.where(count < 0, 0.0, last))
    reached = np.abs(count) <= 10000.0
    value = np.where(reached | (count < 0), value, np.nan)
    for k in range(1, int(np.max(count, initial=0.0, where=reached))):
        sunk = (e * k if e else 1.0) * before
        grown = ((a + b * k) * wide + c + d * k) * last - sunk
        before, last = last, grown / (f * k + 1.0)
        value = np.where(count == k + 1, last, value)
    return value.astype(x.dtype)
