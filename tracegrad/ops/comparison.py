"""Comparison and choice."""

from __future__ import annotations

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bool_
from tracegrad.errors import DTypeError
from tracegrad.ops._pointwise import Typed, Types, common, comparing, pointwise


@pointwise(
    numpy="np.greater({x}, {y})", c="{x} > {y}", promote=comparing, inplace=False
)
def gt(x: Tensor, y: Tensor) -> Tensor:
    """Whether x is greater than y, element by element."""


@pointwise(
    numpy="np.equal({x}, {y})",
    c="{x} == {y}",
    promote=comparing,
    commutative=True,
    inplace=False,
)
def eq(x: Tensor, y: Tensor) -> Tensor:
    """Whether x equals y, element by element."""


def _choosing(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Leave the condition as it is; the choices are promoted."""
    condition, rank = operands[0]
    if condition is not bool_:
        raise DTypeError(f"{name}: the condition must be bool, not {condition.name}")
    dtype = common(operands[1:])
    return (bool_, dtype, dtype), dtype


@pointwise(
    numpy="np.where({condition}, {x}, {y})",
    c="{condition} ? {x} : {y}",
    promote=_choosing,
    inplace=False,
    method=False,
)
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Elements of x where the condition holds, of y elsewhere."""


where.vjp(
    x=lambda ct, condition: where(condition, ct, 0),
    y=lambda ct, condition: where(condition, 0, ct),
).jvp(
    x=lambda t, condition: where(condition, t, 0),
    y=lambda t, condition: where(condition, 0, t),
)

