"""Device arrays of the stand-in: poisoned, and fenced by inaccessible pages."""

import ctypes
import functools
import math
import mmap
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

_PAGE: Final = mmap.PAGESIZE
_ALIGNMENT: Final = 16
_POISON: Final = 0xFF
_PROT_NONE: Final = 0


@functools.cache
def _mprotect() -> Callable[[int, int, int], int]:
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return protect


class Allocation:
    """Bytes that end, up to alignment, where an inaccessible page begins.

    All bytes are 0xFF at first: NaN for any floating dtype.

    Parameters
    ----------
    nbytes : int
        Bytes asked for.
    """

    def __init__(self, nbytes: int) -> None:
        body = max(1, math.ceil(nbytes / _ALIGNMENT)) * _ALIGNMENT
        inner = math.ceil(body / _PAGE) * _PAGE
        self._map = mmap.mmap(-1, inner + 2 * _PAGE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.nbytes = nbytes
        self.address = base + _PAGE + inner - body
        self.first_byte = base + _PAGE
        self.end = base + _PAGE + inner
        ctypes.memset(self.first_byte, _POISON, inner)
        for page in (base, self.end):
            _mprotect()(page, _PAGE, _PROT_NONE)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "data": (self.address, False),
            "version": 3,
        }

    def array(
        self,
        shape: Sequence[int],
        dtype: DTypeLike,
        offset: int = 0,
        strides: Sequence[int] | None = None,
    ) -> NDArray[Any]:
        """Array over these bytes; it keeps them alive."""
        return np.ndarray(
            shape, dtype, buffer=np.asarray(self), offset=offset, strides=strides
        )

    def damage(self) -> str | None:
        """Where bytes outside the array but before the guards changed, or None."""
        before = self._bytes(self.first_byte, self.address)
        after = self._bytes(self.address + self.nbytes, self.end)
        if before.size and (before != _POISON).any():
            return f"{before.size - int(np.argmax(before != _POISON))} bytes before it"
        if after.size and (after != _POISON).any():
            return f"{int(np.argmax(after != _POISON))} bytes past its end"
        return None

    def heal(self) -> None:
        """Poison the bytes outside the array again."""
        self._bytes(self.first_byte, self.address)[:] = _POISON
        self._bytes(self.address + self.nbytes, self.end)[:] = _POISON

    def _bytes(self, start: int, stop: int) -> NDArray[np.uint8]:
        buffer = (ctypes.c_uint8 * (stop - start)).from_address(start)
        return np.ndarray(stop - start, np.uint8, memoryview(buffer))


def allocate(shape: int | Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
    """Make an uninitialised (NaN) array between guard pages.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype

    Returns
    -------
    numpy.ndarray, shape `shape`
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    dtype = np.dtype(dtype)
    return Allocation(math.prod(sizes) * dtype.itemsize).array(sizes, dtype)


def guarded_copy(array: NDArray[Any]) -> NDArray[Any]:
    """Copy of an array, in C order, between guard pages."""
    copy = allocate(array.shape, array.dtype)
    copy[...] = array
    return copy


def allocation_of(array: NDArray[Any]) -> Allocation | None:
    """The guarded bytes that an array or view lies in, or None for other memory."""
    base: object = array
    # NumPy puts an object of its own between an array made by strides and its base.
    while base is not None and not isinstance(base, Allocation):
        base = getattr(base, "base", None)
    return base
