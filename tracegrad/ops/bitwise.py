"""Bits of integers."""

from __future__ import annotations

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import integral


def _both(text: str) -> dict[str, str]:
    return {"bool": text, "int": text}


@pointwise(
    numpy=_both("np.bitwise_and({input}, {other})"),
    c=_both("{input} & {other}"),
    promote=integral,
    commutative=True,
)
def bitwise_and(input: Tensor, other: Tensor) -> Tensor:
    """Bits that both elements have; of bools, "and"."""


@pointwise(
    numpy=_both("np.bitwise_or({input}, {other})"),
    c=_both("{input} | {other}"),
    promote=integral,
    commutative=True,
)
def bitwise_or(input: Tensor, other: Tensor) -> Tensor:
    """Bits that at least one element has; of bools, "or"."""


@pointwise(
    numpy=_both("np.bitwise_xor({input}, {other})"),
    c=_both("{input} ^ {other}"),
    promote=integral,
    commutative=True,
)
def bitwise_xor(input: Tensor, other: Tensor) -> Tensor:
    """Bits that exactly one element has; of bools, "exclusive or"."""


@pointwise(
    numpy=_both("np.invert({input})"),
    c={"bool": "!{input}", "int": "({T})~{input}"},
    promote=integral,
)
def bitwise_not(input: Tensor) -> Tensor:
    """All bits inverted; of bools, "not"."""


@pointwise(
    numpy={"int": "np.left_shift({input}, {other})"},
    c={"int": "tg_shift_left_{t}({input}, {other})"},
    promote=integral,
)
def bitwise_left_shift(input: Tensor, other: Tensor) -> Tensor:
    """Bits moved up; 0 for a count that is negative or not below the width."""


@pointwise(
    numpy={"int": "np.right_shift({input}, {other})"},
    c={"int": "tg_shift_right_{t}({input}, {other})"},
    promote=integral,
)
def bitwise_right_shift(input: Tensor, other: Tensor) -> Tensor:
    """Bits moved down, the sign repeated.

    A count that is negative or not below the width gives the sign alone: 0 or -1.
    """
