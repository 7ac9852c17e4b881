"""Quotients and remainders."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.rules import conjugate, identity, none, times, zero
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentValueError
from tracegrad.ops._functions import Choice, choosing
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating


@pointwise(
    numpy="np.true_divide({input}, {other})",
    c={"float": "{input} / {other}"},
    promote=floating,
    domain=(0.5, 3.0),
    method=False,
)
def div(input: Tensor, other: Tensor) -> Tensor:
    """Quotient of two tensors, floating also for integers."""


# Not `1 / other`, which for an integer divisor would be of the default float.
div.vjp(
    input=lambda ct, other: ct / conjugate(other),
    other=lambda ct, input, other: ct * conjugate(-(input / other) / other),
).jvp(
    input=lambda t, other: t / other,
    other=lambda t, input, other: t * (-(input / other) / other),
)


@pointwise(
    numpy={
        "int": "np.floor_divide({input}, {other})",
        "float": "np.floor_divide({input}, {other})",
    },
    c={
        "int": "tg_floor_divide_{t}({input}, {other})",
        "float": "tg_float_floor_divide_{t}({input}, {other})",
    },
    fails={"int": "{other} == 0"},
    domain=(0.5, 3.0),
)
def floor_divide(input: Tensor, other: Tensor) -> Tensor:
    """Quotient rounded down, also of integers; it has no derivative.

    An integer divided by zero raises a DivisionError; the smallest integer divided
    by -1 wraps to itself. A float divided by zero is what ``/`` gives.
    """


_NO_FLOOR = none(
    "floor_divide (//) has no derivative; use div(…, rounding_mode='floor'), whose "
    "derivative is 0"
)
floor_divide.derivative(input=_NO_FLOOR, other=_NO_FLOOR)


@pointwise(
    reference=lambda input, other: input // other,
    numpy=floor_divide.facts["pointwise"].numpy,
    c=floor_divide.facts["pointwise"].c,
    fails={"int": "{other} == 0"},
    domain=(0.5, 3.0),
    public=False,
    method=False,
    inplace=False,
)
def div_floor(input: Tensor, other: Tensor) -> Tensor:
    """Quotient rounded down, with derivative 0."""


div_floor.derivative(input=zero(), other=zero())


@pointwise(
    numpy={
        # Minus the remainder first: then nothing is left to round.
        "int": (
            "np.floor_divide(np.subtract({input}, np.fmod({input}, {other})), {other})"
        ),
        "float": "np.trunc(np.true_divide({input}, {other}))",
    },
    c={
        "int": "tg_truncate_divide_{t}({input}, {other})",
        "float": "trunc{f}({input} / {other})",
    },
    reference=lambda input, other: math.trunc(input / other),
    fails={"int": "{other} == 0"},
    domain=(0.5, 3.0),
    public=False,
    method=False,
    inplace=False,
)
def div_trunc(input: Tensor, other: Tensor) -> Tensor:
    """Quotient rounded towards zero, with derivative 0."""


div_trunc.derivative(input=zero(), other=zero())

_DIVISIONS = {None: div, "floor": div_floor, "trunc": div_trunc}


def _div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Choice:
    """Return ``input / other``, rounded if asked.

    Parameters
    ----------
    input, other : Tensor or number, shapes that broadcast
    rounding_mode : {None, "floor", "trunc"}
        Without it integers give floats.

    Raises
    ------
    DivisionError
        If an integer is divided by zero in a rounding mode.
    ArgumentValueError
        If the mode is unknown.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.div(tg.tensor([-7, 7]), 2, rounding_mode="trunc").tolist()
    [-3, 3]
    """
    if rounding_mode not in _DIVISIONS:
        raise ArgumentValueError(
            "div: rounding_mode must be None, 'floor' or 'trunc', not "
            f"{rounding_mode!r}"
        )
    return Choice(_DIVISIONS[rounding_mode], (input, other))


choosing("div")(_div)
choosing("divide")(_div)


@choosing("true_divide")
def _true_divide(input: Any, other: Any) -> Choice:
    """Return ``input / other``, floating also for integers."""
    return Choice(div, (input, other))


@pointwise(
    numpy={
        "int": "np.remainder({input}, {other})",
        "float": "tg_remainder(np, {input}, {other})",
    },
    c={
        "int": "tg_integer_remainder_{t}({input}, {other})",
        "float": "tg_remainder_{t}({input}, {other})",
    },
    fails={"int": "{other} == 0"},
    domain={"input": (0.1, 0.9), "other": (1.1, 3.0)},
)
def remainder(input: Tensor, other: Tensor) -> Tensor:
    """Remainder with the sign of the divisor, as Python's ``%``."""


remainder.derivative(
    input=identity(), other=times(lambda input, other: -div_floor(input, other))
)


@pointwise(
    numpy={
        "int": "np.fmod({input}, {other})",
        "float": "np.fmod({input}, {other})",
    },
    c={
        "int": "tg_integer_fmod_{t}({input}, {other})",
        "float": "fmod{f}({input}, {other})",
    },
    fails={"int": "{other} == 0"},
    domain={"input": (3.1, 3.9), "other": (1.1, 1.5)},
)
def fmod(input: Tensor, other: Tensor) -> Tensor:
    """Remainder with the sign of the dividend, as C's ``fmod``."""


fmod.derivative(
    input=identity(), other=times(lambda input, other: -div_trunc(input, other))
)


@pointwise(
    numpy="np.reciprocal({input})",
    c={"float": "1 / {input}"},
    promote=floating,
    domain=(0.5, 3.0),
)
def reciprocal(input: Tensor) -> Tensor:
    """One divided by each element."""


reciprocal.derivative(input=times(lambda out: -out * out))
