"""Comparison of elements."""

from __future__ import annotations

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._functions import aliases
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import comparing


def _real_only(text: str) -> dict[str, str]:
    return {"bool": text, "int": text, "float": text}


@pointwise(
    numpy="np.equal({input}, {other})",
    c=_real_only("{input} == {other}"),
    promote=comparing,
    commutative=True,
)
def eq(input: Tensor, other: Tensor) -> Tensor:
    """Whether two tensors are equal, element by element."""


@pointwise(
    numpy="np.not_equal({input}, {other})",
    c=_real_only("{input} != {other}"),
    promote=comparing,
    commutative=True,
)
def ne(input: Tensor, other: Tensor) -> Tensor:
    """Whether two tensors differ, element by element."""


@pointwise(
    numpy=_real_only("np.less({input}, {other})"),
    c=_real_only("{input} < {other}"),
    promote=comparing,
)
def lt(input: Tensor, other: Tensor) -> Tensor:
    """Whether `input` is less than `other`, element by element."""


@pointwise(
    numpy=_real_only("np.less_equal({input}, {other})"),
    c=_real_only("{input} <= {other}"),
    promote=comparing,
)
def le(input: Tensor, other: Tensor) -> Tensor:
    """Whether `input` is less than or equal to `other`, element by element."""


@pointwise(
    numpy=_real_only("np.greater({input}, {other})"),
    c=_real_only("{input} > {other}"),
    promote=comparing,
)
def gt(input: Tensor, other: Tensor) -> Tensor:
    """Whether `input` is greater than `other`, element by element."""


@pointwise(
    numpy=_real_only("np.greater_equal({input}, {other})"),
    c=_real_only("{input} >= {other}"),
    promote=comparing,
)
def ge(input: Tensor, other: Tensor) -> Tensor:
    """Whether `input` is greater than or equal to `other`, element by element."""


aliases(not_equal=ne, less=lt, less_equal=le, greater=gt, greater_equal=ge)
