"""What the routines share: sizes, and numbers made of the engine's words.

The functions that take an engine expect the caller to hold its lock.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

from tracegrad.random_streams.engine import MT19937
from tracegrad.random_streams.rounding import F32, F64

Size = int | tuple[int, ...]

# The largest number of each real dtype that streams are drawn in.
LARGEST: Final = {
    "float16": 65504.0,
    "bfloat16": (2.0 - 2.0**-7) * 2.0**127,
    "float32": (2.0 - 2.0**-23) * 2.0**127,
    "float64": (2.0 - 2.0**-52) * 2.0**1023,
}
_FLOATING: Final = (*LARGEST, "complex64", "complex128")


def element_count(size: Size) -> int:
    """Return how many elements an array of the given size has."""
    return size if isinstance(size, int) else math.prod(size)


def floating_dtype(dtype: DTypeLike, routine: str) -> np.dtype[Any]:
    """Return `dtype` as an object if it is floating or complex.

    Raises
    ------
    ValueError
        If it is another one; `routine` names who asked.
    """
    target = np.dtype(dtype)
    if target.name not in _FLOATING:
        raise ValueError(
            f"{routine} draws floating or complex numbers, but the dtype is {target}: "
            f"use one of {', '.join(_FLOATING)}"
        )
    return target


def unit_float32(engine: MT19937, count: int) -> F32:
    """Draw uniforms on [0, 1): the low 24 bits of a word, times ``2**-24``."""
    words = engine.words(count)
    words &= np.uint32(2**24 - 1)
    # Signed integers of 32 bits are converted faster than unsigned ones.
    values = words.view(np.int32).astype(np.float32)
    values *= np.float32(2.0**-24)
    return values


def unit_float64(engine: MT19937, count: int) -> F64:
    """Draw uniforms on [0, 1): the low 53 bits of two words, times ``2**-53``."""
    words = long_words(engine, count)
    words &= np.uint64(2**53 - 1)
    values = words.view(np.int64).astype(np.float64)
    values *= 2.0**-53
    return values


def long_words(engine: MT19937, count: int) -> NDArray[np.uint64]:
    """Draw words of 64 bits: the first of two words of 32 bits is the high one."""
    swapped = engine.words(2 * count).view("<u8")
    return swapped << np.uint64(32) | swapped >> np.uint64(32)


def libm(function: Callable[[float], float], values: F64) -> F64:
    """Apply a function of the C library, which PyTorch calls too, to each element.

    NumPy's own vectorised functions differ from it in the last bit now and then, and
    from machine to machine.
    """
    results = map(function, values.ravel().tolist())
    return np.fromiter(results, np.float64, values.size).reshape(values.shape)
