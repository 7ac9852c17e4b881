"""From an object to a pickle that PyTorch reads, and the memory of its tensors."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from typing import Any, final

from tracegrad.device import Device
from tracegrad.dispatch.copying import user_attributes
from tracegrad.dispatch.tensor import Parameter, Tensor, spec_of
from tracegrad.dtypes import DType
from tracegrad.serialization import torch_names as names
from tracegrad.serialization.storages import SavedStorage, StoragePool
from tracegrad.serialization.torch_names import TorchGlobal
from tracegrad.sizes import Size


def pickled(obj: Any, protocol: int = 2) -> tuple[bytes, list[SavedStorage]]:
    """Return an object's pickle, and the memory that its tensors lie in.

    Raises
    ------
    PicklingError
        If something in it can't be pickled.
    """
    out = io.BytesIO()
    pool = StoragePool()
    _Writer(out, protocol, pool).dump(obj)
    return out.getvalue(), list(pool.by_owner.values())


# Without types: what a subclass may use of it is not in Python's own stubs.
_PurePickler: Any = pickle._Pickler


@final
class _Writer(_PurePickler):  # type: ignore[misc]
    """Writes tensors, dtypes, sizes and devices under PyTorch's names.

    The pickler in Python, because that in C looks names up where PyTorch has to be
    installed.
    """

    def __init__(self, out: io.BytesIO, protocol: int, pool: StoragePool) -> None:
        super().__init__(out, protocol)
        self._pool = pool
        self._out = out

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        """Write one object."""
        known = self.memo.get(id(obj))
        if known is not None:
            self.write(self.get(known[0]))
        elif isinstance(obj, TorchGlobal):
            self.write(b"c" + f"{obj.module}\n{obj.name}\n".encode())
            self.memoize(obj)
        elif isinstance(obj, DType):
            self.save(names.DTYPES[obj])
        elif isinstance(obj, Tensor):
            self._save_tensor(obj)
        elif isinstance(obj, Size):
            self.save_reduce(names.SIZE, (tuple(obj),), obj=obj)
        elif isinstance(obj, Device):
            index = () if obj.index is None else (obj.index,)
            self.save_reduce(names.DEVICE, (obj.type, *index), obj=obj)
        elif isinstance(obj, SavedStorage):
            self._save_storage(obj)
        else:
            super().save(obj, save_persistent_id)

    def _save_storage(self, storage: SavedStorage) -> None:
        kind = names.STORAGES[storage.dtype]
        entry = ("storage", kind, storage.key, storage.location, storage.numel)
        self.save(entry, save_persistent_id=False)
        self.write(pickle.BINPERSID)

    def _save_tensor(self, tensor: Tensor) -> None:
        function, args = self._parts_of(tensor)
        attributes = user_attributes(tensor)
        if attributes:
            kind = names.PARAMETER if isinstance(tensor, Parameter) else names.TENSOR
            args = (function, kind, args, attributes)
            function = names.REBUILD_TYPE
        self.save_reduce(function, args, obj=tensor)

    def _parts_of(self, tensor: Tensor) -> tuple[TorchGlobal, tuple[Any, ...]]:
        if isinstance(tensor, Parameter):
            data = tensor.detach()  # type: ignore[attr-defined]
            hooks: OrderedDict[str, Any] = OrderedDict()
            return names.REBUILD_PARAMETER, (data, tensor.requires_grad, hooks)
        shape = tuple(map(int, tensor.shape))
        if tensor.is_meta:
            strides = tuple(map(int, spec_of(tensor).strides))
            return names.REBUILD_META, (
                tensor.dtype,
                shape,
                strides,
                tensor.requires_grad,
            )
        storage, offset, strides = self._pool.place_of(tensor)
        return names.REBUILD_TENSOR, (
            storage,
            offset,
            shape,
            strides,
            tensor.requires_grad,
            OrderedDict(),
        )
