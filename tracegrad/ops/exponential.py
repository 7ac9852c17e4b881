"""Exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._pointwise import as_precise_as, pointwise
from tracegrad.ops._promotion import arithmetic, floating
from tracegrad.ops.logistic import sigmoid
from tracegrad.ops.selection import where

_LN2 = math.log(2)
_LN10 = math.log(10)


@pointwise(numpy="np.exp({input})", c={"float": "exp{f}({input})"}, promote=floating)
def exp(input: Tensor) -> Tensor:
    """Exponential of each element.

    Source: NIST DLMF 4.2.19; derivative 4.7.4.
    """


exp.derivative(input=times(lambda out: out))


@pointwise(numpy="np.exp2({input})", c={"float": "exp2{f}({input})"}, promote=floating)
def exp2(input: Tensor) -> Tensor:
    """Two to the power of each element.

    Source: NIST DLMF 4.2.26; derivative 4.7.6.
    """


exp2.derivative(input=times(lambda out: out * _LN2))


@pointwise(
    numpy="np.expm1({input})", c={"float": "expm1{f}({input})"}, promote=floating
)
def expm1(input: Tensor) -> Tensor:
    """Exponential of each element less 1, exact near 0.

    Source: NIST DLMF 4.2.19; derivative 4.7.4.
    """


expm1.derivative(input=times(lambda out: out + 1))


@pointwise(
    numpy="np.log({input})",
    c={"float": "log{f}({input})"},
    promote=floating,
    domain=(0.1, 5.0),
)
def log(input: Tensor) -> Tensor:
    """Natural logarithm of each element.

    Source: NIST DLMF 4.2.2; derivative 4.7.1.
    """


log.derivative(input=times(lambda input: 1 / input))


@pointwise(
    numpy="np.log2({input})",
    c={"float": "log2{f}({input})"},
    promote=floating,
    domain=(0.1, 5.0),
)
def log2(input: Tensor) -> Tensor:
    """Logarithm to base 2 of each element.

    Source: NIST DLMF 4.2.10; derivative 4.7.1.
    """


log2.derivative(input=times(lambda input: 1 / (input * _LN2)))


@pointwise(
    numpy="np.log10({input})",
    c={"float": "log10{f}({input})"},
    promote=floating,
    domain=(0.1, 5.0),
)
def log10(input: Tensor) -> Tensor:
    """Logarithm to base 10 of each element.

    Source: NIST DLMF 4.2.15; derivative 4.7.1.
    """


log10.derivative(input=times(lambda input: 1 / (input * _LN10)))


@pointwise(
    numpy="np.log1p({input})",
    c={"float": "log1p{f}({input})"},
    promote=floating,
    domain=(-0.8, 3.0),
)
def log1p(input: Tensor) -> Tensor:
    """Natural logarithm of each element plus 1, exact near 0.

    Source: NIST DLMF 4.2.2; derivative 4.7.1.
    """


log1p.derivative(input=times(lambda input: 1 / (input + 1)))


@pointwise(
    numpy={"float": "np.logaddexp({input}, {other})"},
    c={"float": "tg_logaddexp_{t}({input}, {other})"},
    promote=arithmetic,
    commutative=True,
    inplace=False,
)
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """Logarithm of the sum of the exponentials of two tensors.

    Nothing overflows where the result does not.

    Source: N. Higham, "What is the log-sum-exp function?" (2021).
    """


logaddexp.derivative(
    input=times(lambda input, other: sigmoid(input - other)),
    other=times(lambda input, other: sigmoid(other - input)),
)


@pointwise(
    numpy={"float": "np.logaddexp2({input}, {other})"},
    promote=arithmetic,
    commutative=True,
    inplace=False,
)
def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """Logarithm to base 2 of the sum of two powers of 2, without overflow."""


logaddexp2.derivative(
    input=times(lambda input, other: sigmoid((input - other) * math.log(2))),
    other=times(lambda input, other: sigmoid((other - input) * math.log(2))),
)


@pointwise(
    numpy={
        "float": (
            "np.where(np.isnan({other}), {other}, np.where(np.equal({input}, 0), 0, "
            "np.multiply({input}, np.log({other}))))"
        )
    },
    c={"float": "tg_xlogy_{t}({input}, {other})"},
    reference=lambda input, other: input * math.log(other),
    promote=floating,
    domain=(0.2, 3.0),
)
def xlogy(input: Tensor, other: Tensor) -> Tensor:
    """``input * log(other)``, which is 0 where `input` is 0 and `other` not NaN."""


def _log_like(ct: Any, input: Any, other: Any) -> Any:
    """Return log(other) as precise as `ct`, 0 where xlogy is 0 around."""
    flat = (input == 0) & (other <= 0)
    return where(flat, 0, log(as_precise_as(ct, other)))


xlogy.vjp(
    input=lambda ct, input, other: ct * _log_like(ct, input, other),
    other=lambda ct, input, other: ct * (input / other),
).jvp(
    input=lambda t, input, other: t * _log_like(t, input, other),
    other=lambda t, input, other: t * (input / other),
)
