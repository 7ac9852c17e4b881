"""C functions that expressions call.

One text serves C and CUDA (NVRTC has no headers: no ``stdint.h``, no ``INFINITY``).
Each is total: integers wrap at their width, nothing traps, nothing is undefined.
"""

from __future__ import annotations

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
}
"""Helper functions by name.

In braces: ``{inline}``, the language's qualifier, and what the C family fills in for
any text (`tracegrad.codegen.c_family.types.fields`).
"""
