"""Streams of distributions that are drawn by rejection, one element after another.

How many words an element takes depends on the words, so these loops are Python's. The
numbers are PyTorch's: the same methods on the same uniforms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracegrad.random_streams.engine import MT19937
from tracegrad.random_streams.units import unit_float64

F64 = NDArray[np.float64]
_CHUNK = 256


class _Units:
    """Uniforms of 53 bits, one by one; the engine is advanced by those that were used.

    Use it as a context manager, with the engine's lock held.
    """

    def __init__(self, engine: MT19937) -> None:
        self._engine = engine
        self._ahead = engine.twin()
        self._ready: list[float] = []
        self._used = 0
        self._normal = engine.cached_normal

    def __enter__(self) -> _Units:
        return self

    def __exit__(self, *exception: object) -> None:
        self._engine.words(2 * self._used)
        self._engine.cached_normal = self._normal

    def uniform(self) -> float:
        """Return the next number from [0, 1)."""
        if not self._ready:
            self._ready = unit_float64(self._ahead, _CHUNK)[::-1].tolist()
        self._used += 1
        return self._ready.pop()

    def normal(self) -> float:
        """Return the next standard normal: of each pair the sine half comes second."""
        if self._normal is not None:
            kept, self._normal = self._normal, None
            return kept
        angle = 2 * math.pi * self.uniform()
        radius = math.sqrt(-2.0 * math.log1p(-self.uniform()))
        self._normal = radius * math.sin(angle)
        return radius * math.cos(angle)


def _each(
    engine: MT19937, draw: Callable[..., float], parameters: list[Any]
) -> NDArray[Any]:
    """Draw one number for each set of parameters, in their order."""
    wide = np.broadcast_arrays(*(np.asarray(p, np.float64) for p in parameters))
    rows = zip(*(p.ravel().tolist() for p in wide), strict=True)
    with engine.lock, _Units(engine) as units:
        drawn = [draw(units, *row) for row in rows]
    return np.array(drawn, np.float64).reshape(wide[0].shape)


# -- gamma --------------------------------------------------------------------------


def gamma(engine: MT19937, concentration: Any) -> F64:
    """Draw from gamma distributions of scale 1.

    Parameters
    ----------
    engine : MT19937
    concentration : ndarray
        Not negative.

    Returns
    -------
    ndarray of float64, in the shape of `concentration`

    Notes
    -----
    Source: G. Marsaglia and W. W. Tsang, "A simple method for generating gamma
    variables", ACM TOMS 26(3), 2000.
    """
    return _each(engine, _gamma, [concentration])


# In single precision, as PyTorch has it.
_THIRD = float(np.float32(1.0) / np.float32(3.0))


def _gamma(units: _Units, alpha: float) -> float:
    scale = 1.0
    if math.isnan(alpha):
        return math.nan
    if alpha < 1.0:
        if alpha == 0.0:
            return 0.0
        scale = (1.0 - units.uniform()) ** (1.0 / alpha)
        alpha += 1.0
    d = alpha - _THIRD
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = units.normal()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1.0 - units.uniform()
        square = x * x
        if u < 1.0 - 0.0331 * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v


# -- Poisson ------------------------------------------------------------------------


def poisson(engine: MT19937, rate: Any) -> F64:
    """Draw from Poisson distributions.

    Parameters
    ----------
    engine : MT19937
    rate : ndarray
        Not negative.

    Returns
    -------
    ndarray of float64, in the shape of `rate`

    Notes
    -----
    Source: W. Hoermann, "The transformed rejection method for generating Poisson
    random variables", Insurance: Mathematics and Economics 12(1), 1993; below 10,
    by products of uniforms (D. Knuth, TAOCP 2, 3.4.1).
    """
    return _each(engine, _poisson, [rate])


def _poisson(units: _Units, rate: float) -> float:
    if rate >= 10:
        return _poisson_by_rejection(units, rate)
    if rate == 0:
        return 0.0
    limit, product, count = math.exp(-rate), 1.0, 0
    while True:
        product *= units.uniform()
        if product <= limit:
            return float(count)
        count += 1


def _poisson_by_rejection(units: _Units, rate: float) -> float:
    root, logarithm = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    limit = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = units.uniform() - 0.5
        v = units.uniform()
        rest = 0.5 - abs(u)
        k = math.floor((2.0 * a / rest + b) * u + rate + 0.43) if rest else -1
        if rest >= 0.07 and v <= limit:
            return float(k)
        if k < 0 or (rest < 0.013 and v > rest):
            continue
        left = math.log(v) + math.log(inverse) - math.log(a / (rest * rest) + b)
        if left <= -rate + k * logarithm - math.lgamma(k + 1.0):
            return float(k)


# -- binomial -----------------------------------------------------------------------


def binomial(engine: MT19937, count: Any, probability: Any) -> F64:
    """Draw from binomial distributions.

    Parameters
    ----------
    engine : MT19937
    count, probability : ndarray
        Broadcast.

    Returns
    -------
    ndarray of float64

    Notes
    -----
    Source: W. Hoermann, "The generation of binomial random variates", Journal of
    Statistical Computation and Simulation 46, 1993; for means below 10, by geometric
    gaps (L. Devroye, "Non-Uniform Random Variate Generation", 1986, X.4.3).
    """
    return _each(engine, _binomial, [count, probability])


def _binomial(units: _Units, count: float, p: float) -> float:
    if math.isnan(count) or math.isnan(p):
        return math.nan
    if count <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return count
    less = min(p, 1.0 - p)
    draw = _binomial_by_rejection if count * less >= 10 else _binomial_by_gaps
    found = draw(units, count, less)
    return found if p <= 0.5 else count - found


def _binomial_by_gaps(units: _Units, count: float, p: float) -> float:
    place, found, logarithm = 0.0, 0, math.log1p(-p)
    while True:
        u = units.uniform()
        place += math.ceil(math.log(u) / logarithm) if u else math.inf
        if place > count:
            return float(found)
        found += 1


_STIRLING = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.0207906721037650,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.0092554621827127, 0.0083305634333594,
)  # fmt: skip


def _stirling(k: float) -> float:
    """Return what Stirling's formula lacks of log(k!)."""
    if k < len(_STIRLING):
        return _STIRLING[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _binomial_by_rejection(units: _Units, count: float, p: float) -> float:
    spread = math.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre = count * p + 0.5
    limit = 0.92 - 4.2 / b
    odds = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * spread
    m = math.floor((count + 1) * p)
    while True:
        u = units.uniform() - 0.5
        v = units.uniform()
        rest = 0.5 - abs(u)
        k = math.floor((2 * a / rest + b) * u + centre) if rest else -1
        if k < 0 or k > count:
            continue
        if rest >= 0.07 and v <= limit:
            return float(k)
        v = math.log(v * alpha / (a / (rest * rest) + b))
        bound = (
            (m + 0.5) * math.log((m + 1) / (odds * (count - m + 1)))
            + (count + 1) * math.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _stirling(m)
            + _stirling(count - m)
            - _stirling(k)
            - _stirling(count - k)
        )
        if v <= bound:
            return float(k)
