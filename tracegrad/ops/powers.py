"""Powers and roots."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import FUNCTIONS
from tracegrad.dispatch.rules import conjugate, times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bool_, complex128, float64, int64
from tracegrad.errors import ArgumentValueError, UnsupportedDTypeError
from tracegrad.ops._families import composite
from tracegrad.ops._functions import Choice, choosing
from tracegrad.ops._pointwise import as_precise_as, pointwise
from tracegrad.ops._promotion import Typed, Types, arithmetic, floating
from tracegrad.ops.casts import as_dtype
from tracegrad.ops.exponential import log
from tracegrad.ops.selection import where


def _counting(name: str, operands: tuple[Typed, ...], to: DType | None) -> Types:
    """Compute in the operands' dtype; bools count as int64."""
    dtypes, result = arithmetic(name, operands, to)
    return ((int64,), int64) if result is bool_ else (dtypes, result)


@pointwise(
    numpy="np.square({input})",
    c={
        "int": "({T})(1u * ({U}){input} * ({U}){input})",
        "float": "{input} * {input}",
    },
    promote=_counting,
)
def square(input: Tensor) -> Tensor:
    """Square of each element."""


square.derivative(input=times(lambda input: input * 2))


@pointwise(
    numpy="np.sqrt({input})",
    c={"float": "sqrt{f}({input})"},
    promote=floating,
    domain=(0.1, 4.0),
)
def sqrt(input: Tensor) -> Tensor:
    """Square root of each element; NaN for negative ones.

    The derivative at 0 is infinite.
    """


sqrt.derivative(input=times(lambda out: 0.5 / out))

_RSQRT = "np.reciprocal(np.sqrt({input}))"


@pointwise(
    numpy=_RSQRT,
    reference=lambda input: input**-0.5,
    c={"float": "1 / sqrt{f}({input})"},
    promote=floating,
    domain=(0.1, 4.0),
)
def rsqrt(input: Tensor) -> Tensor:
    """One divided by the square root of each element."""


rsqrt.derivative(input=times(lambda out: out * out * out * -0.5))


def _power(name: str, operands: tuple[Typed, ...], to: DType | None) -> Types:
    types = arithmetic(name, operands, to)
    if types[1] is bool_:
        raise UnsupportedDTypeError(
            f"{name} of bools is not defined; cast them to integers first"
        )
    return types


@pointwise(
    name="pow",
    numpy={
        "int": "tg_integer_power(np, {input}, {exponent})",
        "float": "np.power({input}, {exponent})",
        "complex": "np.power({input}, {exponent})",
    },
    c={
        "int": "tg_integer_power_{t}({input}, {exponent})",
        "float": "pow{f}({input}, {exponent})",
    },
    promote=_power,
    domain={"input": (0.3, 2.5), "exponent": (-2.0, 3.0)},
    public=False,
    method=False,
    inplace=False,
)
def power(input: Tensor, exponent: Tensor) -> Tensor:
    """Each element to the power of an exponent.

    Of integers, what a negative exponent gives is cut to an integer: 0 unless the
    base is 1 or -1.
    """


def _by_input(change: Any, input: Any, exponent: Any, bent: Any) -> Any:
    """Return ``change`` times d/dx x**p, which is 0 for p = 0 also where x = 0."""
    if not isinstance(exponent, Tensor) and exponent == 0:
        return change.zeros_like()
    moved = change * bent(exponent * input ** (exponent - 1))
    return where(exponent == 0, 0, moved) if isinstance(exponent, Tensor) else moved


def _by_exponent(input: Any, exponent: Any, out: Any) -> Any:
    """Return d/dp x**p = x**p log x; 0 where x = 0 and p >= 0."""
    base = as_precise_as(out, input)
    return where((base == 0) & (exponent.real >= 0), 0, out * log(base))


power.derivative(exponent=times(_by_exponent))
power.vjp(
    input=lambda ct, input, exponent: _by_input(ct, input, exponent, conjugate)
).jvp(input=lambda t, input, exponent: _by_input(t, input, exponent, lambda x: x))


_ROOTS = {0.5: sqrt, -0.5: rsqrt}


@choosing("pow")
def _pow(input: Any, exponent: Any) -> Choice:
    """Return ``input ** exponent``.

    Squares and square roots are computed as such: ``(-0.0) ** 0.5`` is -0.0, and
    ``(-inf) ** 0.5`` NaN.

    Parameters
    ----------
    input, exponent : Tensor or number, shapes that broadcast

    Raises
    ------
    ArgumentError
        If integers are raised to a negative integer number.
    DTypeError
        If both are bool.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.pow(tg.tensor([1, 2, 3]), 2).tolist()
    [1, 4, 9]
    """
    if not isinstance(input, Tensor) or isinstance(exponent, Tensor | bool):
        return Choice(power, (input, exponent))
    kind = input.dtype.kind
    if isinstance(exponent, int) and exponent < 0 and kind in ("bool", "int"):
        raise ArgumentValueError(
            f"pow: integers to the power {exponent} are no integers; cast the base to "
            "a floating dtype first"
        )
    if exponent == 2 and _keeps_dtype(kind, exponent):
        return Choice(square, (input,))
    if exponent in _ROOTS and kind != "complex":
        return Choice(_ROOTS[exponent], (input,))
    return Choice(power, (input, exponent))


def _keeps_dtype(kind: str, exponent: Any) -> bool:
    if isinstance(exponent, complex):
        return False
    return kind in ("float", "complex") or (kind == "int" and isinstance(exponent, int))


@composite(
    inplace=True,
    examples=lambda rng: [
        ((rng.uniform(0.3, 2.5, (3, 4)), rng.uniform(-2, 3, (3, 4))), {})
    ],
    reference=lambda input, exponent: input**exponent,
)
def float_power(input: Tensor, exponent: Tensor) -> Tensor:
    """Power computed in float64, or complex128."""
    return power(_double(input), _double(exponent))  # type: ignore[no-any-return]


def _double(x: Any) -> Any:
    if isinstance(x, Tensor):
        return as_dtype(x, complex128 if x.is_complex() else float64)
    return x if isinstance(x, complex) else float(x)


def reflected_pow(exponent: Any, input: Any) -> Any:
    """Return ``input ** exponent`` for Python's ``__rpow__``."""
    return power(input, exponent)


@composite(
    examples=lambda rng: [((rng.normal(size=(3, 4)), rng.uniform(-2, 3, (3, 4))), {})],
    reference=lambda input, other: input * 2**other,
)
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """``input * 2 ** other``."""
    return input * FUNCTIONS["pow"].function(2.0, other)  # type: ignore[no-any-return]
