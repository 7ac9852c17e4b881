"""Linear algebra, under PyTorch's names.

Left out: the Bunch-Kaufman factors (``ldl_factor``, ``ldl_solve``), for which NumPy
has no routine, and LU factors, which are not built yet.
"""

from __future__ import annotations

from typing import Any

import tracegrad.ops.matrix_functions as _functions
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import LinAlgError
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
from tracegrad.ops.norms import norm, vector_norm
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
    return _functions.cross(input, other, dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:  # noqa: N803
    """Return the diagonals of matrices, as a view."""
    return _diagonal(A, offset, dim1, dim2)
