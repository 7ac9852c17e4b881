"""Where arrays lie in memory, on whatever device."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.foreign import ForeignArray


def address_of(array: Any) -> int:
    """Return where the first element of an array is."""
    if isinstance(array, np.ndarray):
        return int(array.__array_interface__["data"][0])
    if isinstance(array, ForeignArray):
        # Views have that of what they are views of.
        return id(array.root())
    return int(array.data.ptr)


def may_share_memory(a: Any, b: Any) -> bool:
    """Return whether the extents of two arrays meet; those of two devices never do."""
    if type(a) is not type(b) or not a.size or not b.size:
        return False
    if isinstance(a, np.ndarray):
        return bool(np.may_share_memory(a, b))
    if isinstance(a, ForeignArray):
        return a.root() is b.root()
    (first, end), (other_first, other_end) = _extent(a), _extent(b)
    return first < other_end and other_first < end


def _extent(array: Any) -> tuple[int, int]:
    """Return the addresses of the first byte and of that behind the last one."""
    first = end = address_of(array)
    for size, step in zip(array.shape, array.strides, strict=True):
        reach = (size - 1) * step
        first, end = first + min(reach, 0), end + max(reach, 0)
    return first, end + array.itemsize
