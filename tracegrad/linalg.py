"""Linear algebra, under PyTorch's names.

Left out: the Bunch-Kaufman factors (``ldl_factor``, ``ldl_solve``), for which NumPy
has no routine.
"""

from __future__ import annotations

from typing import Any

import tracegrad.ops.matrix_functions as _functions
from tracegrad.dispatch.operator import public_forms as _public_forms
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType
from tracegrad.errors import LinAlgError, ShapeError
from tracegrad.ops.contraction import matmul
from tracegrad.ops.linear_algebra import (
    cholesky,
    cholesky_ex,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv_ex,
    lstsq,
    qr,
    slogdet,
    solve,
    solve_triangular,
    svd,
    svdvals,
)
from tracegrad.ops.linear_algebra import inverse as inv
from tracegrad.ops.lu_factors import lu, lu_factor, lu_factor_ex, lu_solve
from tracegrad.ops.matrix_functions import (
    cond,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    multi_dot,
    pinv,
    tensorinv,
    vander,
    vecdot,
)
from tracegrad.ops.norms import norm as _vector_norm
from tracegrad.ops.windows import diagonal as _diagonal

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "vander",
    "vecdot",
    "vector_norm",
]


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Return the cross products of vectors of 3 elements along `dim`."""
    return _functions.cross(input, other, dim)  # type: ignore[no-any-return]


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:  # noqa: N803
    """Return the diagonals of matrices, as a view."""
    return _diagonal(A, offset, dim1, dim2)


def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Return the norm of the elements over dimensions, all if none are given."""
    return _vector_norm(x, ord, dim, keepdim, dtype)  # type: ignore[no-any-return]


def norm(
    A: Tensor,  # noqa: N803
    ord: Any = None,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Return the norm of vectors or matrices.

    Parameters
    ----------
    A : Tensor, shape (...)
    ord : float, "fro" or "nuc", optional
        The order; without it, the root of the sum of all squares.
    dim : int or tuple of int, optional
        One for vectors, two for matrices; without it `A` is one vector or matrix.
    keepdim : bool
    dtype : DType, optional
        What to cast to first.

    Raises
    ------
    ShapeError
        If `A` is neither, and there is an order and no `dim`.
    """
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.ndim not in (1, 2):
            raise ShapeError(f"linalg.norm: say `dim` for {A.ndim} dimensions")
        dim = tuple(range(A.ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) == 2:
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


# The modules of operators export what they call themselves, without words for users.
globals().update(_public_forms({"matrix_exp": matrix_exp}, ["matrix_exp"]))
