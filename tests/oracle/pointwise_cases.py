"""Which operators are compared with PyTorch, at which points, and where they differ."""

import itertools
import math

NAN, INF = math.nan, math.inf

HARD = (
    NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 6.0, -6.0,
    1.5, 2.5, 3.7, 1e-3, -1e-3, 30.0, -30.0, 100.0, -1000.0, 1e-30, 1e30, 0.9999,
)  # fmt: skip
"""Kinks, singular points, ties of rounding, and numbers that overflow or vanish."""

PAIRS = tuple(zip(*itertools.product(HARD, HARD), strict=True))

UNARY = (
    "neg abs sign sgn reciprocal square sqrt rsqrt exp exp2 expm1 log log2 log10 log1p "
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinc erf erfc erfinv "
    "sigmoid logit floor ceil trunc round frac nan_to_num angle deg2rad rad2deg positive "
    "relu relu6 leaky_relu elu selu celu gelu silu mish softplus logsigmoid hardtanh "
    "hardsigmoid hardswish softsign hardshrink softshrink tanhshrink isnan isinf isfinite "
    "isposinf isneginf isreal signbit logical_not"
).split()
BINARY = (
    "add sub mul div floor_divide remainder fmod pow float_power atan2 hypot copysign "
    "logaddexp xlogy maximum minimum fmax fmin eq ne lt le gt ge logical_and logical_or "
    "logical_xor isclose"
).split()
INTEGER = (
    "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split()
)
COMPLEX = (
    "neg sgn abs reciprocal square sqrt rsqrt exp log log2 log10 sin cos tan asin acos "
    "atan sinh cosh tanh asinh acosh atanh sinc sigmoid angle conj exp2 log1p expm1 real "
    "imag"
).split()
COMPLEX_PAIRS = "add sub mul div pow".split()
ALIASES = (
    "arcsin arccos arctan arctan2 arcsinh arccosh arctanh absolute negative subtract "
    "multiply divide true_divide fix not_equal less less_equal greater greater_equal clip"
).split()

# Where PyTorch 2.13 is not followed, and why.
SIGN_OF_ZERO = {
    "relu": "the sign of max(-0.0, 0.0) is left open by IEEE 754; NumPy gives 0.0",
    "relu6": "as relu",
    "fmax": "PyTorch's depends on the place in the vector",
    "fmin": "as fmax",
    "softshrink": "PyTorch's depends on the place in the vector",
}
FLOAT32_VALUES = {
    "gelu": "PyTorch's float32 formula loses digits and gives NaN for inf",
    "remainder": "PyTorch gives NaN where the quotient overflows",
    "fmod": "as remainder",
}
FIRST = {
    "sinc": "PyTorch loses digits near 0",
    "hardsigmoid": "PyTorch's 1/6 is a float32",
    "fmax": "ties share evenly, as PyTorch 2.14 has it",
    "fmin": "as fmax",
    "hardshrink": "at NaN only",
    "softshrink": "at NaN only",
    "copysign": "at NaN and infinities; PyTorch divides by the input",
}
SECOND = FIRST | {
    "mish": "PyTorch gives NaN where the slope is level",
    "logsigmoid": "PyTorch cancels digits",
    "atan2": "PyTorch gives NaN at the origin, and loses digits",
    "hypot": "both cancel digits",
    "logaddexp": "PyTorch gives NaN where the slope is level",
    "hardswish": "at NaN only",
}
