"""Uniform and exponential streams."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tracegrad.random_streams.engine import MT19937
from tracegrad.random_streams.rounding import F32, F64, cast, scale_and_shift

Size = int | tuple[int, ...]


def element_count(size: Size) -> int:
    """Return how many elements an array of the given size has."""
    return size if isinstance(size, int) else math.prod(size)


def unit_float32(engine: MT19937, count: int) -> F32:
    """Draw uniforms on [0, 1): the low 24 bits of a word, times ``2**-24``.

    The caller holds the engine's lock.
    """
    words = engine.words(count)
    words &= np.uint32(2**24 - 1)
    # Signed integers of 32 bits are converted faster than unsigned ones.
    values = words.view(np.int32).astype(np.float32)
    values *= np.float32(2.0**-24)
    return values


def unit_float64(engine: MT19937, count: int) -> F64:
    """Draw uniforms on [0, 1): the low 53 bits of two words, times ``2**-53``.

    The caller holds the engine's lock.
    """
    joined = long_words(engine, count)
    joined &= np.uint64(2**53 - 1)
    values = joined.view(np.int64).astype(np.float64)
    values *= 2.0**-53
    return values


def long_words(engine: MT19937, count: int) -> NDArray[np.uint64]:
    """Draw words of 64 bits: the first of two words of 32 bits is the high one.

    The caller holds the engine's lock.
    """
    words = engine.words(2 * count)
    joined = words[0::2].astype(np.uint64)
    joined <<= np.uint64(32)
    joined |= words[1::2]
    return joined


def libm(function: Callable[[float], float], values: F64) -> F64:
    """Apply a function of the C library, which PyTorch calls too, to each element.

    NumPy's own vectorised functions differ from it in the last bit now and then, and
    from machine to machine.
    """
    results = map(function, values.ravel().tolist())
    return np.fromiter(results, np.float64, values.size).reshape(values.shape)


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
        If ``low > high``.

    Notes
    -----
    float32: ``u = (word mod 2**24) * 2**-24``. float64: ``u = ((word1 * 2**32 + word2)
    mod 2**53) * 2**-53``. The result is ``u * (high - low) + low``, rounded once, in the
    dtype; the 16-bit dtypes draw in float32. A result that rounding carried to `high` is
    replaced by `low`. Equal to PyTorch 2.13 bit for bit.

    Examples
    --------
    >>> uniform(MT19937(0), 2).tolist()
    [0.49625658988952637, 0.7682217955589294]
    """
    target = np.dtype(dtype)
    if low > high:
        raise ValueError(
            f"uniform draws from [low, high), but low={low} is above high={high}: "
            "exchange them"
        )
    if target.kind == "c":
        part = np.float32 if target == np.complex64 else np.float64
        pairs = uniform(engine, 2 * element_count(size), part, low, high)
        return pairs.view(target).reshape(size)
    wide = np.float64 if target == np.float64 else np.float32
    unit = unit_float64 if wide is np.float64 else unit_float32
    with engine.lock:
        values: NDArray[Any] = unit(engine, element_count(size))
    if (low, high) != (0.0, 1.0):
        start, stop = wide(low), wide(high)
        values = scale_and_shift(values, float(stop - start), float(start))
    return _below(cast(values, target), low, high).reshape(size)


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
        If `rate` is not positive.

    Notes
    -----
    ``-1 / rate * log1p(-u)`` in float64, with a 53-bit uniform ``u``: inversion of the
    distribution function. Equal to PyTorch 2.13 bit for bit on processors that are not
    Intel's; on those PyTorch draws by MKL, from another stream, which is not reproduced.

    Source: L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, II.2.

    Examples
    --------
    >>> exponential(MT19937(0), 1, np.float64).tolist()
    [1.8833717486163656]
    """
    if not rate > 0.0:
        raise ValueError(f"exponential needs a positive rate (lambd), but got {rate}")
    with engine.lock:
        unit = unit_float64(engine, element_count(size))
    values = libm(math.log1p, np.negative(unit, out=unit))
    values *= -1.0 / rate
    return cast(values, dtype).reshape(size)
