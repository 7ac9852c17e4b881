"""Exponentials and logarithms."""

from __future__ import annotations

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._pointwise import floating, pointwise


@pointwise(numpy="np.exp({x})", c="exp{f}({x})", promote=floating)
def exp(x: Tensor) -> Tensor:
    """Exponential of each element.

    Source: NIST DLMF 4.2.19; derivative 4.7.4.
    """


exp.derivative(x=times(lambda out: out))


@pointwise(numpy="np.log({x})", c="log{f}({x})", promote=floating, domain=(0.1, 5.0))
def log(x: Tensor) -> Tensor:
    """Natural logarithm of each element.

    Source: NIST DLMF 4.2.2; derivative 4.7.1.
    """


log.derivative(x=times(lambda x: 1 / x))
