"""Where arrays lie in memory, on whatever device."""

from __future__ import annotations

from typing import Any, final

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
    if type(a) is not type(b):
        return False
    if isinstance(a, ForeignArray):
        return a.root() is b.root()
    return bool(np.may_share_memory(_places(a), _places(b)))


def share_memory(a: Any, b: Any) -> bool:
    """Return whether two arrays have an element in common."""
    if type(a) is not type(b):
        return False
    if isinstance(a, ForeignArray):
        return a.root() is b.root()
    return bool(np.shares_memory(_places(a), _places(b)))


def _places(array: Any) -> Any:
    """Return an array for NumPy that lies where `array` does; never read it."""
    return array if isinstance(array, np.ndarray) else np.asarray(_Described(array))


@final
class _Described:
    """An array's addresses, as NumPy wants to be told of them."""

    def __init__(self, array: Any) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": f"|V{array.itemsize}",
            "data": (address_of(array), False),
            "strides": array.strides,
        }
