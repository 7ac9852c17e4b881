"""Functions of matrices made of products and factors: powers, norms, pseudoinverse."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, int64
from tracegrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from tracegrad.ops._families import primitive
from tracegrad.ops._matrices import (
    adjoint,
    check_matrices,
    check_square,
    fresh_spec,
    stored,
    well_conditioned,
    widened,
)
from tracegrad.ops.casts import cast
from tracegrad.ops.contraction import matmul
from tracegrad.ops.factors import eigh_lower, svd_factors
from tracegrad.ops.joining import cat
from tracegrad.ops.movement import tril, triu
from tracegrad.ops.norms import norm
from tracegrad.ops.rearranging import movedim
from tracegrad.ops.reductions import amax, amin
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.rounding import absolute
from tracegrad.ops.selection import where
from tracegrad.ops.solving import inverted
from tracegrad.ops.views import reshape, slice_, unsqueeze
from tracegrad.sizes import numel, shape_text
from tracegrad.spec import TensorSpec

_EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}

# -- powers and exponentials ---------------------------------------------------------


@public_function()
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Return each square matrix to the power `n`; negative ones of the inverse.

    Raises
    ------
    LinAlgError
        If `n` is negative and a matrix is singular.
    """
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise ShapeError(
            f"matrix_power: the matrices must be square, not {shape_text(input.shape)}"
        )
    if n == 0:
        ones = input.detach().zeros_like() + 1  # type: ignore[attr-defined]
        return triu(tril(ones))  # type: ignore[no-any-return]
    base = inverted(input) if n < 0 else input
    found: Tensor | None = None
    for bit in bin(abs(n))[:1:-1]:
        if bit == "1":
            found = base if found is None else matmul(found, base)
        base = matmul(base, base) if abs(n) > 1 else base
    assert found is not None
    return found.clone() if n == 1 else found  # type: ignore[attr-defined, no-any-return]


# Numerator of the Padé approximant [13/13] of exp. Source: Higham, "The scaling and
# squaring method for the matrix exponential revisited" (2005), section 2.
_PADE = (
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
)


def _exp_abstract(input: TensorSpec) -> TensorSpec:
    check_square("matrix_exp", input)
    return fresh_spec(input, input.shape)  # type: ignore[no-any-return]


def _pade(xp: Any, matrix: Any) -> Any:
    size = matrix.shape[-1]
    power = xp.broadcast_to(xp.eye(size, dtype=matrix.dtype), matrix.shape)
    even, odd = _PADE[0] * power, 0 * power
    for place in range(1, 14):
        power = power @ matrix
        if place % 2:
            odd = odd + _PADE[place] * power
        else:
            even = even + _PADE[place] * power
    return xp.linalg.solve(even - odd, even + odd)


def _exp_kernel(xp: Any, input: Any) -> Any:
    if input.size == 0:
        return xp.zeros(input.shape, input.dtype)
    matrix = widened(xp, input).astype(
        "complex128" if input.dtype.kind == "c" else "float64"
    )
    size = float(xp.abs(matrix).sum(-2).max())
    if not math.isfinite(size):
        return xp.full(input.shape, xp.nan, dtype=input.dtype)
    halvings = 0
    while size > 5.37 * 2.0**halvings:
        halvings += 1
    found = _pade(xp, matrix / 2.0**halvings)
    for _ in range(halvings):
        found = found @ found
    return stored(xp, found, input.dtype)


def _exp_change(input: Tensor, t: Tensor) -> Tensor:
    """Return the derivative along `t`: a block of the exponential of a block matrix."""
    size = input._array.shape[-1]
    above = cat((input, t), -1)
    below = cat((t.zeros_like(), input), -1)  # type: ignore[attr-defined]
    whole = matrix_exp(cat((above, below), -2))
    return slice_(slice_(whole, -2, 0, size), -1, size, 2 * size)  # type: ignore[no-any-return]


@primitive(
    "library",
    abstract=_exp_abstract,
    kernel=_exp_kernel,
    examples=lambda rng: [((well_conditioned(rng, 2, 2, 2),), {})],
)
def matrix_exp(input: Tensor) -> Tensor:
    """Exponential of each square matrix, computed in double precision.

    Source: Higham (2005); derivative: Najfeld and Havel, "Derivatives of the matrix
    exponential and their computation" (1995), theorem 4.5.
    """


matrix_exp.vjp(input=lambda ct, input: _exp_change(adjoint(input), ct)).jvp(
    input=lambda t, input: _exp_change(input, t)
)


# -- norms ---------------------------------------------------------------------------


def _spectral(input: Tensor, order: Any) -> Tensor:
    values = svd_factors(input, False)[1]
    if order == "nuc":
        return sum_(values, -1)  # type: ignore[no-any-return]
    return amax(values, -1) if order == 2 else amin(values, -1)  # type: ignore[no-any-return]


def _norm_of_last(input: Tensor, order: Any) -> Tensor:
    if order == "fro":
        return norm(input, 2, (-2, -1))  # type: ignore[no-any-return]
    if order in ("nuc", 2, -2):
        return _spectral(input, order)
    if order not in (1, -1, math.inf, -math.inf):
        raise ArgumentValueError(
            f'matrix_norm: the order is "fro", "nuc", 1, 2, inf or a negative of '
            f"these, not {order!r}"
        )
    sums = sum_(absolute(input), -2 if abs(order) == 1 else -1)
    return amax(sums, -1) if order > 0 else amin(sums, -1)  # type: ignore[no-any-return]


def matrix_norm(
    A: Tensor,  # noqa: N803
    ord: Any = "fro",
    dim: tuple[int, int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Return the norm of matrices.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}
    dim : tuple of int
        Where the rows and the columns are.
    keepdim : bool
    dtype : DType, optional
        What to cast to first.
    """
    check_matrices("linalg.matrix_norm", A)
    if len(dim) != 2 or dim[0] % A.ndim == dim[1] % A.ndim:  # type: ignore[redundant-expr]
        raise ShapeError(f"linalg.matrix_norm: dim must be 2 dimensions, not {dim}")
    source = A if dtype is None else cast(A, dtype)
    found = _norm_of_last(movedim(source, tuple(dim), (-2, -1)), ord)
    for place in sorted(d % A.ndim for d in dim) if keepdim else ():
        found = unsqueeze(found, place)
    return found


def cond(A: Tensor, p: Any = None) -> Tensor:  # noqa: N803
    """Return the condition number of matrices in the norm `p` (2 if not given)."""
    if p is None or p in (2, -2):
        check_matrices("linalg.cond", A)
        values = svd_factors(A, False)[1]
        large, small = amax(values, -1), amin(values, -1)
        return small / large if p == -2 else large / small  # type: ignore[no-any-return]
    check_square("linalg.cond", A)
    return matrix_norm(A, p) * matrix_norm(inverted(A), p)  # type: ignore[no-any-return]


# -- pseudoinverse, rank and least squares -------------------------------------------


def _threshold(values: Tensor, shape: Any, atol: Any, rtol: Any) -> Tensor:
    """Return below what a singular value counts as 0."""
    epsilon = _EPSILON[values.dtype.name] * max(shape[-2:])
    if rtol is None:
        rtol = 0.0 if isinstance(atol, float | int) and atol > 0 else epsilon
    relative = amax(absolute(values), -1, True).detach() * _last(rtol)  # type: ignore[attr-defined]
    if atol is None:
        return relative  # type: ignore[no-any-return]
    return where(relative > _last(atol), relative, _last(atol))  # type: ignore[no-any-return]


def _last(value: Any) -> Any:
    return unsqueeze(value, -1) if isinstance(value, Tensor) else value


def pinv(
    A: Tensor,  # noqa: N803
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """Return the pseudoinverse of matrices, by their singular values.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    rcond : float or Tensor, optional
        An older name of `rtol`.
    atol, rtol : float or Tensor, optional
        Singular values below the larger of `atol` and `rtol` times the largest one
        count as 0.
    hermitian : bool
        Whether the matrices are, so that eigenvalues serve.
    """
    check_matrices("linalg.pinv", A)
    rtol = rcond if rtol is None else rtol
    if numel(A._array.shape) == 0:
        return A.mH.clone()  # type: ignore[attr-defined, no-any-return]
    if hermitian:
        s, u = eigh_lower(A)
        vh = adjoint(u)
    else:
        u, s, vh = svd_factors(A, False)
    kept = absolute(s) > _threshold(s, A._array.shape, atol, rtol)
    reciprocal = where(kept, 1 / where(kept, s, 1), 0)
    scaled = adjoint(vh) * unsqueeze(reciprocal, -2)
    return matmul(scaled, adjoint(u))  # type: ignore[no-any-return]


@public_function()
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Return the pseudoinverse; singular values below `rcond` times the first are 0."""
    return pinv(input, rtol=rcond)


def matrix_rank(
    A: Tensor,  # noqa: N803
    tol: Any = None,
    *,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,
) -> Tensor:
    """Return how many singular values are not 0, as `pinv` counts them."""
    check_matrices("linalg.matrix_rank", A)
    if numel(A._array.shape[-2:]) == 0:
        return sum_(cast(A.detach(), int64), (-2, -1))  # type: ignore[no-any-return]
    wanted, relative = (tol, 0.0) if tol is not None else (atol, rtol)
    s = eigh_lower(A)[0] if hermitian else svd_factors(A, False)[1]
    kept = absolute(s) > _threshold(s, A._array.shape, wanted, relative)
    return sum_(kept, -1)  # type: ignore[no-any-return]


# -- products ------------------------------------------------------------------------


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Return the sums of the products of `x`, conjugated, and `y` along `dim`."""
    left = x.conj() if x.is_complex() else x  # type: ignore[attr-defined]
    return sum_(left * y, dim)  # type: ignore[no-any-return]


def multi_dot(tensors: Any) -> Tensor:
    """Return the product of several matrices; the first and last may be vectors."""
    given = list(tensors)
    if len(given) < 2:
        raise ShapeError(f"multi_dot takes at least 2 tensors, not {len(given)}")
    found = given[0]
    for part in given[1:]:
        found = matmul(found, part)
    return found  # type: ignore[no-any-return]


@public_function()
def chain_matmul(*matrices: Any) -> Tensor:
    """Return the product of several matrices."""
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


def vander(x: Tensor, N: int | None = None) -> Tensor:  # noqa: N803
    """Return the powers 0, 1, … of each element, one after another."""
    x = unsqueeze(x, 0) if x.ndim == 0 else x
    size = x._array.shape[-1] if N is None else N
    if size < 1:
        raise ShapeError(f"linalg.vander: N must be positive, not {size}")
    columns = [x.zeros_like() + 1]  # type: ignore[attr-defined]
    for _ in range(size - 1):
        columns.append(columns[-1] * x)
    return cat([unsqueeze(c, -1) for c in columns], -1)  # type: ignore[no-any-return]


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:  # noqa: N803
    """Return the inverse of ``tensordot(A, …, A.ndim - ind)``."""
    if ind <= 0:
        raise ArgumentValueError(f"linalg.tensorinv: ind must be positive, not {ind}")
    shape = A._array.shape
    rows, columns = numel(shape[:ind]), numel(shape[ind:])
    if rows != columns:
        raise ShapeError(
            f"linalg.tensorinv: {rows} elements before dimension {ind}, {columns} after"
        )
    found = inverted(reshape(A, rows, columns))
    return reshape(found, *shape[ind:], *shape[:ind])  # type: ignore[no-any-return]


@public_function()
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the cross products of vectors of 3 elements along `dim`.

    The first dimension of size 3 if it is not given.
    """
    if dim is None:
        shape = input._array.shape
        if 3 not in shape:
            raise ShapeError(f"cross: no dimension of {shape_text(shape)} is 3 long")
        dim = shape.index(3)
    for tensor in (input, other):
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError("cross takes two tensors")
        if tensor._array.shape[dim] != 3:
            raise ShapeError(f"cross: dimension {dim} must be 3 long in both tensors")
    left, right = input.roll(-1, dim), other.roll(-1, dim)  # type: ignore[attr-defined]
    return (input * right - left * other).roll(-1, dim)  # type: ignore[no-any-return]
