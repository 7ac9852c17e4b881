"""Streams that are one function of a uniform or a normal: Cauchy and others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tracegrad.random_streams.engine import MT19937
from tracegrad.random_streams.normal import one_by_one
from tracegrad.random_streams.rounding import cast
from tracegrad.random_streams.units import Size, element_count, libm, unit_float64


def cauchy(
    engine: MT19937, size: Size, dtype: DTypeLike, median: float, sigma: float
) -> NDArray[Any]:
    """Draw from a Cauchy distribution, as ``Tensor.cauchy_``."""
    with engine.lock:
        unit = unit_float64(engine, element_count(size))
    values = median + sigma * libm(math.tan, math.pi * (unit - 0.5))
    return cast(values, dtype).reshape(size)


def geometric(engine: MT19937, size: Size, dtype: DTypeLike, p: float) -> NDArray[Any]:
    """Draw how many trials a first success takes, as ``Tensor.geometric_``."""
    with engine.lock:
        unit = unit_float64(engine, element_count(size))
    with np.errstate(divide="ignore"):
        values = np.ceil(np.log(unit) / math.log1p(-p))
    return values.astype(dtype).reshape(size)


def log_normal(
    engine: MT19937, size: Size, dtype: DTypeLike, mean: float, std: float
) -> NDArray[Any]:
    """Draw numbers whose logarithm is normal, as ``Tensor.log_normal_``."""
    with engine.lock:
        values = one_by_one(engine, element_count(size))
    return cast(libm(math.exp, values * std + mean), dtype).reshape(size)


def choices(engine: MT19937, weights: Any, count: int) -> NDArray[np.int64]:
    """Draw places by weight, with replacement, as ``torch.multinomial``.

    Parameters
    ----------
    engine : MT19937
        Advanced by two words per draw.
    weights : ndarray, shape (rows, categories)
        Not negative, of each row one at least positive.
    count : int
        Draws of each row.

    Returns
    -------
    ndarray of int64, shape (rows, count)
    """
    with engine.lock:
        unit = unit_float64(engine, len(weights) * count).reshape(-1, count)
    found = np.empty(unit.shape, np.int64)
    for row, (weight, u) in enumerate(zip(weights, unit, strict=True)):
        reached = np.cumsum(weight, dtype=weight.dtype)
        reached /= reached[-1]
        reached[-1] = 1.0
        found[row] = np.searchsorted(reached.astype(np.float64), u)
    return found
