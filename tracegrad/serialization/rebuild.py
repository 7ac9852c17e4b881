"""From the entries of a file to tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from tracegrad.device import CPU, META, Device
from tracegrad.dispatch.tensor import Parameter, Tensor, wrap
from tracegrad.dtypes import DType
from tracegrad.errors import LoadError
from tracegrad.serialization.machine import Global
from tracegrad.spec import TensorSpec

_MOST_DIMENSIONS: Final = 64
_LARGEST: Final = 2**63


@final
@dataclass(frozen=True, slots=True)
class StorageType:
    """What a file names the class of some memory.

    Attributes
    ----------
    name : str
    dtype : DType or None
        None for bytes whose dtype each tensor tells.
    """

    name: str
    dtype: DType | None


@final
@dataclass(frozen=True, slots=True)
class StorageData:
    """Memory read from a file.

    Attributes
    ----------
    data : ndarray of uint8
        Empty on the meta device.
    dtype : DType or None
    device : Device
    numel : int
    """

    data: np.ndarray[Any, Any]
    dtype: DType | None
    device: Device
    numel: int


def rebuild_tensor(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any = False,
    backward_hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    """Return the tensor at a place in some memory.

    Raises
    ------
    LoadError
        If the place is not within the memory.
    """
    if not isinstance(storage, StorageData) or storage.dtype is None:
        raise LoadError("a tensor of the file has no memory")
    del backward_hooks, metadata
    return _tensor_at(
        storage, storage.dtype, storage_offset, size, stride, requires_grad
    )


def rebuild_typed_tensor(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """Return the tensor of a dtype at a place in some memory; as `rebuild_tensor`."""
    if not isinstance(storage, StorageData) or not isinstance(dtype, DType):
        raise LoadError("a tensor of the file has no memory, or no dtype")
    del backward_hooks, metadata
    return _tensor_at(storage, dtype, storage_offset, size, stride, requires_grad)


def rebuild_meta(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    """Return a tensor without data."""
    if not isinstance(dtype, DType):
        raise LoadError("a tensor of the file has no dtype")
    spec = TensorSpec(dtype, *_checked_form(size, stride), META)
    return _required(wrap(spec), requires_grad)


def rebuild_parameter(data: Any, requires_grad: Any, hooks: Any = None) -> Parameter:
    """Return a parameter over a tensor's memory."""
    if not isinstance(data, Tensor):
        raise LoadError("a parameter of the file is made of no tensor")
    del hooks
    made: Parameter = Parameter(data, bool(requires_grad))
    return made


def rebuild_parameter_with_state(
    data: Any, requires_grad: Any, hooks: Any, state: Any
) -> Parameter:
    """Return a parameter with attributes of its own."""
    made = rebuild_parameter(data, requires_grad, hooks)
    set_attributes(made, state)
    return made


def rebuild_with_attributes(function: Any, kind: Any, args: Any, state: Any) -> Tensor:
    """Return a tensor with attributes of its own."""
    if not isinstance(function, Global) or function.call is None:
        raise LoadError("a tensor of the file is made by no function")
    if kind not in (Tensor, Parameter) or type(args) is not tuple:
        raise LoadError(f"a tensor of the file has the class {kind!r}")
    made = function.call(*args)
    if not isinstance(made, Tensor):
        raise LoadError("a tensor of the file is none")
    set_attributes(made, state)
    return made


def set_attributes(tensor: Tensor, state: Any) -> None:
    """Give a tensor attributes of its own; they can't stand for what a tensor is."""
    if type(state) is tuple and len(state) == 2:
        state = state[0]
    if not isinstance(state, dict):
        raise LoadError("the attributes of a tensor are no dict")
    for name, value in state.items():
        if type(name) is not str or name.startswith("_") or hasattr(Tensor, name):
            raise LoadError(f"a tensor of the file has an attribute {name!r}")
        tensor.__dict__[name] = value


def _tensor_at(
    storage: StorageData,
    dtype: DType,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
) -> Tensor:
    shape, strides = _checked_form(size, stride)
    if type(offset) is not int or offset < 0:
        raise LoadError(f"a tensor of the file begins at {offset!r} of its memory")
    empty = 0 in shape
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    count = storage.numel
    if storage.dtype is None:
        count //= dtype.itemsize
    if not empty and last >= count:
        raise LoadError(
            f"a tensor of shape {list(shape)} reaches element {last} of memory that "
            f"has {count}"
        )
    if storage.device == META:
        return _required(wrap(TensorSpec(dtype, shape, strides, META)), requires_grad)
    array = _array_at(storage.data, dtype, 0 if empty else offset, shape, strides)
    tensor = wrap(array)
    if storage.device != CPU:
        tensor = tensor.to(storage.device)  # type: ignore[attr-defined]
    return _required(tensor, requires_grad)


def _array_at(
    data: np.ndarray[Any, Any],
    dtype: DType,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> np.ndarray[Any, Any]:
    itemsize = dtype.itemsize
    steps = tuple(step * itemsize for step in strides)
    try:
        if 0 in shape:
            nothing = np.empty(itemsize, np.uint8)
            return np.ndarray(shape, dtype.numpy, nothing, 0, steps)
        return np.ndarray(shape, dtype.numpy, data, offset * itemsize, steps)
    except (ValueError, MemoryError) as error:
        raise LoadError(
            f"a tensor of the file has the shape {shape}: {error}"
        ) from error


def _checked_form(size: Any, stride: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides after a check.

    Raises
    ------
    LoadError
        If they are no rows of numbers that a tensor can have.
    """
    for row in (size, stride):
        if not isinstance(row, tuple) or len(row) > _MOST_DIMENSIONS:
            raise LoadError("a tensor of the file has no shape")
        if not all(type(n) is int and 0 <= n < _LARGEST for n in row):
            raise LoadError(f"a tensor of the file has a negative or huge size: {row}")
    if len(size) != len(stride):
        raise LoadError("a tensor of the file has a shape and strides of other lengths")
    return tuple(size), tuple(stride)


def _required(tensor: Tensor, requires_grad: Any) -> Tensor:
    if not requires_grad:
        return tensor
    if tensor.dtype.kind not in ("float", "complex"):
        raise LoadError(f"a tensor of {tensor.dtype.name} in the file requires grad")
    return tensor.requires_grad_()
