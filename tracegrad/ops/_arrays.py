"""Helpers of kernels that emitted modules can hold too: NumPy only."""

from __future__ import annotations

from typing import Any


def cast_array(array: Any, dtype: Any) -> Any:
    """Return `array` in a NumPy dtype: itself if it has it.

    A complex number loses its imaginary part; a float goes into a small integer
    through a large one, so that it wraps on every machine.
    """
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array = array.real
    if array.dtype.kind == "f" and dtype.kind in "iu":
        array = array.astype("int64")
    return array.astype(dtype)
