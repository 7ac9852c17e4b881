"""Softmax and its relatives: composites over rows."""

from __future__ import annotations

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._families import composite
from tracegrad.ops.arithmetic import mul, sub
from tracegrad.ops.division import div
from tracegrad.ops.exponential import exp
from tracegrad.ops.reductions import amax
from tracegrad.ops.reductions import sum as sum_


@composite()
def softmax(x: Tensor, dim: int) -> Tensor:
    """Exponentials along a dimension, scaled to sum 1.

    The maximum is subtracted first, so that nothing overflows.

    Source: Goodfellow, Bengio, Courville, "Deep Learning", section 4.1.
    """
    shifted = exp(sub(x, amax(x, dim, True)))
    return div(shifted, sum_(shifted, dim, True))  # type: ignore[no-any-return]


def _softmax_vjp(ct: Tensor, out: Tensor, dim: int) -> Tensor:
    weighted = mul(ct, out)
    return sub(weighted, mul(out, sum_(weighted, dim, True)))  # type: ignore[no-any-return]


softmax.vjp(x=_softmax_vjp)
