"""Arithmetic on elements."""

from __future__ import annotations

from tracegrad.dispatch.rules import identity, negative, times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._pointwise import arithmetic, floating, no_bool, pointwise


@pointwise(
    numpy="np.add({x}, {y})",
    c={"bool": "{x} | {y}", "any": "{x} + {y}"},
    commutative=True,
)
def add(x: Tensor, y: Tensor) -> Tensor:
    """Sum of two tensors; of bools, their "or"."""


add.derivative(x=identity(), y=identity())


@pointwise(
    numpy="np.subtract({x}, {y})", c="{x} - {y}", promote=no_bool(arithmetic)
)
def sub(x: Tensor, y: Tensor) -> Tensor:
    """Difference of two tensors."""


sub.derivative(x=identity(), y=negative())


@pointwise(
    numpy="np.multiply({x}, {y})",
    c={"bool": "{x} & {y}", "any": "{x} * {y}"},
    commutative=True,
)
def mul(x: Tensor, y: Tensor) -> Tensor:
    """Product of two tensors."""


mul.derivative(x=times(lambda y: y), y=times(lambda x: x))


@pointwise(
    numpy="np.true_divide({x}, {y})",
    c="{x} / {y}",
    promote=floating,
    domain=(0.5, 3.0),
)
def div(x: Tensor, y: Tensor) -> Tensor:
    """Quotient of two tensors, floating also for integers."""


div.derivative(x=times(lambda y: 1 / y), y=times(lambda x, y: -(x / y) / y))


@pointwise(numpy="np.negative({x})", c="-{x}", promote=no_bool(arithmetic))
def neg(x: Tensor) -> Tensor:
    """Negative of each element."""


neg.derivative(x=negative())
