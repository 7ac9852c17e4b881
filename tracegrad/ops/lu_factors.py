"""LU factors of matrices with partial pivoting, and what is solved with them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.results import RETURN_TYPES, return_type
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import int32
from tracegrad.errors import LinAlgError
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
from tracegrad.ops.contraction import matrix_product as mul
from tracegrad.ops.joining import cat
from tracegrad.ops.movement import tril, triu
from tracegrad.ops.solving import triangular
from tracegrad.ops.views import slice_, transpose
from tracegrad.spec import TensorSpec

# -- results ------------------------------------------------------------------------


class Factors(NamedTuple):
    """Permutation, lower and upper factor."""

    P: Tensor
    L: Tensor
    U: Tensor


class Packed(NamedTuple):
    """Both factors in one matrix, and which rows were exchanged."""

    LU: Tensor
    pivots: Tensor


class PackedInfo(NamedTuple):
    """As `Packed`, with the number of the first pivot that is 0, or 0."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


for _name, _base in (
    ("linalg_lu", Factors),
    ("lu_unpack", Factors),
    ("linalg_lu_factor", Packed),
    ("linalg_lu_factor_ex", PackedInfo),
):
    return_type(_name, _base)


# -- factorization ------------------------------------------------------------------


def _pivoted_abstract(input: TensorSpec, pivot: bool) -> tuple[TensorSpec, ...]:
    check_matrices("linalg.lu_factor", input)
    *batch, rows, columns = input.shape
    inner = min(rows, columns)  # type: ignore[type-var]
    return (
        fresh_spec(input, input.shape),
        fresh_spec(input, (*batch, inner), int32),
        fresh_spec(input, (*batch, rows), int32),
        fresh_spec(input, tuple(batch), int32),
    )


def _exchanged(xp: Any, array: Any, places: Any, first: int, second: Any) -> None:
    """Exchange a row of each matrix with another, in place."""
    kept = array[places, first].copy()
    array[places, first] = array[places, second]
    array[places, second] = kept


def _pivoted_kernel(xp: Any, input: Any, pivot: bool) -> tuple[Any, ...]:
    """Eliminate column by column, all matrices of the batch at once."""
    *batch, rows, columns = input.shape
    inner = min(rows, columns)
    count = math.prod(batch)
    packed = xp.array(widened(xp, input)).reshape(count, rows, columns)
    pivots = xp.zeros((count, inner), dtype="int32")
    order = xp.zeros((count, rows), dtype="int32") + xp.arange(rows, dtype="int32")
    info = xp.zeros(count, dtype="int32")
    places = xp.arange(count)
    for k in range(inner):
        chosen = xp.full(count, k)
        if pivot:
            chosen = k + xp.argmax(xp.abs(packed[:, k:, k]), axis=1)
        pivots[:, k] = chosen + 1
        _exchanged(xp, packed, places, k, chosen)
        _exchanged(xp, order, places, k, chosen)
        corner = packed[:, k, k]
        info = xp.where((corner == 0) & (info == 0), k + 1, info)
        divisor = (
            xp.where(corner == 0, 1, corner)[:, None] if pivot else corner[:, None]
        )
        packed[:, k + 1 :, k] /= divisor
        packed[:, k + 1 :, k + 1 :] -= (
            packed[:, k + 1 :, k, None] * packed[:, k, None, k + 1 :]
        )
    return (
        stored(xp, packed.reshape(input.shape), input.dtype),
        pivots.reshape((*batch, inner)),
        order.reshape((*batch, rows)),
        info.astype("int32").reshape(tuple(batch)),
    )


def _rows_of(x: Tensor, start: int, stop: int) -> Tensor:
    return slice_(x, -2, start, stop)  # type: ignore[no-any-return]


def _columns_of(x: Tensor, start: int, stop: int) -> Tensor:
    return slice_(x, -1, start, stop)  # type: ignore[no-any-return]


def _right(x: Tensor, upper: Tensor, adjointly: bool) -> Tensor:
    """Return ``x @ inv(U)``, or ``x @ inv(U.mH)``."""
    if adjointly:
        return adjoint(triangular(upper, adjoint(x), True, False))
    return adjoint(triangular(adjoint(upper), adjoint(x), False, False))


def _left(lower: Tensor, x: Tensor, adjointly: bool) -> Tensor:
    """Return ``inv(L) @ x``, or ``inv(L.mH) @ x``."""
    if adjointly:
        return triangular(adjoint(lower), x, True, True)  # type: ignore[no-any-return]
    return triangular(lower, x, False, True)  # type: ignore[no-any-return]


def _ordered(x: Tensor, order: Tensor) -> Tensor:
    """Return rows in an order."""
    index = order.long().unsqueeze(-1).expand(x._array.shape)  # type: ignore[attr-defined]
    return x.gather(-2, index)  # type: ignore[attr-defined, no-any-return]


def _lu_vjp(cts: Any, input: Tensor, pivot: bool) -> Tensor:
    packed, _, order, _ = lu_packed(input, pivot)
    rows, columns = input._array.shape[-2:]
    inner = min(rows, columns)
    of_l, of_u = tril(cts[0], -1), triu(cts[0])
    square = _rows_of(_columns_of(packed, 0, inner), 0, inner)
    more: list[Tensor] = []
    top_l = _rows_of(_columns_of(of_l, 0, inner), 0, inner)
    top_u = _rows_of(_columns_of(of_u, 0, inner), 0, inner)
    if columns > inner:
        other = _columns_of(packed, inner, columns)
        passed = _left(square, _columns_of(of_u, inner, columns), True)
        more = [passed]
        top_l = top_l - tril(mul(passed, adjoint(other)), -1)
    if rows > inner:
        below = _rows_of(packed, inner, rows)
        passed = _right(_rows_of(of_l, inner, rows), square, True)
        more = [passed]
        top_u = top_u - triu(mul(adjoint(below), passed))
    unit = tril(square, -1)
    middle = tril(mul(adjoint(unit), top_l) + top_l, -1)
    middle = middle + triu(mul(top_u, adjoint(triu(square))))
    found = _right(_left(square, middle, True), square, True)
    whole = cat((found, *more), -1 if columns > inner else -2)
    return _ordered(whole, order.long().argsort(-1))  # type: ignore[attr-defined]


def _lu_jvp(t: Tensor, input: Tensor, pivot: bool) -> tuple[Tensor, ...]:
    packed, pivots, order, info = lu_packed(input, pivot)
    rows, columns = input._array.shape[-2:]
    inner = min(rows, columns)
    moved = _ordered(t, order)
    square = _rows_of(_columns_of(packed, 0, inner), 0, inner)
    corner = _rows_of(_columns_of(moved, 0, inner), 0, inner)
    middle = _right(_left(square, corner, False), square, False)
    strict = tril(middle, -1)
    of_l = strict + mul(tril(square, -1), strict)
    of_u = mul(triu(middle), triu(square))
    change = of_l + of_u
    if columns > inner:
        other = _columns_of(packed, inner, columns)
        rest = _columns_of(moved, inner, columns) - mul(of_l, other)
        change = cat((change, _left(square, rest, False)), -1)
    if rows > inner:
        below = _rows_of(packed, inner, rows)
        rest = _rows_of(moved, inner, rows) - mul(below, of_u)
        change = cat((change, _right(rest, square, False)), -2)
    return (change, *(x.zeros_like() for x in (pivots, order, info)))  # type: ignore[attr-defined]


@primitive(
    "library",
    abstract=_pivoted_abstract,
    kernel=_pivoted_kernel,
    examples=lambda rng: [
        ((well_conditioned(rng, *shape), True), {})
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 3))
    ],
    public=False,
    method=False,
)
def lu_packed(input: Tensor, pivot: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Both factors in one matrix, the exchanges, the order of rows, the first 0.

    Source: Golub, Van Loan, "Matrix Computations", algorithm 3.4.1; the derivatives
    from ``inv(L) @ P.mT @ dA @ inv(U)``, whose lower part is that of L.
    """


lu_packed.vjp(input=_lu_vjp).jvp(input=_lu_jvp)


# -- public functions ---------------------------------------------------------------


def lu_factor_ex(
    A: Tensor,  # noqa: N803
    *,
    pivot: bool = True,
    check_errors: bool = False,
) -> PackedInfo:
    """Return packed factors, exchanges, and the first pivot that is 0, or 0.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    pivot : bool
    check_errors : bool

    Raises
    ------
    LinAlgError
        If a pivot is 0 and `check_errors` is set.
    """
    packed, pivots, _, info = lu_packed(A, pivot)
    if check_errors and bool((info != 0).any()):  # type: ignore[attr-defined]
        raise LinAlgError("linalg.lu_factor_ex: a matrix is singular: a pivot is 0")
    return RETURN_TYPES["linalg_lu_factor_ex"](packed, pivots, info)  # type: ignore[no-any-return]


def lu_factor(A: Tensor, *, pivot: bool = True) -> Packed:  # noqa: N803
    """Return both factors in one matrix, and which rows were exchanged.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    pivot : bool

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    """
    packed, pivots, _, info = lu_packed(A, pivot)
    if bool((info != 0).any()):  # type: ignore[attr-defined]
        raise LinAlgError("linalg.lu_factor: a matrix is singular: a pivot is 0")
    return RETURN_TYPES["linalg_lu_factor"](packed, pivots)  # type: ignore[no-any-return]


def _order_from(pivots: Tensor, rows: int) -> Tensor:
    """Return the order of rows after exchanges one after another."""
    order: Any = pivots.new_empty((*pivots._array.shape[:-1], rows)).long()  # type: ignore[attr-defined]
    order.copy_(order.new_tensor(list(range(rows))).expand(order.shape))
    steps = (pivots - 1).long()  # type: ignore[operator]
    for k in range(steps.shape[-1]):
        here, there = order[..., k : k + 1].clone(), steps[..., k : k + 1]
        kept = order.gather(-1, there)
        order.scatter_(-1, there, here)
        order[..., k : k + 1] = kept
    return order  # type: ignore[no-any-return]


def _parts(packed: Tensor) -> tuple[Tensor, Tensor]:
    rows, columns = packed._array.shape[-2:]
    inner = min(rows, columns)
    lower = tril(_columns_of(packed, 0, inner), -1)
    eye = packed.new_empty((0,)).new_zeros((rows, inner))  # type: ignore[attr-defined]
    eye.fill_diagonal_(1)
    return lower + eye, triu(_rows_of(packed, 0, inner))


def _permutation(packed: Tensor, order: Tensor) -> Tensor:
    numbers = order.new_tensor(list(range(order._array.shape[-1])))  # type: ignore[attr-defined]
    chosen = order.long().unsqueeze(-2) == numbers.unsqueeze(-1)  # type: ignore[attr-defined]
    return chosen.to(packed.dtype)  # type: ignore[attr-defined, no-any-return]


def lu(A: Tensor, *, pivot: bool = True) -> Factors:  # noqa: N803
    """Return P, L and U with ``P @ L @ U == A``.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    pivot : bool
        Without it P is empty.
    """
    packed, _, order, _ = lu_packed(A, pivot)
    moved = _permutation(packed, order) if pivot else A.new_empty((0,))  # type: ignore[attr-defined]
    return RETURN_TYPES["linalg_lu"](moved, *_parts(packed))  # type: ignore[no-any-return]


@public_function(method=False)
def lu_unpack(
    LU_data: Tensor,  # noqa: N803
    LU_pivots: Tensor,  # noqa: N803
    unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> Factors:
    """Return P, L and U of packed factors.

    Parameters
    ----------
    LU_data : Tensor, shape (..., m, n)
    LU_pivots : Tensor, shape (..., min(m, n)), int32
    unpack_data, unpack_pivots : bool
        What is not unpacked is empty.
    """
    nothing = LU_data.new_empty((0,))  # type: ignore[attr-defined]
    lower, upper = _parts(LU_data) if unpack_data else (nothing, nothing)
    moved = nothing
    if unpack_pivots:
        order = _order_from(LU_pivots, LU_data._array.shape[-2])
        moved = _permutation(LU_data, order)
    return RETURN_TYPES["lu_unpack"](moved, lower, upper)  # type: ignore[no-any-return]


# `lu_solve` has a parameter of that name.
_adjoint = adjoint


def lu_solve(
    LU: Tensor,  # noqa: N803
    pivots: Tensor,
    B: Tensor,  # noqa: N803
    *,
    left: bool = True,
    adjoint: bool = False,
) -> Tensor:
    """Return the solution X of ``A @ X == B`` by packed factors of A.

    Parameters
    ----------
    LU : Tensor, shape (..., n, n)
    pivots : Tensor, shape (..., n), int32
    B : Tensor, shape (..., n, k)
    left : bool
        If not set, solve ``X @ A == B``.
    adjoint : bool
        Take ``A.mH`` for A.

    Raises
    ------
    ShapeError
        If the factors are not square.
    """
    check_square("linalg.lu_solve", LU)
    if not left:
        turned = lu_solve(LU, pivots, _adjoint(B), adjoint=not adjoint)
        return _adjoint(turned)
    order = _order_from(pivots, LU._array.shape[-1])
    if not adjoint:
        moved = mul(transpose(_permutation(LU, order), -2, -1), B)
        return triangular(LU, triangular(LU, moved, False, True), True, False)  # type: ignore[no-any-return]
    turned = _adjoint(LU)
    inner = triangular(turned, triangular(turned, B, False, False), True, True)
    return mul(_permutation(LU, order), inner)  # type: ignore[no-any-return]


def _lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """Return packed factors and exchanges, with `get_infos` the first 0 pivots too."""
    packed, pivots, _, info = lu_packed(self, pivot)
    return (packed, pivots, info) if get_infos else (packed, pivots)


public_function(name="lu")(_lu)


@public_function(name="lu_solve")
def solved_by_lu(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:  # noqa: N803
    """Return the solution X of ``A @ X == b`` by packed factors of A."""
    return lu_solve(LU_data, LU_pivots, b)
