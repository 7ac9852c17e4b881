"""Inverses, determinants and systems of linear equations."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import LinAlgError, ShapeError
from tracegrad.ops._families import primitive
from tracegrad.ops._matrices import (
    adjoint,
    check_matrices,
    check_square,
    diagonals,
    fresh_spec,
    stored,
    well_conditioned,
    widened,
)
from tracegrad.ops.contraction import check_one_dtype
from tracegrad.ops.contraction import matrix_product as mul
from tracegrad.ops.movement import tril, triu
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.shaping import sum_to_shape
from tracegrad.ops.views import transpose, unsqueeze
from tracegrad.sizes import broadcast_shapes, shape_text
from tracegrad.spec import TensorSpec

# -- inverse ------------------------------------------------------------------------


def _inverse_abstract(input: TensorSpec) -> TensorSpec:
    check_square("linalg.inv", input)
    return fresh_spec(input, input.shape)  # type: ignore[no-any-return]


def _inverse_kernel(xp: Any, input: Any) -> Any:
    try:
        return stored(xp, xp.linalg.inv(widened(xp, input)), input.dtype)
    except xp.linalg.LinAlgError:
        raise LinAlgError("linalg.inv: a matrix is singular") from None


@primitive(
    "library",
    abstract=_inverse_abstract,
    kernel=_inverse_kernel,
    may_raise=True,
    examples=lambda rng: [
        ((well_conditioned(rng, 3, 3),), {}),
        ((well_conditioned(rng, 2, 2, 2),), {}),
    ],
    public=False,
    method=False,
)
def inverted(input: Tensor) -> Tensor:
    """Inverse of each square matrix.

    Source: Giles, "Collected matrix derivative results" (2008), section 2.2.3.
    """


inverted.vjp(input=lambda ct, out: -mul(adjoint(out), mul(ct, adjoint(out)))).jvp(
    input=lambda t, out: -mul(out, mul(t, out))
)


# -- systems of equations -------------------------------------------------------------


def _solve_abstract(input: TensorSpec, other: TensorSpec, **_: Any) -> TensorSpec:
    check_square("linalg.solve", input)
    check_matrices("linalg.solve", other)
    check_one_dtype("linalg.solve", input, other)
    if input.shape[-1] != other.shape[-2]:
        raise ShapeError(
            f"linalg.solve: {shape_text(input.shape)} and {shape_text(other.shape)} "
            f"do not fit: {input.shape[-1]} unknowns, {other.shape[-2]} rows"
        )
    batch = broadcast_shapes(input.shape[:-2], other.shape[:-2])
    return fresh_spec(other, (*batch, *other.shape[-2:]))  # type: ignore[no-any-return]


def _solve_kernel(xp: Any, input: Any, other: Any) -> Any:
    batch = broadcast_shapes(input.shape[:-2], other.shape[:-2])
    right = xp.broadcast_to(other, (*batch, *other.shape[-2:]))
    try:
        found = xp.linalg.solve(widened(xp, input), widened(xp, right))
    except xp.linalg.LinAlgError:
        raise LinAlgError("linalg.solve: a matrix is singular") from None
    return stored(xp, found, other.dtype)


def _solve_examples(rng: Any) -> Any:
    return [
        ((well_conditioned(rng, 3, 3), rng.standard_normal((3, 2))), {}),
        ((well_conditioned(rng, 2, 2), rng.standard_normal((2, 2, 1))), {}),
    ]


@primitive(
    "library",
    abstract=_solve_abstract,
    kernel=_solve_kernel,
    may_raise=True,
    linear_in=("other",),
    examples=_solve_examples,
    public=False,
    method=False,
)
def solved(input: Tensor, other: Tensor) -> Tensor:
    """Solution X of ``input @ X = other``, the batches broadcast.

    Source: Giles, "Collected matrix derivative results" (2008), section 2.3.1.
    """


solved.vjp(
    input=lambda ct, input, out, input_spec: sum_to_shape(
        -mul(solved(adjoint(input), ct), adjoint(out)), input_spec[0]
    ),
    other=lambda ct, input, other_spec: sum_to_shape(
        solved(adjoint(input), ct), other_spec[0]
    ),
).jvp(input=lambda t, input, out: -solved(input, mul(t, out)))


def _triangle(xp: Any, input: Any, upper: bool, unitriangular: bool) -> Any:
    part = xp.triu(input) if upper else xp.tril(input)
    if unitriangular:
        rows = xp.arange(part.shape[-1])
        part[..., rows, rows] = 1
    return part


def _triangular_kernel(
    xp: Any, input: Any, other: Any, upper: bool, unitriangular: bool
) -> Any:
    """Substitute row by row, all batches and columns at once."""
    shape = broadcast_shapes(input.shape[:-2], other.shape[:-2])
    right = xp.broadcast_to(other, (*shape, *other.shape[-2:]))
    part = _triangle(xp, widened(xp, input), upper, unitriangular)
    found = xp.array(widened(xp, right))
    size = part.shape[-1]
    for row in range(size - 1, -1, -1) if upper else range(size):
        known = slice(row + 1, None) if upper else slice(None, row)
        sums = xp.matmul(part[..., row : row + 1, known], found[..., known, :])
        left = found[..., row : row + 1, :] - sums
        found[..., row : row + 1, :] = left / part[..., row : row + 1, row : row + 1]
    return stored(xp, found, other.dtype)


def _masked(x: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    if upper:
        return triu(x, int(unitriangular))  # type: ignore[no-any-return]
    return tril(x, -int(unitriangular))  # type: ignore[no-any-return]


def _back(input: Tensor, ct: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    return triangular(adjoint(input), ct, not upper, unitriangular)  # type: ignore[no-any-return]


@primitive(
    "library",
    abstract=_solve_abstract,
    kernel=_triangular_kernel,
    linear_in=("other",),
    examples=lambda rng: [
        (given, {"upper": upper, "unitriangular": unit})
        for given, _ in _solve_examples(rng)
        for upper, unit in ((True, False), (False, True))
    ],
    public=False,
    method=False,
)
def triangular(
    input: Tensor, other: Tensor, upper: bool, unitriangular: bool
) -> Tensor:
    """Solution X of ``input @ X = other`` for one triangle of `input`.

    Source: Giles, "Collected matrix derivative results" (2008), section 2.3.1.
    """


def _triangular_input_vjp(
    ct: Any, input: Any, out: Any, input_spec: Any, upper: bool, unitriangular: bool
) -> Any:
    whole = -mul(_back(input, ct, upper, unitriangular), adjoint(out))
    return sum_to_shape(_masked(whole, upper, unitriangular), input_spec[0])


triangular.vjp(
    input=_triangular_input_vjp,
    other=lambda ct, input, other_spec, upper, unitriangular: sum_to_shape(
        _back(input, ct, upper, unitriangular), other_spec[0]
    ),
).jvp(
    input=lambda t, input, out, upper, unitriangular: (
        -triangular(
            input, mul(_masked(t, upper, unitriangular), out), upper, unitriangular
        )
    )
)


# -- determinants -------------------------------------------------------------------


def _det_abstract(input: TensorSpec) -> TensorSpec:
    check_square("linalg.det", input)
    return fresh_spec(input, input.shape[:-2])  # type: ignore[no-any-return]


def _det_kernel(xp: Any, input: Any) -> Any:
    found = xp.asarray(xp.linalg.det(widened(xp, input))).astype(input.dtype)
    return found.reshape(input.shape[:-2])


def _adjugate_kernel(xp: Any, input: Any) -> Any:
    """Return the adjugates from singular values: products of all but one of them."""
    if not xp.isfinite(input).all():
        return xp.full(input.shape, xp.nan, dtype=input.dtype)
    left, values, right = xp.linalg.svd(widened(xp, input))
    size = values.shape[-1]
    others = xp.broadcast_to(values[..., None, :], (*values.shape, size)).copy()
    rows = xp.arange(size)
    others[..., rows, rows] = 1
    sign = xp.linalg.det(left) * xp.linalg.det(right)
    scaled = xp.swapaxes(right, -1, -2).conj() * others.prod(-1)[..., None, :]
    found = scaled @ xp.swapaxes(left, -1, -2).conj()
    return stored(xp, found * xp.asarray(sign)[..., None, None], input.dtype)


def _adjugate_change(t: Tensor, input: Tensor, out: Tensor) -> Tensor:
    """Return the adjugate's change: of an invertible matrix, or of any of 2 rows."""
    if input._array.shape[-1] < 2:
        return t.zeros_like()  # type: ignore[attr-defined, no-any-return]
    eye = triu(tril(t.zeros_like() + 1))  # type: ignore[attr-defined]
    if input._array.shape[-1] == 2:
        return eye * _wide(_trace(t)) - t  # type: ignore[no-any-return]
    inverse = inverted(input)
    change = mul(inverse, t)
    return mul(eye * _wide(_trace(change)) - change, out)  # type: ignore[no-any-return]


def _trace(x: Tensor) -> Tensor:
    return sum_(diagonals(x), -1)  # type: ignore[no-any-return]


def _wide(x: Tensor) -> Tensor:
    return unsqueeze(unsqueeze(x, -1), -1)  # type: ignore[no-any-return]


def _adjugate_vjp(ct: Tensor, input: Tensor, out: Tensor) -> Tensor:
    if input._array.shape[-1] <= 2:
        return adjoint(_adjugate_change(adjoint(ct), input, out))
    inverse = adjoint(inverted(input))
    carried = mul(ct, adjoint(out))
    eye = triu(tril(ct.zeros_like() + 1))  # type: ignore[attr-defined]
    return mul(inverse, eye * _wide(_trace(carried)) - carried)  # type: ignore[no-any-return]


@primitive(
    "library",
    abstract=_inverse_abstract,
    kernel=_adjugate_kernel,
    examples=lambda rng: [
        ((well_conditioned(rng, 3, 3),), {}),
        ((well_conditioned(rng, 2, 2),), {}),
    ],
    public=False,
    method=False,
)
def adjugate(input: Tensor) -> Tensor:
    """Transposed matrix of cofactors, also of singular matrices.

    The derivative is that of ``det(A) inv(A)``, which has more than 2 rows only where
    the matrix is invertible. Source: Magnus and Neudecker, "Matrix Differential
    Calculus" (2019), section 8.6.
    """


adjugate.vjp(input=_adjugate_vjp).jvp(input=_adjugate_change)


@primitive(
    "library",
    name="linalg_det",
    abstract=_det_abstract,
    kernel=_det_kernel,
    examples=lambda rng: [
        ((well_conditioned(rng, 3, 3),), {}),
        ((well_conditioned(rng, 2, 2, 2),), {}),
    ],
    public=False,
    method=False,
)
def determinant(input: Tensor) -> Tensor:
    """Determinant of each square matrix; its gradient is the adjugate's everywhere.

    Source: Jacobi's formula; Magnus and Neudecker, section 8.3.
    """


determinant.vjp(
    input=lambda ct, input: _wide(ct) * adjoint(adjugate(input)),
).jvp(input=lambda t, input: sum_(adjugate(input) * transpose(t, -2, -1), (-2, -1)))


def _slogdet_abstract(input: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    check_square("linalg.slogdet", input)
    batch = input.shape[:-2]
    return fresh_spec(input, batch), fresh_spec(input, batch, input.dtype.to_real())


def _slogdet_kernel(xp: Any, input: Any) -> Any:
    sign, size = xp.linalg.slogdet(widened(xp, input))
    real = xp.empty((), input.dtype).real.dtype
    return (
        xp.asarray(sign).astype(input.dtype).reshape(input.shape[:-2]),
        xp.asarray(size).astype(real).reshape(input.shape[:-2]),
    )


def _slogdet_vjp(cts: Any, input: Tensor) -> Tensor:
    """Return the cotangent; of a real matrix the sign is constant."""
    of_sign, of_size = cts
    weight = of_size
    if input.is_complex() and of_sign is not None:
        sign = sign_and_log_det(input)[0]
        turn = (of_sign.conj() * sign * 1j).real * 1j
        weight = turn if weight is None else turn + weight
    if weight is None:
        return input.zeros_like()  # type: ignore[attr-defined, no-any-return]
    return _wide(weight) * adjoint(inverted(input))  # type: ignore[no-any-return]


def _slogdet_jvp(t: Tensor, input: Tensor, out: Any) -> Any:
    # `out` is the first result, the sign.
    change = sum_(inverted(input) * transpose(t, -2, -1), (-2, -1))
    if not input.is_complex():
        return out.zeros_like(), change
    return out * change.imag * 1j, change.real


@primitive(
    "library",
    name="linalg_slogdet",
    abstract=_slogdet_abstract,
    kernel=_slogdet_kernel,
    examples=lambda rng: [((well_conditioned(rng, 3, 3),), {})],
    public=False,
    method=False,
)
def sign_and_log_det(input: Tensor) -> tuple[Tensor, Tensor]:
    """Sign and logarithm of the size of each matrix' determinant.

    Source: Magnus and Neudecker, section 8.4.
    """


sign_and_log_det.vjp(input=_slogdet_vjp).jvp(input=_slogdet_jvp)
