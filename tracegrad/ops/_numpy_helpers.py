"""Functions that NumPy lacks, written with its ufuncs: for eager kernels and sources.

Each takes the namespace (NumPy or CuPy) as its first argument, so that one text
serves eager mode, where `helper_source` copies it into an emitted module, and CuPy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

HELPERS: dict[str, Callable[..., Any]] = {}
"""The functions by name."""

_CONSTANTS: dict[str, tuple[str, ...]] = {}


def helper(*needs: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function (decorator); `needs` are the constants and helpers it reads."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        HELPERS[function.__name__] = function
        _CONSTANTS[function.__name__] = needs
        return function

    return enter


def helper_source(name: str) -> dict[str, str]:
    """Return source texts by name: what helper `name` needs, then itself.

    Examples
    --------
    >>> list(helper_source("tg_erfc"))
    ['TG_ERFC_TABLE', 'tg_erfc_scaled', 'tg_erfc']
    """
    found: dict[str, str] = {}
    for needed in _CONSTANTS[name]:
        if needed in HELPERS:
            found |= helper_source(needed)
        else:
            found[needed] = f"{needed} = {HELPERS[name].__globals__[needed]!r}\n"
    text = inspect.getsource(HELPERS[name])
    found[name] = text[text.index("def ") :].replace(": Any", "").replace(" -> Any", "")
    return found


# Chebyshev interpolation of exp(a**2) erfc(a) as a function of u = 2 / (2 + a), on
# four intervals of equal length from 1/15 to 1, computed with 50 digits. One row for
# each power of the interval's own variable from -1 to 1, the highest first.
TG_ERFC_TABLE = (
    (
        1.145713602221807e-13,
        -6.782527332645013e-14,
        1.9467037606259682e-14,
        -2.0405897417588426e-15,
    ),
    (
        -1.8603746534428846e-13,
        1.7786292212381084e-14,
        -1.0764752614648717e-13,
        5.4364137716751156e-14,
    ),
    (
        -6.71060520981148e-12,
        5.051562818762136e-12,
        -1.0882205152223159e-12,
        -4.85070493269693e-13,
    ),
    (
        -1.559351113298945e-13,
        -2.0852009628553623e-11,
        2.192194400046517e-11,
        -1.7039785171329745e-12,
    ),
    (
        4.2016065659063244e-10,
        -3.3974633208787493e-10,
        -6.716398953190402e-11,
        1.0388270242301434e-10,
    ),
    (
        1.417850423677041e-09,
        2.7554307281322212e-09,
        -2.168761173123852e-09,
        -1.0936572922671396e-09,
    ),
    (
        -2.6562837658822513e-08,
        2.7963319578337172e-08,
        2.4782984912338277e-08,
        -5.253688126634191e-09,
    ),
    (
        -2.873566451219944e-07,
        -3.047801020183244e-07,
        1.6102653617323707e-07,
        2.748273262631459e-07,
    ),
    (
        5.014508409603424e-07,
        -3.877591943673283e-06,
        -4.671894290482158e-06,
        -1.6254468616004311e-06,
    ),
    (
        4.349767932312353e-05,
        2.684757526705279e-05,
        -2.075505880352394e-05,
        -5.33315072714207e-05,
    ),
    (
        0.0006366253240455126,
        0.0009483387092432462,
        0.0009778990923059317,
        0.0006606619722195904,
    ),
    (
        0.0062365199461267935,
        0.011057808294212464,
        0.017030884740032216,
        0.02207772850254289,
    ),
    (0.04844161453752713, 0.08239451247761394, 0.1385107210315903, 0.21737087831185845),
    (0.06293578544104159, 0.1905488796899919, 0.40744591912097633, 0.7599454195857853),
)

# Chebyshev interpolation of erf(x) / x as a function of 2 x**2 - 1 for |x| < 1.
TG_ERF_SERIES = (
    -3.80659122412214e-13,
    9.21125018742823e-12,
    -2.035231956483527e-10,
    4.115751500265885e-09,
    -7.51156925108609e-08,
    1.2233827638093572e-06,
    -1.75371694412802e-05,
    0.00021751715603563488,
    -0.0022854855611440855,
    0.019852496688984218,
    -0.1405360890227171,
    0.9654687386698673,
)

# Rational approximation of erf(x) / x in x**2 for |x| < 4, within 2.1e-9: a weighted
# least-squares fit, reweighted until the error is level. Without the last 1 below.
TG_ERF_ABOVE = (
    -1.3201534124784887e-08,
    4.6846227166610015e-06,
    0.0003796048180674462,
    0.0038496686117657423,
    0.05431702469186991,
    0.18520498780402747,
    1.128379169373871,
)
TG_ERF_BELOW = (
    6.310914229329562e-05,
    0.001307576166288726,
    0.015462189896945287,
    0.11395903893570163,
    0.4974670606371624,
)

# Source: M. Giles, "Approximating the erfinv function", GPU Computing Gems (2011),
# table of the single precision version.
TG_ERFINV_CENTRE = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
TG_ERFINV_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)


@helper("TG_ERFC_TABLE")
def tg_erfc_scaled(np: Any, a: Any) -> Any:
    """exp(a**2) erfc(a) for a from 0 to 28, in float64."""
    u = 2.0 / (2.0 + a)
    width = 14.0 / 60.0
    piece = (
        (u > 1 / 15 + width) * 1 + (u > 1 / 15 + 2 * width) + (u > 1 / 15 + 3 * width)
    )
    s = (u - (1 / 15 + width * (piece + 0.5))) / (0.5 * width)
    table = np.asarray(TG_ERFC_TABLE)
    result = table[0][piece]
    for row in table[1:]:
        result = result * s + row[piece]
    return result


@helper("tg_erfc_scaled")
def tg_erfc(np: Any, x: Any) -> Any:
    """Complementary error function."""
    wide = np.positive(x, dtype="float64")
    a = np.minimum(np.abs(wide), 28.0)
    # a**2 rounded would cost the digits that exp() makes large: take it in two parts.
    high = np.positive(a.astype("float32"), dtype="float64")
    tail = (
        np.exp(-high * high) * np.exp((high - a) * (high + a)) * tg_erfc_scaled(np, a)
    )
    return np.where(x < 0, 2.0 - tail, tail).astype(x.dtype)


@helper("tg_erfc", "TG_ERF_SERIES", "TG_ERF_ABOVE", "TG_ERF_BELOW")
def tg_erf(np: Any, x: Any) -> Any:
    """Error function, in float64; float32 takes the shorter formula."""
    wide = np.positive(x, dtype="float64")
    if x.dtype == "float32":
        z = np.minimum(wide * wide, 16.0)
        above, below = TG_ERF_ABOVE[0] * z + TG_ERF_ABOVE[1], TG_ERF_BELOW[0] * z
        for coefficient in TG_ERF_ABOVE[2:]:
            above *= z
            above += coefficient
        for coefficient in TG_ERF_BELOW[1:]:
            below += coefficient
            below *= z
        above /= below + 1.0
        return (above * np.clip(wide, -4.0, 4.0)).astype(x.dtype)
    s = np.minimum(wide * wide, 1.0) * 2.0 - 1.0
    series = TG_ERF_SERIES[0] * s + TG_ERF_SERIES[1]
    for coefficient in TG_ERF_SERIES[2:]:
        series = series * s + coefficient
    outer = np.copysign(1.0 - tg_erfc(np, np.abs(wide)), wide)
    return np.where(np.abs(wide) < 1, wide * series, outer)


@helper("tg_erf", "tg_erfc", "TG_ERFINV_CENTRE", "TG_ERFINV_TAIL")
def tg_erfinv(np: Any, y: Any) -> Any:
    """Inverse error function: seven digits, then Newton's method on erf or log erfc."""
    a = np.abs(np.positive(y, dtype="float64"))
    w = -np.log((1.0 - a) * (1.0 + a))
    centre, tail = TG_ERFINV_CENTRE[0] + 0.0 * a, TG_ERFINV_TAIL[0] + 0.0 * a
    root = np.sqrt(np.maximum(w, 5.0)) - 3.0
    for c, t in zip(TG_ERFINV_CENTRE[1:], TG_ERFINV_TAIL[1:], strict=True):
        centre, tail = centre * (w - 2.5) + c, tail * root + t
    x = a * np.where(w < 5, centre, tail)
    for _ in range(4):
        rest = tg_erfc(np, x)
        error = np.where(a < 0.5, tg_erf(np, x) - a, rest * np.log((1.0 - a) / rest))
        x = x - error * (0.886226925452758 * np.exp(x * x))
    x = np.where(a == 1, np.inf, np.where(a > 1, np.nan, x))
    return np.copysign(x, y).astype(y.dtype)


@helper()
def tg_remainder(np: Any, a: Any, b: Any) -> Any:
    """Remainder with the sign of the divisor; a zero keeps the dividend's sign."""
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@helper()
def tg_integer_power(np: Any, a: Any, b: Any) -> Any:
    """Integer power that wraps; a negative exponent gives the integer part."""
    sign = np.where(b % 2 == 0, 1, -1).astype(a.dtype)
    inverse = np.where(a == 1, 1, np.where(a == -1, sign, 0)).astype(a.dtype)
    return np.where(b < 0, inverse, np.power(a, np.maximum(b, 0)))


@helper()
def tg_complex(np: Any, real: Any, imag: Any) -> Any:
    """Complex number of two parts, which may be infinite or NaN."""
    # The sum has the order of memory that an element-wise result has.
    wide = "complex64" if real.dtype == "float32" else "complex128"
    result = np.asarray(real + imag).astype(wide)
    result.real[...], result.imag[...] = real, imag
    return result


@helper("tg_complex")
def tg_nonfinite_parts(np: Any, z: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """Complex numbers with NaN and the infinities replaced in both parts."""
    parts = []
    for part in (np.real(z), np.imag(z)):
        finite = np.where(np.isneginf(part), neginf, part)
        finite = np.where(np.isposinf(part), posinf, finite)
        parts.append(np.where(np.isnan(part), nan, finite))
    return tg_complex(np, parts[0], parts[1])


@helper()
def tg_kept(np: Any, input: Any, condition: Any) -> Any:
    """Elements of floats where a condition holds, 0 elsewhere."""
    # As integers times 0 or 1: np.where's branch is often predicted wrongly, and as
    # floats 0 times inf were NaN, 0 times -1 were -0.
    bits = input.view("int32" if input.dtype.itemsize == 4 else "int64")
    return np.multiply(bits, condition).view(input.dtype)


@helper("tg_kept")
def tg_zeroed(np: Any, input: Any, condition: Any) -> Any:
    """Elements of floats, 0 where a condition holds."""
    return tg_kept(np, input, np.logical_not(condition))
