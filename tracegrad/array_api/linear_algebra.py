"""Linear algebra functions of the standard's main namespace."""

from __future__ import annotations

from typing import Any

import tracegrad as tg
from tracegrad.array_api.arrays import adopt, check_kind, promoted, tensor_of
from tracegrad.errors import ArgumentError, ShapeError

_NUMERIC = ("int", "float", "complex")


def matmul(x1: Any, x2: Any, /) -> Any:
    """Matrix product over the last two axes, the others broadcast."""
    first, second = promoted("matmul", tensor_of(x1, "matmul"), tensor_of(x2, "matmul"))
    check_kind(first, _NUMERIC, "matmul")
    if first.ndim == 0 or second.ndim == 0:
        raise ShapeError("matmul takes arrays with dimensions; use multiply")
    return adopt(tg.matmul(first, second), x1, x2)


def matrix_transpose(x: Any, /) -> Any:
    """Exchange the last two axes."""
    tensor = tensor_of(x, "matrix_transpose")
    if tensor.ndim < 2:
        raise ShapeError(f"matrix_transpose takes matrices, not {tensor.ndim} axes")
    return adopt(tg.swapaxes(tensor, -1, -2), x)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Sum of products over axes of both arrays."""
    first, second = promoted(
        "tensordot", tensor_of(x1, "tensordot"), tensor_of(x2, "tensordot")
    )
    check_kind(first, _NUMERIC, "tensordot")
    if not isinstance(axes, int):
        axes = tuple(
            [a % max(t.ndim, 1) for a in part]
            for part, t in zip(axes, (first, second), strict=True)
        )
        sizes = (
            [t.shape[a] for a in p] for t, p in zip((first, second), axes, strict=True)
        )
        if len({tuple(s) for s in sizes}) > 1:
            raise ShapeError("tensordot: the axes have different sizes")
    return adopt(tg.tensordot(first, second, axes), x1, x2)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Inner product along an axis, the other axes broadcast."""
    first, second = promoted("vecdot", tensor_of(x1, "vecdot"), tensor_of(x2, "vecdot"))
    check_kind(first, _NUMERIC, "vecdot")
    least = min(first.ndim, second.ndim)
    if not -least <= axis < 0:
        raise ArgumentError(f"vecdot: axis counts from the end, not {axis}")
    if first.shape[axis] != second.shape[axis]:
        raise ShapeError(
            f"vecdot: the axes have sizes {first.shape[axis]} and {second.shape[axis]}"
        )
    left = tg.conj(first) if first.is_complex() else first
    dtype = None if first.dtype.kind != "int" else first.dtype
    return adopt(tg.sum(left * second, axis, dtype=dtype), x1, x2)


__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]
