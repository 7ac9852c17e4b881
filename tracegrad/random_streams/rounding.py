"""Roundings that NumPy does not offer: fused multiply-add, and casts to 16 bits.

PyTorch's kernels are compiled with fused multiply-add (every x86 processor since 2013
has it), so ``x * scale + shift`` is rounded once there. NumPy rounds twice, which gives
another last bit in about half of the cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

F32: TypeAlias = "NDArray[np.float32]"
F64: TypeAlias = "NDArray[np.float64]"

_SPLITTER: Final = 2.0**27 + 1.0
# Splitting a factor beyond this overflows.
_SPLIT_LIMIT: Final = 2.0**900
# The bits of a float64 that a float32 has no room for, and their value at a tie.
_DROPPED_BITS: Final = np.int64(2**29 - 1)
_TIE: Final = np.int64(2**28)
# Elements per step: the temporaries stay in the second-level cache.
_CHUNK: Final = 8192


def cast(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Convert as PyTorch does: to a 16-bit float by way of float32.

    Parameters
    ----------
    values : ndarray, shape (...)
    dtype : dtype

    Returns
    -------
    ndarray, shape (...)
        `values` itself if it has the dtype already.
    """
    target = np.dtype(dtype)
    if target == values.dtype:
        return values
    with np.errstate(over="ignore"):
        if target.name in ("float16", "bfloat16"):
            values = values.astype(np.float32, copy=False)
        return values.astype(target, copy=False)


def scale_and_shift(values: NDArray[Any], scale: float, shift: float) -> None:
    """Replace `values` by ``values * scale + shift`` rounded once, in their dtype.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (count,)
        Overwritten.
    scale, shift : float
        Already rounded to the dtype of `values`.

    Notes
    -----
    Exact except in float64 for a `scale` or `shift` whose magnitude is above
    ``2**900`` or whose product with a value is subnormal: those are rounded twice.

    Source: S. Boldo and G. Melquiond, "Emulation of a FMA and correctly rounded sums:
    proved algorithms using rounding to odd", IEEE Trans. Computers 57(4), 2008.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if scale == 1.0 or shift == 0.0:
            # One rounding only; the sum with zero turns a -0.0 into 0.0.
            values *= values.dtype.type(scale)
            values += values.dtype.type(shift)
            return
        fused = _fused_32 if values.dtype == np.float32 else _fused_64
        for start in range(0, len(values), _CHUNK):
            chunk = values[start : start + _CHUNK]
            chunk[:] = fused(chunk, scale, shift)


def _fused_32(values: F32, scale: float, shift: float) -> F32:
    product = values.astype(np.float64)
    product *= scale  # exact: 24 bits times 24 bits
    total = product + shift
    ties = (total.view(np.int64) & _DROPPED_BITS) == _TIE
    if ties.any():
        # What the sum in float64 lost decides to which side a tie goes.
        _, lost = _two_sum(product[ties], np.float64(shift))
        tied = total[ties]
        nudged = np.nextafter(tied, np.copysign(np.inf, lost))
        total[ties] = np.where(lost == 0.0, tied, nudged)
    return total.astype(np.float32)


def _fused_64(values: F64, scale: float, shift: float) -> F64:
    if not max(abs(scale), abs(shift)) <= _SPLIT_LIMIT:
        return values * scale + shift
    high, low = _two_product(values, scale)
    upper, lower = _two_sum(low, np.float64(shift))
    total, rest = _two_sum(high, upper)
    return total + _add_to_odd(lower, rest)


def _two_sum(a: F64, b: F64 | np.float64) -> tuple[F64, F64]:
    """Sum and its rounding error (Knuth, TAOCP volume 2, section 4.2.2)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: F64, b: float) -> tuple[F64, F64]:
    """Product and its rounding error (Dekker, Numerische Mathematik 18, 1971)."""
    product = a * b
    a_high = a * _SPLITTER
    a_high -= a_high - a
    a_low = a - a_high
    b_high = b * _SPLITTER
    b_high -= b_high - b
    b_low = b - b_high
    error = a_high * b_high - product
    error += a_high * b_low
    error += a_low * b_high
    error += a_low * b_low
    return product, error


def _add_to_odd(a: F64, b: F64) -> F64:
    """Sum rounded to odd: a sum that is not exact gets an odd last bit."""
    total, error = _two_sum(a, b)
    bits = total.view(np.int64)
    away_from_zero = (error > 0.0) == (total > 0.0)
    step = np.where(away_from_zero, 1, -1)
    inexact_and_even = (error != 0.0) & (bits & 1 == 0)
    return (bits + np.where(inexact_and_even, step, 0)).view(np.float64)
