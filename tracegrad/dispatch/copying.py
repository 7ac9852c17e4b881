"""Copies of tensors by Python's own means: `copy`, `pickle`, DLPack."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from tracegrad.device import backend_of
from tracegrad.dispatch.extents import address_of
from tracegrad.dispatch.host import host_array
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.storage import (
    array_at,
    form_of,
    is_dense,
    owner_of,
)
from tracegrad.dispatch.tensor import Tensor, version_of, wrap
from tracegrad.dtypes import from_numpy_dtype
from tracegrad.errors import ArgumentTypeError, DTypeError, GradientError

# What a tensor's `__dict__` holds for us and not for the user.
_OURS = frozenset({"_entry_of_leaf"})


def user_attributes(tensor: Tensor) -> dict[str, Any]:
    """Return the attributes that the user gave a tensor."""
    return {k: v for k, v in tensor.__dict__.items() if k not in _OURS}


def _made(
    cls: type[Tensor], array: Any, requires_grad: bool, attributes: dict[str, Any]
) -> Tensor:
    result = wrap(array, cls)
    result.__dict__.update(attributes)
    recorder = thread.recorder
    if recorder is not None:
        recorder.created(result, "a copy by Python")
    return result.requires_grad_() if requires_grad else result


# -- copy, deepcopy --------------------------------------------------------------------


def _copy(self: Tensor) -> Tensor:
    result = _made(type(self), self._array, False, user_attributes(self))
    if self._counter is not None or self._view is not None:
        result._counter = version_of(self)
    return result.requires_grad_() if self.requires_grad else result


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """Return a copy; tensors that share memory share it in the copy too.

    Raises
    ------
    GradientError
        If the tensor is no leaf: its place on the tape can't be copied.
    """
    found = memo.get(id(self))
    if found is not None:
        return found  # type: ignore[no-any-return]
    if not self.is_leaf:
        raise GradientError(
            "only leaves can be deep-copied; use detach() or clone() on a tensor "
            "that an "
            "operator made"
        )
    array = self._array if self.is_meta else _copied_memory(self._array, memo)
    result = _made(type(self), array, self.requires_grad, {})
    memo[id(self)] = result
    if self._grad is not None:
        result._grad = copy.deepcopy(self._grad, memo)
    result.__dict__.update(copy.deepcopy(user_attributes(self), memo))
    return result


def _copied_memory(array: Any, memo: dict[int, Any]) -> Any:
    owner = owner_of(array)
    if not isinstance(array, np.ndarray) or not is_dense(owner):
        return array.copy(order="K")
    copied = memo.get(id(owner))
    if copied is None:
        copied = memo[id(owner)] = owner.copy(order="K")
    return array_at(copied, address_of(array) - address_of(owner), form_of(array))


# -- pickle ----------------------------------------------------------------------------


def _reduce_ex(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    if self.is_meta:
        memory: tuple[Any, ...] = (self._array,)
    else:
        memory = _memory_parts(host_array(self.cpu(), "pickle"))  # type: ignore[attr-defined]
    state = (
        type(self),
        memory,
        str(self.device),
        self.requires_grad,
        user_attributes(self),
    )
    return (_restored, state)


def _memory_parts(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Return what to pickle of an array.

    The owner of the memory is one object for all that share it, so that pickle, which
    writes an object once, keeps them sharing.
    """
    owner = owner_of(array)
    flags = owner.flags
    if owner.size and (flags.c_contiguous or flags.f_contiguous):
        offset = address_of(array) - address_of(owner)
        return (owner, offset, form_of(array))
    return (array.copy(order="C"),)


def _restored(
    cls: type[Tensor],
    memory: tuple[Any, ...],
    device: str,
    requires_grad: bool,
    attributes: dict[str, Any],
) -> Tensor:
    array = memory[0]
    if len(memory) > 1:
        array = array_at(*memory)
    result = _made(cls, array, False, attributes)
    if device not in ("cpu", "meta"):
        result._array = result.to(device)._array  # type: ignore[attr-defined]
    return result.requires_grad_() if requires_grad else result


# -- DLPack ----------------------------------------------------------------------------


def _dlpack(self: Tensor, **options: Any) -> Any:
    """Return a DLPack capsule over the tensor's memory.

    Memory with negative strides is copied: other libraries can't take it.

    Raises
    ------
    BufferError
        If the tensor requires grad, is on the meta device or of a dtype that DLPack
        does not know.
    """
    if self.requires_grad:
        raise BufferError(
            "a tensor that requires grad can't be exported; use tensor.detach()"
        )
    if self.is_meta:
        raise BufferError("a tensor on the meta device has no memory to export")
    recorder = thread.recorder
    if recorder is not None:
        recorder.took(self, "DLPack")
    array = self._array
    if array.dtype.kind == "V":
        raise BufferError(f"NumPy can't export {self.dtype.name} by DLPack")
    if any(step < 0 for step in array.strides):
        array = array.copy()
    return array.__dlpack__(**options)


def _dlpack_device(self: Tensor) -> tuple[int, int]:
    if self.is_meta:
        raise BufferError("a tensor on the meta device has no memory to export")
    device: tuple[int, int] = self._array.__dlpack_device__()
    return device


_DLPACK_CPU = 1


@public_function(method=False, by_data=True)
def from_dlpack(
    ext_tensor: Any, *, device: Any = None, copy: bool | None = None
) -> Any:
    """Make a tensor that shares the memory of another library's.

    Parameters
    ----------
    ext_tensor : object with ``__dlpack__`` and ``__dlpack_device__``
    device : Device or str, optional
        Where the result shall be.
    copy : bool, optional
        Copy always (True), or never (False, an error where it is needed).

    Raises
    ------
    ArgumentTypeError
        If the object does not know DLPack.
    DTypeError
        If its dtype has no counterpart here.
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        raise ArgumentTypeError(
            "from_dlpack takes an object with __dlpack__, not "
            f"{type(ext_tensor).__name__}"
        )
    on_cpu = ext_tensor.__dlpack_device__()[0] == _DLPACK_CPU
    namespace = np if on_cpu else backend_of("cuda").namespace
    try:
        array = namespace.from_dlpack(ext_tensor, copy=copy)
        from_numpy_dtype(array.dtype)
    except (RuntimeError, TypeError) as error:
        raise DTypeError(f"from_dlpack: {error}") from error
    result = wrap(array)
    recorder = thread.recorder
    if recorder is not None:
        recorder.created(result, "from_dlpack")
    return result if device is None else result.to(device)  # type: ignore[attr-defined]


Tensor.__copy__ = _copy  # type: ignore[attr-defined]
Tensor.__deepcopy__ = _deepcopy  # type: ignore[attr-defined]
Tensor.__reduce_ex__ = _reduce_ex  # type: ignore[method-assign, assignment]
Tensor.__dlpack__ = _dlpack  # type: ignore[attr-defined]
Tensor.__dlpack_device__ = _dlpack_device  # type: ignore[attr-defined]
