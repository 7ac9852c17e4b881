"""Draws from a counter-based engine: whole arrays at once, on the engine's device.

The distributions are those of the CPU's streams; the numbers are others, and not those
of PyTorch's CUDA generator.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracegrad.random_streams.integers import closed_range, non_negative_span
from tracegrad.random_streams.philox import Philox


def _count(size: Any) -> int:
    return math.prod(size)


def _units(engine: Philox, count: int) -> Any:
    """Return float64 multiples of 2**-53 from [0, 1)."""
    words = engine.words(2 * count)
    high = words[:count].astype(np.uint64) << np.uint64(21)
    low = words[count:].astype(np.uint64) >> np.uint64(11)
    return (high | low).astype(np.float64) * 2.0**-53


def _short_units(engine: Philox, count: int) -> Any:
    """Return float32 multiples of 2**-24 from [0, 1)."""
    words = engine.words(count) >> np.uint32(8)
    return words.astype(np.float32) * np.float32(2.0**-24)


def _parts(dtype: Any) -> Any:
    """Return the dtype of real and imaginary parts."""
    return np.dtype(np.float32 if dtype == np.complex64 else np.float64)


def uniform(engine: Philox, size: Any, dtype: Any, low: float, high: float) -> Any:
    """Draw uniforms on [low, high); see `tracegrad.random_streams.uniform`."""
    if dtype.kind == "c":
        pairs = uniform(engine, (2 * _count(size),), _parts(dtype), low, high)
        return pairs.view(dtype).reshape(size)
    wide = dtype == np.float64
    unit = (_units if wide else _short_units)(engine, _count(size))
    values = (unit * unit.dtype.type(high - low) + unit.dtype.type(low)).astype(dtype)
    xp = engine.namespace
    # Rounding may carry a number up to the bound that is excluded.
    first = xp.asarray(low).astype(dtype)
    last = xp.asarray(high).astype(dtype)
    return xp.where(values == last, first, values).reshape(size)


def normal(
    engine: Philox,
    size: Any,
    dtype: Any,
    mean: float,
    std: float,
    *,
    contiguous: bool = True,
) -> Any:
    """Draw normal variates; see `tracegrad.random_streams.normal`.

    Source: G. E. P. Box, M. E. Muller, "A note on the generation of random normal
    deviates", Annals of Mathematical Statistics 29(2), 1958.
    """
    if dtype.kind == "c":
        spread = std / math.sqrt(2.0)
        pairs = normal(engine, (2 * _count(size),), _parts(dtype), 0.0, spread)
        return (pairs.view(dtype) + dtype.type(mean)).reshape(size)
    xp = engine.namespace
    count = _count(size)
    half = -(-count // 2)
    units = (_units if dtype == np.float64 else _short_units)(engine, 2 * half)
    kind = units.dtype.type
    radius = xp.sqrt(kind(-2.0) * xp.log1p(-units[:half]))
    angle = kind(2.0 * math.pi) * units[half:]
    pairs = xp.concatenate([radius * xp.cos(angle), radius * xp.sin(angle)])
    drawn = pairs[:count] * kind(std) + kind(mean)
    return drawn.astype(dtype).reshape(size)


def exponential(engine: Philox, size: Any, dtype: Any, rate: float) -> Any:
    """Draw exponential variates by inversion."""
    xp = engine.namespace
    drawn = xp.log1p(-_units(engine, _count(size))) * (-1.0 / rate)
    return drawn.astype(dtype).reshape(size)


def bernoulli(engine: Philox, size: Any, p: float, dtype: Any) -> Any:
    """Draw ones with probability `p`."""
    return (_units(engine, _count(size)) < p).astype(dtype).reshape(size)


def bernoulli_each(engine: Philox, p: Any, dtype: Any) -> Any:
    """Draw ones with a probability per element.

    Raises
    ------
    ValueError
        If a probability is not from 0 to 1. Looking waits for the device.
    """
    if not bool(((p >= 0) & (p <= 1)).all()):
        raise ValueError("bernoulli: a probability is not from 0 to 1")
    units = _units(engine, _count(p.shape)).reshape(p.shape)
    return (units < p.astype(np.float64)).astype(dtype)


def randint(engine: Philox, size: Any, low: int, high: int | None, dtype: Any) -> Any:
    """Draw integers from [low, high); see `tracegrad.random_streams.randint`."""
    if high is None and low == -(2**63):
        return _integers(engine, size, low, 2**64, dtype)
    first, last = closed_range(low, high, dtype)
    return _integers(engine, size, first, last - first + 1, dtype)


def random_integers(engine: Philox, size: Any, dtype: Any) -> Any:
    """Draw from all non-negative integers of a dtype."""
    return _integers(engine, size, 0, non_negative_span(dtype), dtype)


def _integers(engine: Philox, size: Any, first: int, span: int, dtype: Any) -> Any:
    count = _count(size)
    if span <= 2**32:
        words = engine.words(count).astype(np.uint64)
    else:
        both = engine.words(2 * count).astype(np.uint64)
        words = (both[:count] << np.uint64(32)) | both[count:]
    if span < 2**64:
        words = words % np.uint64(span)
    # Two's complement: the sum wraps to the right number.
    drawn = (words + np.uint64(first % 2**64)).astype(np.int64)
    return drawn.astype(dtype).reshape(size)


def randperm(engine: Philox, n: int, dtype: Any) -> Any:
    """Shuffle the numbers below `n`, by sorting random keys."""
    return engine.namespace.argsort(_units(engine, n)).astype(dtype)
