"""Factorizations of matrices: Cholesky, QR, eigenvalues, singular values."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import LinAlgError
from tracegrad.ops._families import primitive
from tracegrad.ops._matrices import (
    adjoint,
    check_matrices,
    check_square,
    diagonals,
    fresh_spec,
    imaginary_diagonal,
    lower_half,
    skew_lower,
    stored,
    well_conditioned,
    widened,
)
from tracegrad.ops.contraction import matrix_product as mul
from tracegrad.ops.joining import cat
from tracegrad.ops.movement import diag_embed, tril, triu
from tracegrad.ops.solving import inverted, solved, triangular
from tracegrad.ops.views import slice_, unsqueeze
from tracegrad.spec import TensorSpec


def _real_type(xp: Any, dtype: Any) -> Any:
    return xp.empty((), dtype).real.dtype


def _times_all(*factors: Tensor) -> Tensor:
    product = factors[0]
    for factor in factors[1:]:
        product = mul(product, factor)
    return product


# -- Cholesky -----------------------------------------------------------------------


def _cholesky_abstract(input: TensorSpec) -> TensorSpec:
    check_square("linalg.cholesky", input)
    return fresh_spec(input, input.shape)  # type: ignore[no-any-return]


def _cholesky_kernel(xp: Any, input: Any) -> Any:
    try:
        return stored(xp, xp.linalg.cholesky(widened(xp, input)), input.dtype)
    except xp.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.cholesky: a matrix is not positive definite"
        ) from None


def _cholesky_vjp(ct: Tensor, out: Tensor) -> Tensor:
    inner = lower_half(mul(adjoint(out), tril(ct)))
    right = triangular(adjoint(out), inner, True, False)
    whole = adjoint(triangular(adjoint(out), adjoint(right), True, False))
    return (whole + adjoint(whole)) * 0.5  # type: ignore[no-any-return]


def _cholesky_jvp(t: Tensor, out: Tensor) -> Tensor:
    even = (t + adjoint(t)) * 0.5
    half = triangular(out, even, False, False)
    inner = triangular(out, adjoint(half), False, False)
    return mul(out, lower_half(adjoint(inner)))  # type: ignore[no-any-return]


@primitive(
    "library",
    abstract=_cholesky_abstract,
    kernel=_cholesky_kernel,
    may_raise=True,
    public=False,
    method=False,
)
def cholesky_lower(input: Tensor) -> Tensor:
    """Lower factor L with ``L @ L.mH == input``, of Hermitian positive matrices.

    Source: Murray, "Differentiation of the Cholesky decomposition" (2016), equations
    8 and 10.
    """


cholesky_lower.vjp(input=_cholesky_vjp).jvp(input=_cholesky_jvp)


# -- QR -----------------------------------------------------------------------------


def _qr_abstract(input: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    check_matrices("linalg.qr", input)
    *batch, rows, columns = input.shape
    inner = min(rows, columns)  # type: ignore[type-var]
    return (
        fresh_spec(input, (*batch, rows, inner)),
        fresh_spec(input, (*batch, inner, columns)),
    )


def _qr_kernel(xp: Any, input: Any) -> Any:
    left, right = xp.linalg.qr(widened(xp, input))
    return stored(xp, left, input.dtype), stored(xp, right, input.dtype)


def _qr_tall_vjp(of_q: Any, of_r: Any, q: Tensor, r: Tensor) -> Tensor:
    middle = None if of_r is None else mul(of_r, adjoint(r))
    if of_q is not None:
        part = -mul(adjoint(q), of_q)
        middle = part if middle is None else middle + part
    assert middle is not None
    # Upper part, mirrored; the diagonal once and real.
    above = triu(middle)
    mirrored = triu(middle, 1) + adjoint(triu(middle, 1))
    diagonal = triu(tril(above))
    mirrored = mirrored + (diagonal + adjoint(diagonal)) * 0.5
    whole = mul(q, mirrored)
    whole = whole if of_q is None else whole + of_q
    return adjoint(triangular(r, adjoint(whole), True, False))


def _qr_vjp(cts: Any, input: Tensor) -> Tensor:
    of_q, of_r = cts
    q, r = qr_reduced(input)
    rows, columns = input._array.shape[-2:]
    if rows >= columns:
        return _qr_tall_vjp(of_q, of_r, q, r)
    if of_r is None:
        of_r = r.zeros_like()  # type: ignore[attr-defined]
    later = slice_(of_r, -1, rows, columns)
    own = mul(slice_(input, -1, rows, columns), adjoint(later))
    first = _qr_tall_vjp(
        own if of_q is None else own + of_q,
        slice_(of_r, -1, 0, rows),
        q,
        slice_(r, -1, 0, rows),
    )
    return cat((first, mul(q, later)), -1)  # type: ignore[no-any-return]


def _qr_tall_jvp(t: Tensor, q: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
    scaled = adjoint(triangular(adjoint(r), adjoint(t), False, False))
    inner = mul(adjoint(q), scaled)
    turn = skew_lower(inner)
    of_q = scaled - mul(q, inner - turn)
    return of_q, mul(inner - turn, r)


def _qr_jvp(t: Tensor, input: Tensor) -> tuple[Tensor, Tensor]:
    q, r = qr_reduced(input)
    rows, columns = input._array.shape[-2:]
    if rows >= columns:
        return _qr_tall_jvp(t, q, r)
    of_q, first = _qr_tall_jvp(slice_(t, -1, 0, rows), q, slice_(r, -1, 0, rows))
    later = mul(adjoint(of_q), slice_(input, -1, rows, columns))
    later = later + mul(adjoint(q), slice_(t, -1, rows, columns))
    return of_q, cat((first, later), -1)


@primitive(
    "library",
    abstract=_qr_abstract,
    kernel=_qr_kernel,
    examples=lambda rng: [
        ((well_conditioned(rng, *shape),), {})
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2))
    ],
    public=False,
    method=False,
)
def qr_reduced(input: Tensor) -> tuple[Tensor, Tensor]:
    """Orthonormal columns Q and an upper triangle R with ``Q @ R == input``.

    Source: Roberts and Roberts, "QR and LQ decomposition matrix backpropagation
    algorithms" (2020), equations 4 and 6.
    """


qr_reduced.vjp(input=_qr_vjp).jvp(input=_qr_jvp)


def _qr_complete_abstract(input: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    check_matrices("linalg.qr", input)
    rows = input.shape[-2]
    square = (*input.shape[:-2], rows, rows)
    return fresh_spec(input, square), fresh_spec(input, input.shape)


def _qr_complete_kernel(xp: Any, input: Any) -> Any:
    left, right = xp.linalg.qr(widened(xp, input), mode="complete")
    return stored(xp, left, input.dtype), stored(xp, right, input.dtype)


@primitive(
    "library",
    abstract=_qr_complete_abstract,
    kernel=_qr_complete_kernel,
    examples=lambda rng: [((well_conditioned(rng, 4, 2),), {})],
    public=False,
    method=False,
)
def qr_complete(input: Tensor) -> tuple[Tensor, Tensor]:
    """As `qr_reduced`, with as many columns in Q as rows; it has no derivative."""


# -- eigenvalues ---------------------------------------------------------------------


def _eigh_abstract(input: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    check_square("linalg.eigh", input)
    values = fresh_spec(input, input.shape[:-1], input.dtype.to_real())
    return values, fresh_spec(input, input.shape)


def _eigh_kernel(xp: Any, input: Any) -> Any:
    try:
        values, vectors = xp.linalg.eigh(widened(xp, input))
    except xp.linalg.LinAlgError:
        raise LinAlgError("linalg.eigh: the iteration did not converge") from None
    real = _real_type(xp, input.dtype)
    return stored(xp, values, real), stored(xp, vectors, input.dtype)


def _gaps(values: Tensor) -> Tensor:
    """Return the differences of values, column less row, 1 on the diagonal."""
    gaps = unsqueeze(values, -2) - unsqueeze(values, -1)
    return gaps + triu(tril(gaps.zeros_like() + 1))  # type: ignore[attr-defined, no-any-return]


def _off_diagonal(x: Tensor) -> Tensor:
    return triu(x, 1) + tril(x, -1)  # type: ignore[no-any-return]


def _eigh_vjp(cts: Any, input: Tensor) -> Tensor:
    of_values, of_vectors = cts
    values, vectors = eigh_lower(input)
    inner = None
    if of_vectors is not None:
        inner = _off_diagonal(mul(adjoint(vectors), of_vectors)) / _gaps(values)
    if of_values is not None:
        part = diag_embed(of_values.to(input.dtype))
        inner = part if inner is None else inner + part
    assert inner is not None
    whole = _times_all(vectors, inner, adjoint(vectors))
    return (whole + adjoint(whole)) * 0.5  # type: ignore[no-any-return]


def _eigh_jvp(t: Tensor, input: Tensor) -> tuple[Tensor, Tensor]:
    values, vectors = eigh_lower(input)
    even = (t + adjoint(t)) * 0.5
    inner = _times_all(adjoint(vectors), even, vectors)
    change = diagonals(inner)
    of_values = change.real if change.is_complex() else change
    return of_values, mul(vectors, _off_diagonal(inner) / _gaps(values))


@primitive(
    "library",
    abstract=_eigh_abstract,
    kernel=_eigh_kernel,
    may_raise=True,
    public=False,
    method=False,
)
def eigh_lower(input: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors; the lower triangle counts.

    Source: Giles, "Collected matrix derivative results" (2008), section 3.1.
    """


eigh_lower.vjp(input=_eigh_vjp).jvp(input=_eigh_jvp)


def _eig_abstract(input: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    check_square("linalg.eig", input)
    dtype = input.dtype.to_complex()
    values = fresh_spec(input, input.shape[:-1], dtype)
    return values, fresh_spec(input, input.shape, dtype)


def _eig_kernel(xp: Any, input: Any) -> Any:
    wide = widened(xp, input)
    try:
        values, vectors = xp.linalg.eig(wide)
    except xp.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.eig: the input has infs or NaNs, or the iteration did not converge"
        ) from None
    dtype = xp.result_type(wide.dtype, xp.complex64)
    return stored(xp, values, dtype), stored(xp, vectors, dtype)


def _eig_vjp(cts: Any, input: Tensor) -> Tensor:
    of_values, of_vectors = cts
    values, vectors = eig_general(input)
    inner = None
    if of_vectors is not None:
        turned = mul(adjoint(vectors), of_vectors)
        unit = diagonals(turned).real.to(values.dtype)  # type: ignore[attr-defined]
        overlap = mul(adjoint(vectors), vectors)
        free = turned - overlap * unsqueeze(unit, -2)
        inner = _off_diagonal(free) / _gaps(values).conj()  # type: ignore[attr-defined]
    if of_values is not None:
        part = diag_embed(of_values)
        inner = part if inner is None else inner + part
    assert inner is not None
    whole = solved(adjoint(vectors), mul(inner, adjoint(vectors)))
    return whole if input.is_complex() else whole.real  # type: ignore[no-any-return]


def _eig_jvp(t: Tensor, input: Tensor) -> tuple[Tensor, Tensor]:
    values, vectors = eig_general(input)
    inner = mul(inverted(vectors), mul(t.to(values.dtype), vectors))  # type: ignore[attr-defined]
    change = mul(vectors, _off_diagonal(inner) / _gaps(values))
    along = diagonals(mul(adjoint(vectors), change)).real.to(values.dtype)  # type: ignore[attr-defined]
    return diagonals(inner), change - vectors * unsqueeze(along, -2)


def _real_spectrum(rng: Any) -> Any:
    values = rng.uniform(-0.2, 0.2, (3, 3))
    values[range(3), range(3)] = (1.0, 2.5, 4.0)
    return values


@primitive(
    "library",
    abstract=_eig_abstract,
    kernel=_eig_kernel,
    examples=lambda rng: [((_real_spectrum(rng),), {})],
    may_raise=True,
    public=False,
    method=False,
)
def eig_general(input: Tensor) -> tuple[Tensor, Tensor]:
    """Complex eigenvalues and eigenvectors of length 1.

    The derivative holds for functions that do not depend on the vectors' phase.
    Source: Boeddeker et al., "On the computation of complex-valued gradients" (2017),
    equation 4.77.
    """


eig_general.vjp(input=_eig_vjp).jvp(input=_eig_jvp)


# -- singular values -----------------------------------------------------------------


def _svd_abstract(input: TensorSpec, full_matrices: bool) -> tuple[TensorSpec, ...]:
    check_matrices("linalg.svd", input)
    *batch, rows, columns = input.shape
    inner = min(rows, columns)  # type: ignore[type-var]
    left = rows if full_matrices else inner
    right = columns if full_matrices else inner
    return (
        fresh_spec(input, (*batch, rows, left)),
        fresh_spec(input, (*batch, inner), input.dtype.to_real()),
        fresh_spec(input, (*batch, right, columns)),
    )


def _svd_kernel(xp: Any, input: Any, full_matrices: bool) -> Any:
    try:
        left, values, right = xp.linalg.svd(
            widened(xp, input), full_matrices=full_matrices
        )
    except xp.linalg.LinAlgError:
        raise LinAlgError("linalg.svd: the iteration did not converge") from None
    dtype = input.dtype
    real = _real_type(xp, dtype)
    return stored(xp, left, dtype), stored(xp, values, real), stored(xp, right, dtype)


def _svd_parts(input: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the reduced factors, and the gaps of the values' squares."""
    u, s, vh = svd_factors(input, False)
    return u, s, vh, _gaps(s * s)


def _narrow(x: Any, dim: int, size: int) -> Any:
    return x if x is None else slice_(x, dim, 0, size)


def _svd_inner(u: Any, s: Any, v: Any, of_u: Any, of_v: Any, gaps: Any) -> Any:
    inner = None
    if of_u is not None:
        product = mul(adjoint(u), of_u)
        skew = product - adjoint(product)
        inner = _off_diagonal(skew) / gaps * unsqueeze(s, -2)
        if u.is_complex():
            inner = inner + imaginary_diagonal(product) / unsqueeze(s, -2)
    if of_v is not None:
        product = mul(adjoint(v), of_v)
        part = unsqueeze(s, -1) * (_off_diagonal(product - adjoint(product)) / gaps)
        inner = part if inner is None else inner + part
    return inner


def _svd_vjp(cts: Any, input: Tensor) -> Tensor:
    of_u, of_s, of_vh = cts
    u, s, vh, gaps = _svd_parts(input)
    size = s._array.shape[-1]
    v = adjoint(vh)
    of_u = _narrow(of_u, -1, size)
    of_v = None if of_vh is None else adjoint(_narrow(of_vh, -2, size))
    inner = _svd_inner(u, s, v, of_u, of_v, gaps)
    if of_s is not None:
        part = diag_embed(of_s.to(input.dtype))
        inner = part if inner is None else inner + part
    whole = _times_all(u, inner, vh)
    rows, columns = input._array.shape[-2:]
    if of_u is not None and rows > size:
        outside = of_u / unsqueeze(s, -2)
        outside = outside - _times_all(u, adjoint(u), outside)
        whole = whole + mul(outside, vh)
    if of_v is not None and columns > size:
        outside = of_v / unsqueeze(s, -2)
        outside = outside - _times_all(v, vh, outside)
        whole = whole + mul(u, adjoint(outside))
    return whole  # type: ignore[no-any-return]


def _svd_jvp(t: Tensor, input: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    u, s, vh, gaps = _svd_parts(input)
    v = adjoint(vh)
    inner = _times_all(adjoint(u), t, v)
    diagonal = diagonals(inner)
    right, left = inner * unsqueeze(s, -2), inner * unsqueeze(s, -1)
    of_u = mul(u, _off_diagonal(right + adjoint(right)) / gaps)
    of_v = mul(v, _off_diagonal(left + adjoint(left)) / gaps)
    size = s._array.shape[-1]
    if u.is_complex():
        of_u = of_u + mul(u, imaginary_diagonal(inner) / unsqueeze(s, -2))
    if u._array.shape[-2] > size:
        outside = mul(t, v) / unsqueeze(s, -2)
        of_u = of_u + outside - _times_all(u, adjoint(u), outside)
    if v._array.shape[-2] > size:
        outside = mul(adjoint(t), u) / unsqueeze(s, -2)
        of_v = of_v + outside - _times_all(v, vh, outside)
    of_s = diagonal.real if diagonal.is_complex() else diagonal
    return of_u, of_s, adjoint(of_v)


@primitive(
    "library",
    abstract=_svd_abstract,
    kernel=_svd_kernel,
    may_raise=True,
    examples=lambda rng: [
        ((well_conditioned(rng, *shape), False), {})
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2))
    ],
    public=False,
    method=False,
)
def svd_factors(input: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Singular values, descending, between orthonormal factors.

    The columns that `full_matrices` adds have no derivative. Source: Wan and Zhang,
    "Automatic differentiation for complex valued SVD" (2019), equation 2; Giles,
    section 3.2.
    """


svd_factors.vjp(input=_svd_vjp).jvp(input=_svd_jvp)
