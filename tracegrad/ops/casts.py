"""Change of dtype, copies."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.rules import identity
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType
from tracegrad.ops._pointwise import Typed, Types, pointwise
from tracegrad.spec import TensorSpec


def _to_attribute(name: str, operands: tuple[Typed, ...], dtype: DType | None) -> Types:
    """Keep the operand's dtype; the result has the attribute's."""
    assert dtype is not None
    return (operands[0][0],), dtype


@pointwise(
    numpy="{x}", c="{x}", promote=_to_attribute, inplace=False, method=False
)
def cast(x: Tensor, dtype: DType) -> Tensor:
    """Each element in another dtype; always a new tensor.

    A complex number loses its imaginary part in a real dtype. A float is cut
    towards zero in an integer dtype; NaN and numbers out of range give what x86
    processors give, the smallest int64.
    """


cast.derivative(x=identity())


def _as_it_is(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    return (operands[0][0],), operands[0][0]


@pointwise(numpy="{x}", c="{x}", promote=_as_it_is, inplace=False)
def clone(x: Tensor, contiguous: bool = False) -> Tensor:
    """A copy, through which gradients flow.

    The memory keeps the order of `x` unless it is asked to be `contiguous`.
    """


clone.derivative(x=identity())


def _clone_kernel(xp: Any, x: Any, contiguous: bool) -> Any:
    return xp.array(x, copy=True, order="C" if contiguous else "K")


_elementwise_abstract = clone.abstract


def _clone_abstract(x: TensorSpec, contiguous: bool) -> TensorSpec:
    if contiguous:
        return TensorSpec(x.dtype, x.shape, (), x.device)
    found: TensorSpec = _elementwise_abstract(x)
    return found


clone.kernel = _clone_kernel
clone.abstract = _clone_abstract


@public_function()
def contiguous(x: Tensor) -> Tensor:
    """Return `x` itself if its elements lie in row-major order, else a copy."""
    return x if x.is_contiguous() else clone(x, True)
