"""Uniform and exponential streams."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

from tracegrad.random_streams.engine import MT19937
from tracegrad.random_streams.rounding import cast, scale_and_shift
from tracegrad.random_streams.units import (
    LARGEST,
    Size,
    element_count,
    floating_dtype,
    libm,
    unit_float32,
    unit_float64,
)


def uniform(
    engine: MT19937,
    size: Size,
    dtype: DTypeLike = np.float32,
    low: float = 0.0,
    high: float = 1.0,
) -> NDArray[Any]:
    """Draw uniforms on [low, high), as ``torch.rand`` and ``Tensor.uniform_``.

    Parameters
    ----------
    engine : MT19937
        Advanced by one word per element (float16, bfloat16, float32), two (float64,
        complex64) or four (complex128).
    size : int or tuple of int
    dtype : dtype, optional
        A floating or complex dtype. Complex numbers are pairs of independent draws.
    low, high : float, optional
        With ``low <= high``, both representable in `dtype`.

    Returns
    -------
    ndarray, shape `size`, dtype `dtype`

    Raises
    ------
    ValueError
        If ``low > high``, if `dtype` is neither floating nor complex, or if it cannot
        hold a bound or their difference.

    Notes
    -----
    float32: ``u = (word mod 2**24) * 2**-24``. float64: ``u = ((word1 * 2**32 + word2)
    mod 2**53) * 2**-53``. The result is ``u * (high - low) + low``, rounded once, in
    the dtype; the 16-bit dtypes draw in float32. A result that rounding carried to
    `high` is replaced by `low`. Equal to PyTorch 2.13 bit for bit.

    Examples
    --------
    >>> uniform(MT19937(0), 2).tolist()
    [0.49625658988952637, 0.7682217955589294]
    """
    target = floating_dtype(dtype, "uniform")
    if target.kind == "c":
        part = np.float32 if target == np.complex64 else np.float64
        pairs = uniform(engine, 2 * element_count(size), part, low, high)
        return pairs.view(target).reshape(size)
    _check_bounds(low, high, target)
    wide = np.float64 if target == np.float64 else np.float32
    unit = unit_float64 if wide is np.float64 else unit_float32
    with engine.lock:
        values: NDArray[Any] = unit(engine, element_count(size))
    if (low, high) != (0.0, 1.0):
        start, stop = wide(low), wide(high)
        scale_and_shift(values, float(stop - start), float(start))
    if target == wide and (low, high) == (0.0, 1.0):
        return values.reshape(size)
    return _below(cast(values, target), low, high).reshape(size)


def _check_bounds(low: float, high: float, target: np.dtype[Any]) -> None:
    if not low <= high:
        raise ValueError(
            f"uniform draws from [low, high), but low={low} is not below high={high}"
        )
    largest = LARGEST[target.name]
    if not max(abs(low), abs(high), high - low) <= largest:
        raise ValueError(
            f"uniform draws from [{low}, {high}) in {target}, which holds numbers (and "
            f"a difference) up to {largest} only: use nearer bounds or another dtype"
        )


def _below(values: NDArray[Any], low: float, high: float) -> NDArray[Any]:
    """Replace what was rounded up to the excluded bound by the included one."""
    stop = cast(np.asarray(high), values.dtype)
    reached = values == stop
    if reached.any():
        values[reached] = cast(np.asarray(low), values.dtype)
    return values


def exponential(
    engine: MT19937, size: Size, dtype: DTypeLike = np.float32, rate: float = 1.0
) -> NDArray[Any]:
    """Draw exponential variates, as ``Tensor.exponential_``.

    Parameters
    ----------
    engine : MT19937
        Advanced by two words per element, whatever the dtype.
    size : int or tuple of int
    dtype : dtype, optional
        A floating dtype.
    rate : float, optional
        PyTorch's ``lambd``; positive.

    Returns
    -------
    ndarray, shape `size`, dtype `dtype`

    Raises
    ------
    ValueError
        If `rate` is not positive, or if `dtype` is not floating.

    Notes
    -----
    ``-1 / rate * log1p(-u)`` in float64, with a 53-bit uniform ``u``: inversion of the
    distribution function. Equal to PyTorch 2.13 bit for bit on processors that are not
    Intel's; on Intel's, PyTorch draws by MKL, from another stream, which is not
    reproduced.

    Source: L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, II.2.

    Examples
    --------
    >>> exponential(MT19937(0), 1, np.float64).tolist()
    [3.508326186707642]
    """
    target = floating_dtype(dtype, "exponential")
    if target.kind == "c":
        raise ValueError(f"exponential draws real numbers, but the dtype is {target}")
    if not rate > 0.0:
        raise ValueError(f"exponential needs a positive rate (lambd), but got {rate}")
    with engine.lock:
        unit = unit_float64(engine, element_count(size))
    values = libm(math.log1p, np.negative(unit, out=unit))
    values *= -1.0 / rate
    return cast(values, target).reshape(size)
