"""Rounding and signs."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.argument_errors import wrong_type
from tracegrad.dispatch.rules import conjugate, identity, times, zero
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import DTypeError
from tracegrad.ops._functions import Choice, aliases, choosing
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating, real_part
from tracegrad.ops.selection import where

# Where the derivative exists, it is 0; tests keep away from the steps.
_BETWEEN = (0.1, 0.4)


@pointwise(
    numpy={"int": "{input}", "float": "np.floor({input})"},
    c={"int": "{input}", "float": "floor{f}({input})"},
    domain=_BETWEEN,
)
def floor(input: Tensor) -> Tensor:
    """Largest integer not above each element."""


@pointwise(
    numpy={"int": "{input}", "float": "np.ceil({input})"},
    c={"int": "{input}", "float": "ceil{f}({input})"},
    domain=_BETWEEN,
)
def ceil(input: Tensor) -> Tensor:
    """Smallest integer not below each element."""


@pointwise(
    numpy={"int": "{input}", "float": "np.trunc({input})"},
    c={"int": "{input}", "float": "trunc{f}({input})"},
    domain=_BETWEEN,
)
def trunc(input: Tensor) -> Tensor:
    """Integer part of each element."""


@pointwise(
    name="round",
    numpy={"int": "{input}", "float": "np.rint({input})"},
    c={"int": "{input}", "float": "rint{f}({input})"},
    domain=_BETWEEN,
    public=False,
    method=False,
    inplace=False,
)
def round_to_even(input: Tensor) -> Tensor:
    """Nearest integer, the even one where two are near."""


@pointwise(
    numpy={
        "float": (
            "np.divide(np.multiply(np.rint(np.divide(np.multiply({input}, {up}), "
            "{down})), {down}), {up})"
        )
    },
    c={"float": "rint{f}({input} * {up} / {down}) * {down} / {up}"},
    domain=_BETWEEN,
    reference=lambda input, up, down: round(input * up / down) * down / up,
    examples=lambda rng: [
        ((rng.uniform(0.11, 0.14, (3, 4)),), {"up": 10.0, "down": 1.0}),
        ((rng.uniform(11.0, 14.0, (3, 4)),), {"up": 1.0, "down": 10.0}),
    ],
    public=False,
    method=False,
    inplace=False,
)
def round_to_multiple(input: Tensor, up: float, down: float) -> Tensor:
    """Nearest multiple of ``down / up``, one of which is 1."""


for _operator in (floor, ceil, trunc, round_to_even, round_to_multiple):
    _operator.derivative(input=zero())

aliases(fix=trunc)


@choosing("round")
def _round(input: Any, *, decimals: int = 0) -> Choice:
    """Round to a number of decimals, half to even.

    Parameters
    ----------
    input : Tensor
    decimals : int
        Negative for tens, hundreds, …

    Raises
    ------
    DTypeError
        If `decimals` is given for integers, or `input` is bool.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.round(tg.tensor([0.5, 1.5, 2.5])).tolist()
    [0.0, 2.0, 2.0]
    """
    if not isinstance(decimals, int):
        raise wrong_type("round", "decimals", "int", decimals)
    if decimals == 0:
        return Choice(round_to_even, (input,))
    if isinstance(input, Tensor) and input.dtype.kind != "float":
        raise DTypeError(
            f"round: decimals need a floating tensor, not {input.dtype.name}"
        )
    up, down = 10.0 ** max(decimals, 0), 10.0 ** max(-decimals, 0)
    return Choice(round_to_multiple, (input,), {"up": up, "down": down})


@pointwise(
    numpy={"float": "np.subtract({input}, np.trunc({input}))"},
    c={"float": "{input} - trunc{f}({input})"},
    reference=lambda input: input % 1,
    domain=_BETWEEN,
)
def frac(input: Tensor) -> Tensor:
    """What is left of each element without its integer part, with its sign."""


frac.derivative(input=identity())


# -- signs --------------------------------------------------------------------------

_SIGN = "np.sign(np.where(np.isnan({input}), 0, {input}))"


@pointwise(
    numpy={"bool": "{input}", "int": "np.sign({input})", "float": _SIGN},
    c={
        "bool": "{input}",
        "any": "({T})(({input} > 0) - ({input} < 0))",
    },
    domain=(0.5, 3.0),
)
def sign(input: Tensor) -> Tensor:
    """-1, 0 or 1; 0 for NaN and -0.0."""


sign.derivative(input=zero())

_SGN = (
    "np.where(np.equal({input}, 0), 0, "
    "np.divide({input}, np.where(np.equal({input}, 0), 1, np.abs({input}))))"
)


@pointwise(
    reference=lambda input: input / abs(input),
    numpy={
        "bool": "{input}",
        "int": "np.sign({input})",
        "float": _SIGN,
        "complex": _SGN,
    },
    c={
        "bool": "{input}",
        "int": "({T})(({input} > 0) - ({input} < 0))",
        "float": "({T})(({input} > 0) - ({input} < 0))",
    },
    domain=(0.5, 3.0),
)
def sgn(input: Tensor) -> Tensor:
    """Sign of each element; of a complex one, the direction, with length 1."""


def _along(change: Any, input: Any, out: Any) -> Any:
    """Return the part of a change that turns `input`, over its length.

    The derivative of z / |z| is symmetric as a real linear map: it serves both ways.
    """
    if not input.is_complex():
        return change.zeros_like()
    length = abs(input)
    nowhere = length == 0
    across = change - (change * out.conj()).real * out
    return where(nowhere, 0, across / where(nowhere, 1, length))


sgn.vjp(input=lambda ct, input, out: _along(ct, input, out)).jvp(
    input=lambda t, input, out: _along(t, input, out)
)


@pointwise(
    name="abs",
    numpy={
        "int": "np.abs({input})",
        "float": "np.abs({input})",
        "complex": "np.abs({input})",
    },
    c={
        "uint": "{input}",
        "int": "{input} < 0 ? ({T})(0u - ({U}){input}) : {input}",
        "float": "fabs{f}({input})",
    },
    promote=real_part,
    domain=(0.5, 3.0),
)
def absolute(input: Tensor) -> Tensor:
    """Distance of each element from 0; the smallest integer stays what it is.

    The derivative at 0 is 0.
    """


absolute.vjp(input=lambda ct, input: ct * sgn(input)).jvp(
    input=lambda t, input: (t * conjugate(sgn(input))).real
)

aliases(absolute=absolute)


@pointwise(
    numpy={"float": "np.copysign({input}, {other})"},
    c={"float": "copysign{f}({input}, {other})"},
    promote=floating,
    domain=(0.5, 3.0),
)
def copysign(input: Tensor, other: Tensor) -> Tensor:
    """Elements of `input` with the signs of `other`."""


def _flipped(input: Any, out: Any) -> Any:
    """Return 1, -1 where the sign was changed, 0 at 0."""
    return sgn(input) * sgn(out)


copysign.derivative(input=times(_flipped), other=zero())
