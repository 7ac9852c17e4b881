"""What the operators on batches of matrices share: checks, layouts, examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bfloat16, float16, from_numpy_dtype
from tracegrad.errors import DTypeError, ShapeError
from tracegrad.ops.movement import tril, triu
from tracegrad.ops.views import transpose
from tracegrad.ops.windows import diagonal
from tracegrad.sizes import Shape, shape_text
from tracegrad.spec import TensorSpec


def check_matrices(name: str, spec: Any) -> None:
    """Refuse what is no batch of floating or complex matrices.

    Raises
    ------
    ShapeError
        If there are fewer than 2 dimensions.
    DTypeError
        If the dtype is neither floating nor complex.
    """
    if spec.ndim < 2:
        raise ShapeError(
            f"{name}: matrices have at least 2 dimensions, not {spec.ndim} "
            f"(shape {shape_text(spec.shape)})"
        )
    if spec.dtype.kind not in ("float", "complex"):
        raise DTypeError(
            f"{name} takes floating or complex matrices, not {spec.dtype.name}; "
            "convert with tensor.to(dtype)"
        )


def check_square(name: str, spec: Any) -> None:
    """Refuse what is no batch of square matrices.

    Raises
    ------
    ShapeError
        If the matrices are not square.
    DTypeError
        If the dtype is neither floating nor complex.
    """
    check_matrices(name, spec)
    if spec.shape[-1] != spec.shape[-2]:
        raise ShapeError(
            f"{name}: the matrices must be square, not shape {shape_text(spec.shape)}"
        )


def fresh_spec(like: TensorSpec, shape: Shape, dtype: DType | None = None) -> Any:
    """Return the spec of a row-major result on the device of `like`."""
    return TensorSpec(dtype or like.dtype, shape, (), like.device)


def widened(xp: Any, array: Any) -> Any:
    """Return an array that LAPACK takes: half types in float32."""
    if from_numpy_dtype(array.dtype) in (float16, bfloat16):
        return array.astype(xp.float32)
    return array


def stored(xp: Any, array: Any, dtype: Any) -> Any:
    """Return a row-major array of a dtype."""
    return xp.ascontiguousarray(array, dtype=dtype)


def adjoint(x: Tensor) -> Tensor:
    """Return the conjugate transposes."""
    turned = transpose(x, -2, -1)
    return turned.conj() if turned.is_complex() else turned  # type: ignore[attr-defined, no-any-return]


def diagonals(x: Tensor) -> Tensor:
    """Return the main diagonals."""
    return diagonal(x, 0, -2, -1)  # type: ignore[no-any-return]


def lower_half(x: Tensor) -> Tensor:
    """Return the lower triangle with half of the diagonal.

    Source: Murray, "Differentiation of the Cholesky decomposition" (2016), section 3.
    """
    return (tril(x) + tril(x, -1)) * 0.5  # type: ignore[no-any-return]


def skew_lower(x: Tensor) -> Tensor:
    """Return the skew-Hermitian matrix whose lower triangle is that of `x`."""
    below = tril(x, -1)
    skew = below - adjoint(below)
    if not x.is_complex():
        return skew  # type: ignore[no-any-return]
    return skew + imaginary_diagonal(x)  # type: ignore[no-any-return]


def imaginary_diagonal(x: Tensor) -> Tensor:
    """Return the imaginary part of the diagonal, times i, as a matrix."""
    middle = triu(tril(x))
    return (middle - adjoint(middle)) * 0.5  # type: ignore[no-any-return]


def well_conditioned(rng: Any, *shape: int) -> Any:
    """Return matrices near the identity, for tests."""
    values = rng.uniform(-0.4, 0.4, shape)
    rows = np.arange(min(shape[-2:]))
    values[..., rows, rows] += 1.5 + 0.7 * rows
    return values


def definite(rng: Any, *shape: int) -> Any:
    """Return symmetric positive definite matrices, for tests."""
    values = well_conditioned(rng, *shape)
    return values @ np.swapaxes(values, -1, -2)
