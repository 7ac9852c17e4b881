"""Add an operator from your own file: define, differentiate, check, capture.

Run it with ``python examples/add_an_operator.py``; it needs NumPy only. An operator of
the package is defined in the same way, in a file of ``tracegrad/ops/``.
"""

from __future__ import annotations

import math

import numpy as np

import tracegrad as tg
from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating

# -- 1. The definition ------------------------------------------------------------
# A pointwise operator is an expression for one element. The NumPy text is the eager
# kernel and what the NumPy target emits; the C text is what the CUDA target emits. In
# it {f} is the suffix of float functions. `promote=floating` says that integers become
# floats first.


@pointwise(
    numpy="np.exp(-({input} * {input}))",
    c={"float": "exp{f}(-({input} * {input}))"},
    promote=floating,
    domain=(-2.0, 2.0),
)
def bell(input: Tensor) -> Tensor:
    """Gaussian bell curve of each element: exp(-x²).

    Source: NIST DLMF 7.2.1, the integrand of the error function.
    """


# -- 2. The derivative ------------------------------------------------------------
# A factor, written with operators. Its parameters say what it needs, and thereby what
# is kept for backward: here the operand and the result. Forward mode, reverse mode and
# derivatives of any order follow from this one line.

bell.derivative(input=times(lambda input, out: -2 * input * out))

# -- 3. It is there ---------------------------------------------------------------

x = tg.tensor([0.0, 1.0, -2.0])
print("bell:", bell(x).tolist())
assert np.allclose(bell(x).numpy(), np.exp(-(x.numpy() ** 2)))
assert x.bell().tolist() == bell(x).tolist()

y = tg.tensor([0.0, 1.0])
y.bell_()  # the in-place form
assert np.allclose(y.numpy(), [1.0, math.exp(-1)])

out = tg.empty(3)
bell(x, out=out)  # and `out=`
assert out.tolist() == bell(x).tolist()

# -- 4. Is the derivative right? --------------------------------------------------
# gradcheck compares it with differences of values, gradgradcheck its derivative too.

point = tg.tensor([0.3, -1.1, 0.0], dtype=tg.float64, requires_grad=True)
assert tg.autograd.gradcheck(bell, (point,))
assert tg.autograd.gradgradcheck(bell, (point,))
print("first and second derivatives agree with differences")

# -- 5. It is captured, fused and emitted like any other --------------------------


@tg.trace
def weighted(x, w):
    """Sum of bells, each with its weight."""
    return (bell(x) * w).sum()


w = tg.tensor([1.0, 2.0, 3.0])
assert math.isclose(weighted(x, w).item(), weighted.eager(x, w).item(), rel_tol=1e-6)
print()
print(weighted.graph)
assert "bell(%x)" in str(weighted.graph)
assert tg.ir.parse(str(weighted.graph)) == weighted.graph

print()
print(weighted.source)
assert "np.exp" in weighted.source

# `tracegrad ops show NAME` and tests/ops/test_every_op.py know the operators of the
# package; an operator that lives in your file is known while your file is imported.
print("registered as:", bell)
