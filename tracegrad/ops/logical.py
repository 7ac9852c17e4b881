"""Logic on elements: zero is false, everything else true (NaN too)."""

from __future__ import annotations

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import asking


def _c(text: str) -> dict[str, str]:
    return {"bool": text, "int": text, "float": text}


@pointwise(
    numpy="np.logical_and({input}, {other})",
    c=_c("{input} != 0 && {other} != 0"),
    promote=asking,
    commutative=True,
)
def logical_and(input: Tensor, other: Tensor) -> Tensor:
    """Whether both elements are true."""


@pointwise(
    numpy="np.logical_or({input}, {other})",
    c=_c("{input} != 0 || {other} != 0"),
    promote=asking,
    commutative=True,
)
def logical_or(input: Tensor, other: Tensor) -> Tensor:
    """Whether at least one element is true."""


@pointwise(
    numpy="np.logical_xor({input}, {other})",
    c=_c("({input} != 0) != ({other} != 0)"),
    promote=asking,
    commutative=True,
)
def logical_xor(input: Tensor, other: Tensor) -> Tensor:
    """Whether exactly one element is true."""


@pointwise(
    numpy="np.logical_not({input})",
    c=_c("{input} == 0"),
    promote=asking,
)
def logical_not(input: Tensor) -> Tensor:
    """Whether each element is false."""
