"""Products that sum over a dimension."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import DTypeError, ShapeError
from tracegrad.ops._families import primitive
from tracegrad.ops.shaping import sum_to_shape
from tracegrad.ops.views import squeeze, transpose, unsqueeze
from tracegrad.sizes import broadcast_shapes, shape_text
from tracegrad.spec import TensorSpec


def _matmul_abstract(x: TensorSpec, y: TensorSpec) -> TensorSpec:
    if x.dtype is not y.dtype:
        raise DTypeError(
            f"matmul: both operands must have one dtype, not {x.dtype.name} and "
            f"{y.dtype.name}"
        )
    if x.shape[-1] != y.shape[-2]:
        raise ShapeError(
            f"matmul: {shape_text(x.shape)} and {shape_text(y.shape)} do not fit: "
            f"{x.shape[-1]} columns, {y.shape[-2]} rows"
        )
    batch = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    shape = (*batch, x.shape[-2], y.shape[-1])
    return TensorSpec(x.dtype, shape, (), x.device)


@primitive(
    "contraction",
    name="matmul",
    abstract=_matmul_abstract,
    kernel=lambda xp, x, y: xp.ascontiguousarray(xp.matmul(x, y)),
    linear_in=("x", "y"),
    numpy="np.matmul({x}, {y}, out={out})",
    method=False,
    public=False,
)
def matrix_product(x: Tensor, y: Tensor) -> Tensor:
    """Matrix products over the last two dimensions, the others broadcast."""


def _adjoint(x: Tensor) -> Tensor:
    turned = transpose(x, -2, -1)
    return turned.conj() if x.is_complex() else turned  # type: ignore[no-any-return, attr-defined]


matrix_product.vjp(
    x=lambda ct, y, x_spec: sum_to_shape(matrix_product(ct, _adjoint(y)), x_spec[0]),
    y=lambda ct, x, y_spec: sum_to_shape(matrix_product(_adjoint(x), ct), y_spec[0]),
)


@public_function()
def matmul(x: Tensor, other: Any) -> Tensor:
    """Return the matrix product, by PyTorch's rules for vectors and batches.

    Parameters
    ----------
    x : Tensor, shape (..., n, k) or (k,)
    other : Tensor, shape (..., k, m) or (k,)

    Raises
    ------
    ShapeError
        If the inner sizes differ, or an operand has no dimensions.
    DTypeError
        If the dtypes differ.
    """
    if x.ndim == 0 or other.ndim == 0:
        raise ShapeError("matmul: both operands need at least one dimension")
    if x.ndim >= 2 and other.ndim >= 2:
        return matrix_product(x, other)  # type: ignore[no-any-return]
    left = unsqueeze(x, 0) if x.ndim == 1 else x
    right = unsqueeze(other, 1) if other.ndim == 1 else other
    result = matrix_product(left, right)
    if other.ndim == 1:
        result = squeeze(result, -1)
    if x.ndim == 1:
        result = squeeze(result, -1 if other.ndim == 1 else -2)
    return result  # type: ignore[no-any-return]
