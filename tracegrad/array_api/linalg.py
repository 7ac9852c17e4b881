"""The linear algebra extension of the standard.

Decompositions are `tracegrad.linalg`'s; one that is not there raises.
"""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import tracegrad as tg
from tracegrad.array_api.arrays import adopt, check_kind, promoted, tensor_of
from tracegrad.array_api.linear_algebra import (
    matmul,
    matrix_transpose,
    tensordot,
    vecdot,
)
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType
from tracegrad.errors import ArgumentError, NotSupportedError, ShapeError

_NUMERIC = ("int", "float", "complex")
_FLOATING = ("float", "complex")


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """An orthogonal and an upper triangular matrix."""

    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    """Sign and logarithm of a determinant."""

    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    """Singular vectors and values."""

    U: Any
    S: Any
    Vh: Any


def _matrices(x: Any, what: str, square: builtins.bool = False) -> Tensor:
    tensor = check_kind(tensor_of(x, what), _FLOATING, what)
    if tensor.ndim < 2 or (square and tensor.shape[-1] != tensor.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ShapeError(f"{what} takes {kind}, not shape {list(tensor.shape)}")
    return tensor


def _ours(name: str) -> Any:
    found = getattr(tg.linalg, name, None)
    if found is None:
        raise NotSupportedError(f"linalg.{name} is not available yet")
    return found


def cholesky(x: Any, /, *, upper: builtins.bool = False) -> Any:
    """Cholesky factor, lower or upper triangular."""
    factor = _ours("cholesky")(_matrices(x, "cholesky", square=True))
    return adopt(tg.conj(tg.swapaxes(factor, -1, -2)) if upper else factor, x)


def det(x: Any, /) -> Any:
    """Determinant."""
    return adopt(_ours("det")(_matrices(x, "det", square=True)), x)


def slogdet(x: Any, /) -> SlogdetResult:
    """Sign of the determinant, and logarithm of its magnitude."""
    sign, logabsdet = _ours("slogdet")(_matrices(x, "slogdet", square=True))
    return SlogdetResult(adopt(sign, x), adopt(logabsdet, x))


def eigh(x: Any, /) -> EighResult:
    """Eigenvalues and eigenvectors of a Hermitian matrix."""
    values, vectors = _ours("eigh")(_matrices(x, "eigh", square=True))
    return EighResult(adopt(values, x), adopt(vectors, x))


def eigvalsh(x: Any, /) -> Any:
    """Eigenvalues of a Hermitian matrix."""
    return adopt(_ours("eigvalsh")(_matrices(x, "eigvalsh", square=True)), x)


def inv(x: Any, /) -> Any:
    """Inverse."""
    return adopt(_ours("inv")(_matrices(x, "inv", square=True)), x)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Pseudo-inverse by singular values."""
    options = {} if rtol is None else {"rtol": rtol}
    return adopt(_ours("pinv")(_matrices(x, "pinv"), **options), x)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Number of singular values that are not negligible."""
    options = {} if rtol is None else {"rtol": rtol}
    return adopt(_ours("matrix_rank")(_matrices(x, "matrix_rank"), **options), x)


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """QR decomposition."""
    q, r = _ours("qr")(_matrices(x, "qr"), mode)
    return QRResult(adopt(q, x), adopt(r, x))


def svd(x: Any, /, *, full_matrices: builtins.bool = True) -> SVDResult:
    """Singular value decomposition."""
    u, s, vh = _ours("svd")(_matrices(x, "svd"), full_matrices)
    return SVDResult(adopt(u, x), adopt(s, x), adopt(vh, x))


def svdvals(x: Any, /) -> Any:
    """Singular values."""
    return adopt(_ours("svdvals")(_matrices(x, "svdvals")), x)


def solve(x1: Any, x2: Any, /) -> Any:
    """Solution of linear equations; `x2` is a vector or matrices."""
    first, second = promoted("solve", tensor_of(x1, "solve"), tensor_of(x2, "solve"))
    _matrices(first, "solve", square=True)
    if second.ndim == 1:
        # The standard: a vector is one, also beside a stack of matrices.
        found = _ours("solve")(first, tg.unsqueeze(second, -1))
        return adopt(tg.squeeze(found, -1), x1, x2)
    return adopt(_ours("solve")(first, second), x1, x2)


def matrix_power(x: Any, n: int, /) -> Any:
    """Integer power of a square matrix."""
    tensor = _matrices(x, "matrix_power", square=True)
    if n < 0:
        tensor, n = _ours("inv")(tensor), -n
    size = tensor.shape[-1]
    found: Any = tg.eye(size, dtype=tensor.dtype, device=tensor.device)
    found = tg.broadcast_to(found, tensor.shape)
    for _ in range(n):
        found = tg.matmul(found, tensor)
    return adopt(tg.clone(found), x)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross product of vectors of three elements."""
    first, second = promoted("cross", tensor_of(x1, "cross"), tensor_of(x2, "cross"))
    check_kind(first, _NUMERIC, "cross")
    if first.shape[axis] != 3 or second.shape[axis] != 3:
        raise ShapeError("cross takes vectors of three elements along the axis")
    a, b = (tg.unbind(t, axis) for t in (first, second))
    parts = [
        a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]
        for i in range(3)
    ]
    rank = max(first.ndim, second.ndim)
    return adopt(tg.stack(parts, axis if axis < 0 else axis - rank), x1, x2)


def outer(x1: Any, x2: Any, /) -> Any:
    """Outer product of vectors."""
    first, second = promoted("outer", tensor_of(x1, "outer"), tensor_of(x2, "outer"))
    check_kind(first, _NUMERIC, "outer")
    if first.ndim != 1 or second.ndim != 1:
        raise ShapeError("outer takes vectors")
    return adopt(tg.unsqueeze(first, 1) * second, x1, x2)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Diagonals of matrices."""
    tensor = tensor_of(x, "diagonal")
    if tensor.ndim < 2:
        raise ShapeError("diagonal takes matrices")
    return adopt(tg.diagonal(tensor, offset, -2, -1), x)


def trace(x: Any, /, *, offset: int = 0, dtype: DType | None = None) -> Any:
    """Sums of the diagonals of matrices."""
    tensor = check_kind(tensor_of(x, "trace"), _NUMERIC, "trace")
    if tensor.ndim < 2:
        raise ShapeError("trace takes matrices")
    wanted = dtype or (tg.int64 if tensor.dtype.kind == "int" else tensor.dtype)
    lines = tg.diagonal(tensor, offset, -2, -1)
    return adopt(tg.sum(lines, -1, dtype=wanted), x)


def vector_norm(
    x: Any, /, *, axis: Any = None, keepdims: builtins.bool = False, ord: Any = 2
) -> Any:
    """Norm over axes."""
    tensor = check_kind(tensor_of(x, "vector_norm"), _FLOATING, "vector_norm")
    if axis == ():
        return adopt(tg.abs(tensor) if ord != 0 else _truth(tensor), x)
    return adopt(tg.linalg.vector_norm(tensor, ord, axis, keepdims), x)


def _truth(tensor: Tensor) -> Any:
    dtype = tensor.dtype.to_real()
    return tg.ne(tensor, 0).to(dtype)


def matrix_norm(x: Any, /, *, keepdims: builtins.bool = False, ord: Any = "fro") -> Any:
    """Norm of matrices."""
    tensor = _matrices(x, "matrix_norm")
    if ord == "fro":
        return adopt(tg.linalg.vector_norm(tensor, 2, (-2, -1), keepdims), x)
    if ord in ("nuc", 2, -2):
        values = _ours("svdvals")(tensor)
        fold = {"nuc": tg.sum, 2: tg.amax, -2: tg.amin}[ord]
        found = fold(values, -1)
    elif ord in (1, -1, float("inf"), float("-inf")):
        across = -2 if abs(ord) == 1 else -1
        sums = tg.sum(tg.abs(tensor), across)
        found = (tg.amax if ord > 0 else tg.amin)(sums, -1)
    else:
        raise ArgumentError(f"matrix_norm: there is no norm {ord!r}")
    if keepdims:
        found = tg.unsqueeze(tg.unsqueeze(found, -1), -1)
    return adopt(found, x)


__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv",
    "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip
