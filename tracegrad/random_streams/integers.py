"""Integer streams: ranges, the whole range of a dtype, permutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

from tracegrad.random_streams.engine import MT19937
from tracegrad.random_streams.rounding import cast
from tracegrad.random_streams.units import LARGEST, Size, element_count, long_words

# Bits of the significand, the hidden one included.
_DIGITS: Final = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
# From this range on PyTorch takes two words per element, so that the remainder is not
# skewed by more than a few percent.
_LONG_RANGE: Final = 2**28
_INT64: Final = np.iinfo(np.int64)
# From this length on PyTorch shuffles by another algorithm.
_LONG_PERMUTATION: Final = (2**32 - 1) // 20


def randint(
    engine: MT19937,
    size: Size,
    low: int,
    high: int | None,
    dtype: DTypeLike = np.int64,
) -> NDArray[Any]:
    """Draw integers from [low, high), as ``torch.randint`` and ``Tensor.random_``.

    Parameters
    ----------
    engine : MT19937
        Advanced by one word per element if the range is below ``2**28``, by two
        otherwise.
    size : int or tuple of int
    low : int
        Of 64 bits.
    high : int or None
        Of 64 bits, above `low`; None for all numbers from `low` on: up to the largest
        of an integer dtype, up to ``2**p`` for a floating dtype of ``p`` significant
        bits, and for ``low = -2**63`` all 64 bits.
    dtype : dtype, optional
        An integer, bool or floating dtype.

    Returns
    -------
    ndarray, shape `size`, dtype `dtype`

    Raises
    ------
    ValueError
        If the range is empty, or if `dtype` cannot hold it.

    Notes
    -----
    ``low + word mod (high - low)``. For a floating dtype the bounds are first moved
    inwards to representable numbers. Equal to PyTorch 2.13 bit for bit.

    Examples
    --------
    >>> randint(MT19937(0), 5, 0, 10).tolist()
    [4, 9, 3, 0, 3]
    """
    target = np.dtype(dtype)
    if high is None and low == _INT64.min:
        return _all_64_bits(engine, size, target)
    first, last = closed_range(low, high, target)
    span = last - first + 1
    count = element_count(size)
    with engine.lock:
        if span >= _LONG_RANGE:
            drawn = long_words(engine, count)
        else:
            drawn = engine.words(count).astype(np.uint64)
    if span < 2**64:
        drawn %= np.uint64(span)
    values = drawn.view(np.int64)
    values += first
    return cast(values, target).reshape(size)


def random_integers(
    engine: MT19937, size: Size, dtype: DTypeLike = np.int64
) -> NDArray[Any]:
    """Draw from all non-negative integers of a dtype, as ``Tensor.random_()``.

    Parameters
    ----------
    engine : MT19937
        Advanced by two words per element for int64 and float64, by one otherwise.
    size : int or tuple of int
    dtype : dtype, optional
        A signed integer dtype, uint8, bool, or a floating dtype.

    Returns
    -------
    ndarray, shape `size`, dtype `dtype`
        From 0 to the largest integer, or to ``2**p`` for a floating dtype of ``p``
        significant bits.

    Raises
    ------
    ValueError
        If PyTorch has no such stream for `dtype`.

    Examples
    --------
    >>> random_integers(MT19937(0), 2, np.uint8).tolist()
    [172, 47]
    """
    target = np.dtype(dtype)
    count = element_count(size)
    span = non_negative_span(target)
    with engine.lock:
        if target in (np.int64, np.float64):
            drawn = long_words(engine, count)
        else:
            drawn = engine.words(count).astype(np.uint64)
    drawn %= np.uint64(span)
    return cast(drawn.view(np.int64), target).reshape(size)


def randperm(engine: MT19937, n: int, dtype: DTypeLike = np.int64) -> NDArray[Any]:
    """Draw a permutation of ``0 .. n - 1``, as ``torch.randperm``.

    Parameters
    ----------
    engine : MT19937
        Advanced by ``n - 1`` words.
    n : int
        Below ``(2**32 - 1) // 20``.
    dtype : dtype, optional

    Returns
    -------
    ndarray, shape (n,), dtype `dtype`

    Raises
    ------
    ValueError
        If `n` is negative or too large.

    Notes
    -----
    Step ``i`` exchanges element ``i`` with element ``i + word mod (n - i)``. Element
    ``j`` holds at its own step what the last earlier step with the target ``j`` held at
    its own, or ``j`` if there was none; following these links by pointer jumping gives
    the whole permutation without a loop over the elements.

    Source: R. Durstenfeld, "Algorithm 235: Random permutation", CACM 7(7), 1964;
    J. C. Wyllie, "The complexity of parallel computations", 1979 (pointer jumping).

    Examples
    --------
    >>> randperm(MT19937(0), 5).tolist()
    [4, 0, 1, 3, 2]
    """
    if not 0 <= n < _LONG_PERMUTATION:
        raise ValueError(
            f"randperm got n={n}, but n must be from 0 to {_LONG_PERMUTATION - 1}"
        )
    with engine.lock:
        offsets = engine.words(max(n - 1, 0)).astype(np.int64)
    offsets %= np.arange(n, 1, -1)
    offsets += np.arange(len(offsets))
    # The last element is left alone: a step that exchanges it with itself.
    targets = np.append(offsets, np.arange(n)[-1:])
    return cast(_follow_exchanges(targets), dtype)


def _follow_exchanges(targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Exchange element i of ``0 .. n - 1`` with ``targets[i] >= i``, i from 0 to n - 1.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    n = len(targets)
    steps = np.arange(n)
    # Steps ordered by target, then by time; a sort of whole numbers is several times
    # faster than a stable argsort.
    by_target = np.sort(targets << 32 | steps)
    target, step = by_target >> 32, by_target & 0xFFFFFFFF
    repeats = target[1:] == target[:-1]
    earlier = np.full(n, -1)
    earlier[step[1:][repeats]] = step[:-1][repeats]

    source = steps.copy()
    # Of several steps with one target the last one stays.
    source[target] = step
    source = _roots(source)
    return np.where(earlier >= 0, source[earlier], targets)


def _roots(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Follow links until an element that links to itself."""
    while True:
        grandparents = parents[parents]
        if np.array_equal(grandparents, parents):
            return parents
        parents = grandparents


def _all_64_bits(engine: MT19937, size: Size, target: np.dtype[Any]) -> NDArray[Any]:
    if target.name not in ("int64", "float64", "float32", "bfloat16"):
        raise ValueError(
            f"the range of all 64-bit integers has no stream in {target}: use int64, "
            "float64, float32 or bfloat16"
        )
    with engine.lock:
        drawn = long_words(engine, element_count(size))
    return cast(drawn.view(np.int64), target).reshape(size)


def closed_range(low: int, high: int | None, target: np.dtype[Any]) -> tuple[int, int]:
    """Return the smallest and the largest number to draw."""
    if high is None:
        last = _largest_from(target)
        first = _inward_low(low, target)
    else:
        first, last = _inward_low(low, target), _inward_high(high, target) - 1
    smallest, largest = _bounds(target)
    if first > last:
        raise ValueError(f"the range from {low} to {high} holds no number of {target}")
    if first < smallest or last > largest:
        raise ValueError(
            f"the range from {low} to {high} does not fit into {target}, which goes "
            f"from {smallest} to {largest}"
        )
    return first, last


def _inward_low(low: int, target: np.dtype[Any]) -> int:
    """Move a lower bound up to a number of a floating dtype, as PyTorch does."""
    if target.name not in _DIGITS:
        return low
    next_number = _through(low + 1, target)
    if next_number >= low:
        return low
    return next_number + _spacing(low + 1, target)


def _inward_high(high: int, target: np.dtype[Any]) -> int:
    """Move an upper bound down to a number of a floating dtype, as PyTorch does."""
    if target.name not in _DIGITS:
        return high
    previous = _through(high - 1, target)
    if previous < high:
        return high
    return previous - _spacing(high - 1, target)


def _through(number: int, target: np.dtype[Any]) -> int:
    """Convert to a floating dtype and back, as an x86 processor does."""
    converted = float(cast(np.asarray(number, np.int64), target))
    in_range = -(2.0**63) <= converted < 2.0**63
    return int(converted) if in_range else int(_INT64.min)


def _spacing(number: int, target: np.dtype[Any]) -> int:
    exponent = abs(number).bit_length() - 1
    return int(2 ** (exponent - _DIGITS[target.name] + 1))


def _bounds(target: np.dtype[Any]) -> tuple[float, float]:
    if target.name in _DIGITS:
        return -LARGEST[target.name], LARGEST[target.name]
    if target == np.bool_:
        return 0, 1
    limits = np.iinfo(target)
    return int(limits.min), min(int(limits.max), int(_INT64.max))


def _largest_from(target: np.dtype[Any]) -> int:
    """Return the largest number drawn when no upper bound is given."""
    if target.name in _DIGITS:
        return int(2 ** _DIGITS[target.name])
    return int(_bounds(target)[1])


def non_negative_span(target: np.dtype[Any]) -> int:
    """Return how many integers from zero on a dtype holds."""
    if target.name in ("uint16", "uint32", "uint64") or target.kind == "c":
        raise ValueError(
            f"random_() has no stream for {target}: give the bounds, or use another "
            "dtype"
        )
    return _largest_from(target) + 1
