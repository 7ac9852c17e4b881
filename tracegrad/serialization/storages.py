"""The memory of saved tensors: what they share when written, how it is read back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from tracegrad.dispatch.extents import address_of
from tracegrad.dispatch.storage import owner_of
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType
from tracegrad.errors import ArgumentValueError


@final
@dataclass(slots=True)
class SavedStorage:
    """One block of memory to be written.

    Attributes
    ----------
    key : str
        Its name in the file.
    dtype : DType
    data : ndarray of uint8
    location : str
        The device it was on.
    """

    key: str
    dtype: DType
    data: np.ndarray[Any, Any]
    location: str

    @property
    def numel(self) -> int:
        """How many elements of `dtype` it has."""
        return int(self.data.nbytes // self.dtype.itemsize)


@final
@dataclass(slots=True)
class StoragePool:
    """The blocks of memory of all tensors that are saved together."""

    by_owner: dict[int, SavedStorage] = field(default_factory=dict)
    # The arrays whose identities are keys above: alive until all is written.
    owners: list[Any] = field(default_factory=list)

    def place_of(self, tensor: Tensor) -> tuple[SavedStorage, int, tuple[int, ...]]:
        """Return the storage of a tensor, its offset and its strides, in elements.

        Raises
        ------
        ArgumentValueError
            If the same memory is saved as tensors of two dtypes, which the file format
            does not have.
        """
        array = _native(tensor.detach().cpu()._array)  # type: ignore[attr-defined]
        owner = owner_of(array)
        if not _can_share(array, owner):
            owner = array = np.ascontiguousarray(array).reshape(array.shape)
        storage = self._storage_of(owner, tensor)
        itemsize = array.dtype.itemsize
        offset = 0
        if array.size:
            offset = (address_of(array) - address_of(owner)) // itemsize
        return storage, offset, tuple(step // itemsize for step in array.strides)

    def _storage_of(self, owner: np.ndarray[Any, Any], tensor: Tensor) -> SavedStorage:
        found = self.by_owner.get(id(owner))
        if found is None:
            data = _flat_bytes(owner)
            key = str(len(self.by_owner))
            found = SavedStorage(key, tensor.dtype, data, str(tensor.device))
            self.by_owner[id(owner)] = found
            self.owners.append(owner)
        if found.dtype is not tensor.dtype:
            raise ArgumentValueError(
                "save(): two tensors share memory and see it as "
                f"{found.dtype.name} and as {tensor.dtype.name}; clone() one of them"
            )
        return found


def _native(array: Any) -> Any:
    """Return an array in this machine's byte order."""
    if array.dtype.isnative:
        return array
    return array.astype(array.dtype.newbyteorder("="))


def _can_share(array: np.ndarray[Any, Any], owner: np.ndarray[Any, Any]) -> bool:
    """Return whether a tensor can be saved as a part of its owner's memory."""
    flags = owner.flags
    if not (flags.c_contiguous or flags.f_contiguous) or owner.nbytes < array.itemsize:
        return False
    itemsize = array.dtype.itemsize
    steps = [*array.strides, address_of(array) - address_of(owner), owner.nbytes]
    return all(step >= 0 and step % itemsize == 0 for step in steps)


def _flat_bytes(owner: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the memory of a contiguous array as bytes, without a copy."""
    return owner.reshape(-1, order="A").view(np.uint8)
