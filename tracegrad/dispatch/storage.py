"""The memory behind tensors: addresses, and which tensors share it."""

from __future__ import annotations

from typing import Any, TypeAlias, final

import numpy as np

from tracegrad.dispatch.extents import address_of
from tracegrad.dispatch.tensor import Tensor, spec_of
from tracegrad.errors import ShapeError


def owner_of(array: Any) -> Any:
    """Return the array that holds the memory of `array`, or the last that shares it."""
    while True:
        base = getattr(array, "base", None)
        if not isinstance(base, type(array)):
            # NumPy puts an object of its own between an array made by strides and its
            # base.
            base = getattr(base, "base", None)
        if not isinstance(base, type(array)):
            return array
        array = base


# The form of an array: shape, dtype and strides in bytes.
Form: TypeAlias = tuple[tuple[int, ...], Any, tuple[int, ...]]


def form_of(array: np.ndarray[Any, Any]) -> Form:
    """Return shape, dtype and strides in bytes."""
    return array.shape, array.dtype, array.strides


def array_at(
    owner: np.ndarray[Any, Any], offset: int, form: Form
) -> np.ndarray[Any, Any]:
    """Return the array of that form at an offset, in bytes, in an owner's memory."""
    shape, dtype, strides = form
    return np.ndarray(shape, dtype, _flat(owner), offset=offset, strides=strides)


def _flat(owner: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return memory without gaps as a vector, in its own order."""
    axes = sorted(range(owner.ndim), key=lambda a: -owner.strides[a])
    return owner.transpose(axes).reshape(-1).view(np.uint8)


def is_dense(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an array fills its memory, in whatever order of dimensions."""
    if array.size == 0 or any(step < 0 for step in array.strides):
        return False
    axes = sorted(range(array.ndim), key=lambda a: -array.strides[a])
    return bool(array.transpose(axes).flags.c_contiguous)


@final
class Storage:
    """The memory of a tensor and of those that share it.

    Minimal: what programs ask to see whether two tensors share memory.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._owner = owner_of(tensor._array)
        self.device = tensor.device

    def data_ptr(self) -> int:
        """Return the address of its first byte."""
        return address_of(self._owner) if self._owner.size else 0

    def nbytes(self) -> int:
        """Return its size in bytes."""
        return int(self._owner.nbytes)

    def __len__(self) -> int:
        return self.nbytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Storage) and other._owner is self._owner

    def __hash__(self) -> int:
        return id(self._owner)


def data_ptr(self: Tensor) -> int:
    """Return the address of the first element; 0 where there is none."""
    if self.is_meta or self.numel() == 0:
        return 0
    return address_of(self._array)


def storage_offset(self: Tensor) -> int:
    """Return how many elements lie before the first one in its storage."""
    if self.is_meta or self.numel() == 0:
        return 0
    start = address_of(owner_of(self._array))
    return (address_of(self._array) - start) // self.element_size()


def untyped_storage(self: Tensor) -> Storage:
    """Return the memory of the tensor.

    Raises
    ------
    ShapeError
        On the meta device, where there is none.
    """
    if self.is_meta:
        raise ShapeError("untyped_storage(): a tensor on the meta device has no memory")
    return Storage(self)


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Return whether both are the same elements of the same memory."""
    if self.is_meta or tensor.is_meta:
        return False
    same_place = address_of(self._array) == address_of(tensor._array)
    return same_place and spec_of(self) == spec_of(tensor)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Return whether both have one shape."""
    return bool(self._array.shape == other._array.shape)


def _nbytes(self: Tensor) -> int:
    """The size of the elements, in bytes."""
    return self.numel() * self.element_size()


for _method in (data_ptr, storage_offset, untyped_storage, is_set_to, is_same_size):
    setattr(Tensor, _method.__name__, _method)
Tensor.nbytes = property(_nbytes, doc=_nbytes.__doc__)  # type: ignore[assignment]
