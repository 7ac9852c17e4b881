"""Which dtypes an element-wise operator computes in, and which its result has.

A promotion answers for eager mode, abstract eval, rules and every target alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tracegrad.dtypes import (
    DType,
    bool_,
    can_cast,
    get_default_dtype,
    result_type_of,
)
from tracegrad.errors import DTypeError, UnsupportedDTypeError

# An operand as promotion sees it: its dtype, and 2 for a tensor with dimensions,
# 1 for a 0-dim tensor, 0 for a Python number.
Typed: TypeAlias = tuple[DType, int]
# The dtype each operand is cast to, and the result's.
Types: TypeAlias = tuple[tuple[DType, ...], DType]
Promotion: TypeAlias = Callable[[str, tuple[Typed, ...], DType | None], Types]


def common(operands: tuple[Typed, ...]) -> DType:
    """Return the promoted dtype of `operands`."""
    return result_type_of(
        [d for d, rank in operands if rank == 2],
        [d for d, rank in operands if rank == 1],
        [d for d, rank in operands if rank == 0],
    )


def as_floating(dtype: DType) -> DType:
    """Return `dtype`, or the default float for integers and bools."""
    return get_default_dtype() if dtype.kind in ("bool", "int") else dtype


def arithmetic(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Compute in the promoted dtype and keep it."""
    dtype = common(operands)
    return (dtype,) * len(operands), dtype


def floating(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Compute in the promoted dtype, the default float for integers."""
    dtype = as_floating(common(operands))
    return (dtype,) * len(operands), dtype


def comparing(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Compute in the promoted dtype and answer with a bool."""
    dtype = common(operands)
    return (dtype,) * len(operands), bool_


def asking(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Look at each operand in its own dtype and answer with a bool."""
    return tuple(dtype for dtype, _ in operands), bool_


def as_it_is(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Keep the dtype of the only operand."""
    return (operands[0][0],), operands[0][0]


def integral(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Accept integers and bools only."""
    dtype = common(operands)
    if dtype.kind not in ("bool", "int"):
        raise UnsupportedDTypeError(
            f"{name} takes integers and bools, not {dtype.name}"
        )
    return (dtype,) * len(operands), dtype


def real_part(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Compute in the promoted dtype; the result of a complex one is real."""
    dtype = common(operands)
    return (dtype,) * len(operands), dtype.to_real()


def floating_real_part(
    name: str, operands: tuple[Typed, ...], _: DType | None
) -> Types:
    """Compute in a floating dtype; the result of a complex one is real."""
    dtype = as_floating(common(operands))
    return (dtype,) * len(operands), dtype.to_real()


def to_complex(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Make a complex number of two real ones of one dtype."""
    dtype = common(operands)
    given = {d for d, rank in operands if rank} or {dtype}
    if given != {dtype} or dtype.kind != "float":
        names = " and ".join(d.name for d, _ in operands)
        raise DTypeError(f"{name} takes two real tensors of one dtype, not {names}")
    return (dtype, dtype), dtype.to_complex()


def weighted(promotion: Promotion, count: int) -> Promotion:
    """Let the first `count` operands decide; a factor after them is cast to that."""

    def promote(name: str, operands: tuple[Typed, ...], to: DType | None) -> Types:
        dtypes, result = promotion(name, operands[:count], to)
        return dtypes + dtypes[:1] * (len(operands) - count), result

    return promote


def exact_factor(promotion: Promotion) -> Promotion:
    """Refuse a last operand (``alpha``) whose category is above that of the rest."""

    def promote(name: str, operands: tuple[Typed, ...], to: DType | None) -> Types:
        types = promotion(name, operands, to)
        factor, dtype = operands[-1][0], types[0][0]
        if not can_cast(factor, dtype) and dtype is not bool_:
            raise DTypeError(
                f"{name}: the factor is {factor.name}, the tensors are {dtype.name}; "
                "cast them first"
            )
        return types

    return promote


def no_bool(promotion: Promotion) -> Promotion:
    """Refuse bools, as PyTorch does for ``-``."""

    def promote(name: str, operands: tuple[Typed, ...], to: DType | None) -> Types:
        if any(d is bool_ for d, _ in operands):
            raise DTypeError(
                f"{name} of bools is not defined; use logical_xor or ~, or cast first"
            )
        return promotion(name, operands, to)

    return promote


def same_dtype(promotion: Promotion) -> Promotion:
    """Refuse tensors of different dtypes."""

    def promote(name: str, operands: tuple[Typed, ...], to: DType | None) -> Types:
        found = {dtype for dtype, rank in operands if rank}
        if len(found) > 1:
            names = ", ".join(sorted(d.name for d in found))
            raise DTypeError(f"{name} takes tensors of one dtype, not {names}")
        return promotion(name, operands, to)

    return promote
