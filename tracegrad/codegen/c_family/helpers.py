"""Small functions that rendered expressions call.

Texts are those of the C family; ``{inline}`` is the language's qualifier. They are
total: no undefined conversion, no trap.
"""

from __future__ import annotations

import re
from typing import final

from tracegrad.codegen.c_family.language import Language

_HALF = """
{inline} float tg_f16_load(unsigned short bits) {
    const unsigned int sign = (unsigned int)(bits & 0x8000) << 16;
    const unsigned int exponent = (bits >> 10) & 31;
    const unsigned int mantissa = bits & 1023;
    if (exponent == 0) {
        const float magnitude = (float)mantissa * 5.9604644775390625e-08f;
        return sign ? -magnitude : magnitude;
    }
    const unsigned int wide = exponent == 31 ? 255 : exponent + 112;
    return tg_float(sign | (wide << 23) | (mantissa << 13));
}
"""
# Rounds to nearest, ties to even, at the eleventh bit, or at 2^-24 below 2^-14.
_HALF_STORE = """
{inline} unsigned short tg_f16_store(float value) {
    const unsigned int bits = tg_bits(value);
    const unsigned int sign = (bits >> 16) & 0x8000;
    unsigned int magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
        return (unsigned short)(sign | 0x7e00 | ((magnitude >> 13) & 0x1ff));
    }
    if (magnitude >= 0x477ff000) return (unsigned short)(sign | 0x7c00);
    if (magnitude >= 0x38800000) {
        magnitude += 0xfff + ((magnitude >> 13) & 1);
        return (unsigned short)(sign | ((magnitude - 0x38000000) >> 13));
    }
    if (magnitude <= 0x33000000) return (unsigned short)sign;
    const unsigned int shift = 126 - (magnitude >> 23);
    const unsigned int mantissa = (magnitude & 0x7fffff) | 0x800000;
    const unsigned int rest = mantissa & ((1u << shift) - 1);
    const unsigned int half = 1u << (shift - 1);
    unsigned int found = mantissa >> shift;
    if (rest > half || (rest == half && (found & 1))) found += 1;
    return (unsigned short)(sign | found);
}
"""
_BRAIN_STORE = """
{inline} unsigned short tg_bf16_store(float value) {
    const unsigned int bits = tg_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) {
        return (unsigned short)((bits >> 16) | 0x40);
    }
    return (unsigned short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
"""
# A double is cut to a float whose last bit is set where something was cut off: the
# second rounding then cannot see a tie that is none.
_ROUND_TO_ODD = """
{inline} float tg_round_to_odd(double value) {
    const float near = (float)value;
    if ((double)near == value || value != value) return near;
    unsigned int bits = tg_bits(near);
    const double magnitude = value < 0 ? -value : value;
    const double found = near < 0 ? -(double)near : (double)near;
    if (found > magnitude) bits -= 1;
    return tg_float(bits | 1);
}
"""

_COMPLEX_TYPE = """
struct {align} tg_{t} {
    {P} re;
    {P} im;
};
{inline} tg_{t} operator+(tg_{t} a, tg_{t} b) {
    return tg_{t}{a.re + b.re, a.im + b.im};
}
{inline} tg_{t} operator-(tg_{t} a, tg_{t} b) {
    return tg_{t}{a.re - b.re, a.im - b.im};
}
{inline} tg_{t} operator-(tg_{t} a) { return tg_{t}{-a.re, -a.im}; }
{inline} tg_{t} operator*(tg_{t} a, tg_{t} b) {
    return tg_{t}{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
{inline} tg_{t} operator/(tg_{t} a, tg_{t} b) {
    // Smith's method, "Algorithm 116: complex division", CACM 5 (1962).
    const {P} size_re = b.re < 0 ? -b.re : b.re;
    const {P} size_im = b.im < 0 ? -b.im : b.im;
    if (size_re >= size_im) {
        if (size_re == 0 && size_im == 0) return tg_{t}{a.re / size_re, a.im / size_re};
        const {P} ratio = b.im / b.re;
        const {P} scale = 1 / (b.re + b.im * ratio);
        return tg_{t}{(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const {P} ratio = b.re / b.im;
    const {P} scale = 1 / (b.im + b.re * ratio);
    return tg_{t}{(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
{inline} bool operator==(tg_{t} a, tg_{t} b) { return a.re == b.re && a.im == b.im; }
{inline} bool operator!=(tg_{t} a, tg_{t} b) { return !(a == b); }
"""


def _complex_type(code: str, part: str, align: int) -> str:
    text = _COMPLEX_TYPE.replace("{t}", code).replace("{P}", part)
    return text.replace("{align}", f"__align__({align})")


def _to_integer(source: str, part: str, wide: str, code: str, limit: str) -> str:
    least = "(-2147483647 - 1)" if code == "i32" else "(-9223372036854775807ll - 1)"
    return (
        f"{{inline}} {wide} tg_{code}_of_{source}({part} value) {{\n"
        f"    return value >= -{limit} && value < {limit} ? ({wide})value : {least};\n"
        "}\n"
    )


HELPERS: dict[str, str] = {
    "tg_f16_load": _HALF,
    "tg_f16_store": _HALF_STORE,
    "tg_bf16_load": (
        "{inline} float tg_bf16_load(unsigned short bits) {\n"
        "    return tg_float((unsigned int)bits << 16);\n}\n"
    ),
    "tg_bf16_store": _BRAIN_STORE,
    "tg_f16_round": (
        "{inline} float tg_f16_round(float value) {\n"
        "    return tg_f16_load(tg_f16_store(value));\n}\n"
    ),
    "tg_bf16_round": (
        "{inline} float tg_bf16_round(float value) {\n"
        "    return tg_bf16_load(tg_bf16_store(value));\n}\n"
    ),
    "tg_round_to_odd": _ROUND_TO_ODD,
    "tg_c64": _complex_type("c64", "float", 8),
    "tg_c128": _complex_type("c128", "double", 16),
    "tg_i32_of_f32": _to_integer("f32", "float", "int", "i32", "2147483648.0f"),
    "tg_i32_of_f64": _to_integer("f64", "double", "int", "i32", "2147483648.0"),
    "tg_i64_of_f32": _to_integer(
        "f32", "float", "long long", "i64", "9223372036854775808.0f"
    ),
    "tg_i64_of_f64": _to_integer(
        "f64", "double", "long long", "i64", "9223372036854775808.0"
    ),
}
"""The family's own; operators bring further ones."""

_NAME = re.compile(r"\btg_\w+")


@final
class Helpers:
    """The helper functions that one source needs, each once.

    Parameters
    ----------
    language : Language
    basic : dict of str to str
        Helpers that the language spells in its own way: ``tg_bits`` and ``tg_float``.
    """

    def __init__(self, language: Language, basic: dict[str, str]) -> None:
        self.language = language
        self._texts = HELPERS | basic
        self._found: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """Note that the helper `name` is needed, and what it calls; return the name."""
        if name not in self._found:
            self.add(name, self._texts[name])
        return name

    def add(self, name: str, text: str) -> str:
        """Note a function with its text; return its name."""
        if name in self._found:
            return name
        for called in dict.fromkeys(_NAME.findall(text)):
            if called != name and called in self._texts:
                self(called)
        self._found[name] = text.replace("{inline}", self.language.inline).strip()
        return name

    def texts(self) -> list[str]:
        """Return the functions, each after those that it calls."""
        return list(self._found.values())
