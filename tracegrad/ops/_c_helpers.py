"""C functions that expressions call, and the C names of element types.

One text serves C and CUDA (NVRTC has no headers: no ``stdint.h``, no ``INFINITY``).
Each is total: integers wrap at their width, nothing traps, nothing is undefined.
"""

from __future__ import annotations

from tracegrad.dtypes import DType
from tracegrad.errors import ArgumentError

C_TYPES = {
    "bool": "unsigned char",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "float32": "float",
    "float64": "double",
}
_UNSIGNED = {
    1: "unsigned char",
    2: "unsigned short",
    4: "unsigned int",
    8: "unsigned long long",
}
_LEAST = {
    "uint8": "0",
    "bool": "0",
    "int8": "-128",
    "int16": "-32768",
    "int32": "(-2147483647 - 1)",
    "int64": "(-9223372036854775807ll - 1)",
}

C_HELPERS: dict[str, str] = {
    "tg_floor_divide": """
{inline} {T} tg_floor_divide_{t}({T} a, {T} b) {
    if (b == 0) return 0;
    if (b == ({T})-1 && {signed}) return ({T})(0u - ({U})a);
    {T} quotient = a / b;
    return ({T})(quotient - (a % b != 0 && (a < 0) != (b < 0)));
}
""",
    "tg_truncate_divide": """
{inline} {T} tg_truncate_divide_{t}({T} a, {T} b) {
    if (b == 0) return 0;
    if (b == ({T})-1 && {signed}) return ({T})(0u - ({U})a);
    return ({T})(a / b);
}
""",
    "tg_integer_remainder": """
{inline} {T} tg_integer_remainder_{t}({T} a, {T} b) {
    if (b == 0 || (b == ({T})-1 && {signed})) return 0;
    {T} rest = a % b;
    return ({T})(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}
""",
    "tg_integer_fmod": """
{inline} {T} tg_integer_fmod_{t}({T} a, {T} b) {
    return b == 0 || (b == ({T})-1 && {signed}) ? 0 : ({T})(a % b);
}
""",
    "tg_float_floor_divide": """
{inline} {T} tg_float_floor_divide_{t}({T} a, {T} b) {
    if (b == 0) return a / b;
    {T} rest = fmod{f}(a, b);
    {T} quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return copysign{f}(({T})0, a / b);
    {T} whole = floor{f}(quotient);
    return quotient - whole > ({T})0.5 ? whole + 1 : whole;
}
""",
    "tg_remainder": """
{inline} {T} tg_remainder_{t}({T} a, {T} b) {
    {T} rest = fmod{f}(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
""",
    "tg_integer_power": """
{inline} {T} tg_integer_power_{t}({T} base, {T} exponent) {
    if (exponent < 0) {
        if (base == 1) return 1;
        if (base == ({T})-1) return exponent % 2 == 0 ? 1 : ({T})-1;
        return 0;
    }
    unsigned long long result = 1, factor = (unsigned long long)base;
    for ({T} left = exponent; left > 0; left = ({T})(left / 2)) {
        if (left % 2) result *= factor;
        factor *= factor;
    }
    return ({T})result;
}
""",
    "tg_shift_left": """
{inline} {T} tg_shift_left_{t}({T} a, {T} count) {
    return count < 0 || count >= {bits} ? 0 : ({T})((unsigned long long)a << count);
}
""",
    "tg_shift_right": """
{inline} {T} tg_shift_right_{t}({T} a, {T} count) {
    if (count < 0 || count >= {bits}) return a < 0 ? ({T})-1 : 0;
    return ({T})(a >> count);
}
""",
    "tg_maximum": """
{inline} {T} tg_maximum_{t}({T} a, {T} b) {
    return a > b || a != a ? a : b;
}
""",
    "tg_minimum": """
{inline} {T} tg_minimum_{t}({T} a, {T} b) {
    return a < b || a != a ? a : b;
}
""",
    "tg_logaddexp": """
{inline} {T} tg_logaddexp_{t}({T} a, {T} b) {
    if (a == b) return a + ({T})0.693147180559945309;
    {T} gap = a - b;
    if (gap > 0) return a + log1p{f}(exp{f}(-gap));
    return gap <= 0 ? b + log1p{f}(exp{f}(gap)) : gap;
}
""",
    "tg_xlogy": """
{inline} {T} tg_xlogy_{t}({T} a, {T} b) {
    if (b != b) return b;
    return a == 0 ? 0 : a * log{f}(b);
}
""",
    "tg_sinc": """
{inline} {T} tg_sinc_{t}({T} a) {
    {T} angle = ({T})3.14159265358979323846 * a;
    return a == 0 ? 1 : sin{f}(angle) / angle;
}
""",
    "tg_erfinv": """
{inline} {T} tg_erfinv_{t}({T} value) {
    double y = value, a = fabs(y);
    if (a > 1) return ({T})sqrt(-a);
    if (a == 1) return ({T})(y / (1 - a));
    double w = -log((1 - a) * (1 + a)), p;
    if (w < 5) {
        double s = w - 2.5;
        p = 2.81022636e-08;
        p = p * s + 3.43273939e-07;
        p = p * s - 3.5233877e-06;
        p = p * s - 4.39150654e-06;
        p = p * s + 0.00021858087;
        p = p * s - 0.00125372503;
        p = p * s - 0.00417768164;
        p = p * s + 0.246640727;
        p = p * s + 1.50140941;
    } else {
        double s = sqrt(w) - 3;
        p = -0.000200214257;
        p = p * s + 0.000100950558;
        p = p * s + 0.00134934322;
        p = p * s - 0.00367342844;
        p = p * s + 0.00573950773;
        p = p * s - 0.0076224613;
        p = p * s + 0.00943887047;
        p = p * s + 1.00167406;
        p = p * s + 2.83297682;
    }
    double x = a * p;
    for (int step = 0; step < 4; ++step) {
        double rest = erfc(x);
        double error = a < 0.5 ? erf(x) - a : rest * log((1 - a) / rest);
        x -= error * (0.886226925452758 * exp(x * x));
    }
    return ({T})copysign(x, y);
}
""",
    "tg_cast": """
{inline} {R} tg_cast_{t}_{r}({T} value) {
    {W} wide = value >= -{limit} && value < {limit} ? ({W})value : {least};
    return ({R})wide;
}
""",
}
"""Helper functions by name. In braces: ``{inline}``, and what `c_fields` gives."""


def c_fields(dtype: DType, result: DType) -> dict[str, str]:
    """Return what stands for the placeholders of C texts.

    Parameters
    ----------
    dtype : DType
        What the operator computes in; not a half type, nor complex.
    result : DType
        The result's.

    Raises
    ------
    ArgumentError
        If a dtype has no C type.
    """
    for given in (dtype, result):
        if given.name not in C_TYPES:
            raise ArgumentError(f"{given.name} has no C type to compute in")
    wide = "int64" if result.name in ("int64", "uint8") else "int32"
    return {
        "T": C_TYPES[dtype.name],
        "R": C_TYPES[result.name],
        "U": _UNSIGNED[dtype.itemsize],
        "W": C_TYPES[wide],
        "t": dtype.code,
        "r": result.code,
        "f": "f" if dtype.name == "float32" else "",
        "bits": str(8 * dtype.itemsize),
        "signed": str(int(dtype.signed)),
        "limit": "2147483648.0" if wide == "int32" else "9223372036854775808.0",
        "least": _LEAST[wide],
    }


def filled(text: str, dtype: DType, result: DType) -> str:
    """Return a C text with the placeholders of `c_fields` replaced.

    Examples
    --------
    >>> from tracegrad.dtypes import float32
    >>> filled("exp{f}({input})", float32, float32)
    'expf({input})'
    """
    for name, value in c_fields(dtype, result).items():
        text = text.replace("{" + name + "}", value)
    return text
