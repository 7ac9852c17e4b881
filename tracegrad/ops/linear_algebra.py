"""Linear algebra as users call it: choices among the factorizations and solvers."""

from __future__ import annotations

import math

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.results import (
    QR,
    RETURN_TYPES,
    SVD,
    Eigen,
    FactorInfo,
    InvInfo,
    LeastSquares,
    OldSVD,
    SignLogDet,
    TriangularSolution,
)
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import int32
from tracegrad.errors import ArgumentValueError, ShapeError
from tracegrad.ops._matrices import adjoint, check_matrices, check_square
from tracegrad.ops.casts import cast
from tracegrad.ops.contraction import matmul
from tracegrad.ops.factors import (
    cholesky_lower,
    eig_general,
    eigh_lower,
    qr_complete,
    qr_reduced,
    svd_factors,
)
from tracegrad.ops.matrix_functions import matrix_rank, pinv
from tracegrad.ops.movement import tril, triu
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.selection import where
from tracegrad.ops.solving import (
    determinant,
    inverted,
    sign_and_log_det,
    solved,
    triangular,
)
from tracegrad.ops.views import squeeze, unsqueeze

# -- inverses and equations -----------------------------------------------------------


@public_function()
def inverse(input: Tensor) -> Tensor:
    """Return the inverse of each square matrix.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    ShapeError, DTypeError
        If the matrices are not square, or not floating.
    """
    return inverted(input)  # type: ignore[no-any-return]


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:  # noqa: N803
    """Return X with ``A @ X == B``, or ``X @ A == B`` if not `left`.

    Parameters
    ----------
    A : Tensor, shape (..., n, n)
    B : Tensor, shape (..., n, k), (..., n) or (n,)
        Vectors where it has one dimension, or the shape of A without its last.
    left : bool

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    """
    check_square("linalg.solve", A)
    vectors = B.ndim == 1 or (B.ndim == A.ndim - 1 and A.shape[:-1] == B.shape)
    if vectors and not left:
        raise ShapeError("linalg.solve: vectors stand right of the matrices only")
    right = unsqueeze(B, -1) if vectors else B
    if not left:
        return adjoint(solved(adjoint(A), adjoint(right)))
    found = solved(A, right)
    return squeeze(found, -1) if vectors else found  # type: ignore[no-any-return]


def solve_triangular(
    A: Tensor,  # noqa: N803
    B: Tensor,  # noqa: N803
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> Tensor:
    """Return X with ``A @ X == B``, for one triangle of A."""
    if left:
        return triangular(A, B, upper, unitriangular)  # type: ignore[no-any-return]
    return adjoint(triangular(adjoint(A), adjoint(B), not upper, unitriangular))


@public_function()
def triangular_solve(
    input: Tensor,
    A: Tensor,  # noqa: N803
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> TriangularSolution:
    """Return X with ``A @ X == input`` for one triangle of A, and a copy of A."""
    matrix = A.mT if transpose else A  # type: ignore[attr-defined]
    turned = upper != transpose
    found = triangular(matrix, input, turned, unitriangular)
    return RETURN_TYPES["triangular_solve"](found, A.clone())  # type: ignore[no-any-return]


@public_function()
def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:  # noqa: N803
    """Return X with ``L @ L.mH @ X == input`` (``L.mH @ L`` if `upper`)."""
    lower = adjoint(L) if upper else L
    half = triangular(lower, input, False, False)
    return triangular(adjoint(lower), half, True, False)  # type: ignore[no-any-return]


@public_function()
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:  # noqa: N803
    """Return the inverse of ``L @ L.mH`` (``L.mH @ L`` if `upper`)."""
    check_square("cholesky_inverse", L)
    return cholesky_solve(_identity(L), L, upper)  # type: ignore[no-any-return]


def _identity(like: Tensor) -> Tensor:
    """Return identity matrices of the shape of `like`."""
    ones = like.detach().zeros_like() + 1  # type: ignore[attr-defined]
    return triu(tril(ones))  # type: ignore[no-any-return]


def inv_ex(A: Tensor, *, check_errors: bool = False) -> InvInfo:  # noqa: N803
    """Return the inverses; singular matrices raise, unlike PyTorch's info."""
    found = inverted(A)
    return RETURN_TYPES["linalg_inv_ex"](found, _no_error(A))  # type: ignore[no-any-return]


def _no_error(A: Tensor) -> Tensor:  # noqa: N803
    zeros = cast(A.detach(), int32).zeros_like()  # type: ignore[attr-defined]
    return cast(sum_(zeros, (-2, -1)), int32)  # type: ignore[no-any-return]


def lstsq(
    A: Tensor,  # noqa: N803
    B: Tensor,  # noqa: N803
    rcond: float | None = None,
    *,
    driver: str | None = None,
) -> LeastSquares:
    """Return X that makes ``A @ X - B`` smallest, the shortest of several.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    B : Tensor, shape (..., m, k)
    rcond : float, optional
        Singular values below `rcond` times the largest one count as 0.
    driver : {"gelsy", "gels", "gelsd", "gelss"}, optional
        What is given beside the solution; singular values serve always.

    Returns
    -------
    LeastSquares
        The residuals are sums of squares over rows, where A has more rows than
        columns, and not with "gelsy"; the rank is empty with "gels", the singular
        values but with "gelsd" and "gelss".

    Raises
    ------
    ArgumentValueError
        If the driver is another one.
    """
    driver = driver or "gelsy"
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise ArgumentValueError(
            f"linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, "
            f"gelss), not {driver!r}"
        )
    check_matrices("linalg.lstsq", A)
    vectors = B.ndim == A.ndim - 1
    right = unsqueeze(B, -1) if vectors else B
    found = matmul(pinv(A, rtol=rcond), right)
    nothing = A.new_empty((0,))  # type: ignore[attr-defined]
    residuals = nothing
    if A.shape[-2] > A.shape[-1] and driver != "gelsy":
        rest = matmul(A, found) - right
        size = rest.abs()  # type: ignore[attr-defined]
        residuals = sum_(size * size, -2)
    solution = squeeze(found, -1) if vectors else found
    ranked = driver != "gels"
    rank = matrix_rank(A, rtol=rcond) if ranked else nothing.long()
    singular = svdvals(A) if driver in ("gelsd", "gelss") else nothing
    return RETURN_TYPES["linalg_lstsq"](solution, residuals, rank, singular)  # type: ignore[no-any-return]


# -- determinants -------------------------------------------------------------------


@public_function()
def det(input: Tensor) -> Tensor:
    """Return the determinant of each square matrix.

    The gradient is the transposed adjugate, also where the matrix is singular.
    """
    return determinant(input)  # type: ignore[no-any-return]


@public_function()
def slogdet(input: Tensor) -> SignLogDet:
    """Return sign and logarithm of the size of each determinant."""
    return RETURN_TYPES["slogdet"](*sign_and_log_det(input))  # type: ignore[no-any-return]


@public_function()
def logdet(input: Tensor) -> Tensor:
    """Return the logarithm of each determinant: -inf where it is 0, nan below."""
    sign, size = sign_and_log_det(input)
    if sign.is_complex():
        return sign.log() + size  # type: ignore[attr-defined, no-any-return]
    return where(sign == -1, math.nan, size)  # type: ignore[no-any-return]


# -- factorizations -------------------------------------------------------------------


@public_function()
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """Return the triangular factor of Hermitian positive definite matrices.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.
    """
    if upper:
        return adjoint(cholesky_lower(adjoint(input)))
    return cholesky_lower(input)  # type: ignore[no-any-return]


def cholesky_ex(
    input: Tensor, *, upper: bool = False, check_errors: bool = False
) -> FactorInfo:
    """Return the factors; matrices without one raise, unlike PyTorch's info."""
    return RETURN_TYPES["linalg_cholesky_ex"](cholesky(input, upper), _no_error(input))  # type: ignore[no-any-return]


@public_function(name="qr")
def qr_of(input: Tensor, some: bool = True) -> QR:
    """Return orthonormal columns Q and an upper triangle R of ``Q @ R``."""
    found = qr(input, "reduced" if some else "complete")
    return RETURN_TYPES["qr"](*found)  # type: ignore[no-any-return]


def qr(A: Tensor, mode: str = "reduced") -> QR:  # noqa: N803
    """Return orthonormal columns Q and an upper triangle R with ``Q @ R == A``.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    mode : {"reduced", "complete", "r"}

    Raises
    ------
    ArgumentValueError
        If the mode is another.
    """
    if mode == "reduced":
        return RETURN_TYPES["linalg_qr"](*qr_reduced(A))  # type: ignore[no-any-return]
    if mode == "r":
        r = qr_reduced(A)[1]
        return RETURN_TYPES["linalg_qr"](r.new_empty((0,)), r)  # type: ignore[no-any-return]
    if mode != "complete":
        raise ArgumentValueError(
            f'linalg.qr: mode is "reduced", "complete" or "r", not {mode!r}'
        )
    if A.ndim >= 2 and A.shape[-2] <= A.shape[-1]:
        return RETURN_TYPES["linalg_qr"](*qr_reduced(A))  # type: ignore[no-any-return]
    return RETURN_TYPES["linalg_qr"](*qr_complete(A))  # type: ignore[no-any-return]


def _triangle_read(A: Tensor, uplo: str) -> Tensor:  # noqa: N803
    if str(uplo).upper() not in ("L", "U"):
        raise ArgumentValueError(f'linalg.eigh: UPLO is "L" or "U", not {uplo!r}')
    return adjoint(A) if uplo.upper() == "U" else A


def eigh(A: Tensor, UPLO: str = "L") -> Eigen:  # noqa: N803
    """Return eigenvalues, ascending, and vectors of Hermitian matrices."""
    return RETURN_TYPES["linalg_eigh"](*eigh_lower(_triangle_read(A, UPLO)))  # type: ignore[no-any-return]


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:  # noqa: N803
    """Return the eigenvalues of Hermitian matrices, ascending."""
    return eigh_lower(_triangle_read(A, UPLO))[0]  # type: ignore[no-any-return]


def eig(A: Tensor) -> Eigen:  # noqa: N803
    """Return the complex eigenvalues and eigenvectors of square matrices."""
    return RETURN_TYPES["linalg_eig"](*eig_general(A))  # type: ignore[no-any-return]


def eigvals(A: Tensor) -> Tensor:  # noqa: N803
    """Return the complex eigenvalues of square matrices."""
    return eig_general(A)[0]  # type: ignore[no-any-return]


def svd(A: Tensor, full_matrices: bool = True) -> SVD:  # noqa: N803
    """Return U, S and Vh with ``A == U @ diag(S) @ Vh``, S descending."""
    return RETURN_TYPES["linalg_svd"](*svd_factors(A, bool(full_matrices)))  # type: ignore[no-any-return]


def svdvals(A: Tensor) -> Tensor:  # noqa: N803
    """Return the singular values, descending."""
    return svd_factors(A, False)[1]  # type: ignore[no-any-return]


@public_function(name="svd")
def svd_of(input: Tensor, some: bool = True, compute_uv: bool = True) -> OldSVD:
    """Return U, S and V with ``input == U @ diag(S) @ V.mH``."""
    u, s, vh = svd_factors(input, not some)
    if compute_uv:
        return RETURN_TYPES["svd"](u, s, adjoint(vh))  # type: ignore[no-any-return]
    return RETURN_TYPES["svd"](u.zeros_like(), s, adjoint(vh).zeros_like())  # type: ignore[no-any-return]
