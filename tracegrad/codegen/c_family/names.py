"""C identifiers for the user's variables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import final

_WORD = re.compile(r"\w+")
_KEYWORDS = _WORD.findall("""
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t
char32_t class compl concept const const_cast consteval constexpr constinit continue
co_await co_return co_yield decltype default delete do double dynamic_cast else enum
explicit export extern false float for friend goto if inline int long mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires restrict return short signed sizeof static static_assert
static_cast struct switch template this thread_local throw true try typedef typeid
typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
linux unix main errno
""")
# A variable called like a function hides it: `const double exp = exp(x);` is an error.
_FUNCTIONS = _WORD.findall("""
abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc
erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp
hypot ilogb isfinite isinf isnan j0 j1 jn labs ldexp lgamma llabs llrint llround log
log10 log1p log2 logb lrint lround max min modf nan nearbyint nextafter norm normcdf
pow rcbrt remainder remquo rhypot rint round rsqrt scalbln scalbn signbit sin sincos
sinh sinpi sqrt tan tanh tgamma trunc y0 y1 yn
""")
# Functions of emitted sources begin like this.
_PREFIXES = ("tg_", "warp_", "block_", "column_")
RESERVED = frozenset(_KEYWORDS) | frozenset(_FUNCTIONS) | {f + "f" for f in _FUNCTIONS}


@final
class CNames:
    """Gives identifiers that are unique, plain ASCII, and hide nothing.

    Parameters
    ----------
    reserved : iterable of str
        Names that are taken.
    """

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._used = {*RESERVED, *reserved}

    def unique(self, hint: str) -> str:
        """Return an identifier that was not given before."""
        base = re.sub(r"\W", "_", hint, flags=re.ASCII).strip("_") or "v"
        base = re.sub(r"__+", "_", base)
        if base[0].isdigit() or base.startswith(_PREFIXES):
            base = "v_" + base
        name, count = base, 0
        while name in self._used:
            count += 1
            name = f"{base}_{count}"
        self._used.add(name)
        return name
