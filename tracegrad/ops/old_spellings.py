"""Methods of Tensor that older programs use, and questions about what is not here."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, final

import numpy as np

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.storage import owner_of
from tracegrad.dispatch.tensor import Tensor, version_of
from tracegrad.dtypes import DType, dtype_of_scalar, result_type_of
from tracegrad.dtypes import can_cast as _can_cast
from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    DTypeError,
    GradientError,
    NotSupportedError,
    ScalarError,
    ShapeError,
)
from tracegrad.ops.creation import shape_of
from tracegrad.sizes import shape_text


@final
class Layout:
    """How elements are laid out: ``strided`` is the only one."""

    def __repr__(self) -> str:
        return "torch.strided"


strided = Layout()


def _attach(function: Callable[..., Any]) -> Callable[..., Any]:
    setattr(Tensor, function.__name__, function)
    return function


# -- memory -------------------------------------------------------------------------


@_attach
def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Make a tensor of this dtype of data, or of a shape (then it is not set)."""
    if len(args) == 1 and not isinstance(args[0], int | tuple):
        return self.new_tensor(args[0], **kwargs)  # type: ignore[attr-defined, no-any-return]
    size = shape_of(args) if args else (0,)
    return self.new_empty(size, **kwargs)  # type: ignore[attr-defined, no-any-return]


@_attach
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Change the shape in place; elements keep their order, new ones are not set.

    Parameters
    ----------
    sizes : int or tuple of int

    Raises
    ------
    GradientError
        If the tensor requires grad.
    """
    shape = tuple(int(size) for size in shape_of(sizes))
    if any(size < 0 for size in shape):
        raise ShapeError(f"resize_: sizes can't be negative: {shape_text(shape)}")
    if self.requires_grad:
        raise GradientError("resize_: cannot resize variables that require grad")
    if thread.recorder is not None:
        thread.recorder.touches(self, "resizes the memory")
    if shape != self._array.shape:
        _resize(self, shape)
        version_of(self)[0] += 1
    return self


def _resize(tensor: Tensor, shape: Any) -> None:
    array = tensor._array
    if array.__class__ is not np.ndarray:
        raise NotSupportedError(
            f"resize_: tensors on {tensor.device} can't be resized; use new_empty"
        )
    count = math.prod(shape)
    start = tensor.storage_offset()  # type: ignore[attr-defined]
    owner = owner_of(array)
    if owner.dtype == array.dtype and owner.flags.c_contiguous:
        memory = owner.reshape(-1)
    else:
        memory, start = array.ravel(), 0
    if start + count > memory.size:
        grown = np.empty(start + count, array.dtype)
        grown[: memory.size] = memory
        memory = grown
    tensor._array = memory[start : start + count].reshape(shape)


@_attach
def resize(self: Tensor, *sizes: Any) -> Tensor:
    """Return the elements in another shape of as many elements."""
    return self.reshape(*sizes)  # type: ignore[attr-defined, no-any-return]


@_attach
def set_(self: Tensor, source: Any = None) -> Tensor:
    """Let this tensor stand for the memory of another one.

    Raises
    ------
    ArgumentTypeError
        If `source` is no tensor.
    GradientError
        If the tensor requires grad.
    """
    if source is None:
        source = self.new_empty((0,))  # type: ignore[attr-defined]
    if not isinstance(source, Tensor):
        raise ArgumentTypeError(
            f"set_() takes a tensor whose memory to use, not {type(source).__name__}"
        )
    if source.dtype is not self.dtype:
        raise DTypeError(f"set_: memory of {source.dtype} is none of {self.dtype}")
    if self.requires_grad:
        raise GradientError(
            "set_: a tensor that requires grad is being used in an in-place operation; "
            "assign to its .data"
        )
    self.data = source  # type: ignore[attr-defined]
    version_of(self)[0] += 1
    return self


@_attach
def storage(self: Tensor) -> Any:
    """Return the memory of the tensor, as `untyped_storage` does."""
    return self.untyped_storage()  # type: ignore[attr-defined]


@_attach
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Return the tensor itself: memory is pinned for a CUDA device, in transfers."""
    return self


@_attach
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Return False."""
    return False


@_attach
def share_memory_(self: Tensor) -> Tensor:
    """Return the tensor itself: processes get copies."""
    return self


@_attach
def is_shared(self: Tensor) -> bool:
    """Return False: processes get copies."""
    return False


@_attach
def record_stream(self: Tensor, stream: Any) -> None:
    """Do nothing: CuPy's memory pool follows its own streams."""


# -- questions ----------------------------------------------------------------------


@_attach
def get_device(self: Tensor) -> int:
    """Return the number of its device, -1 for the CPU."""
    device = self.device
    return -1 if device.type != "cuda" else (device.index or 0)


@_attach
def is_signed(self: Tensor) -> bool:
    """Return whether the dtype can hold negative values."""
    return self.dtype.is_signed


@_attach
def is_neg(self: Tensor) -> bool:
    """Return False: negation is computed, not noted."""
    return False


@_attach
def is_conj(self: Tensor) -> bool:
    """Return False: conjugation is computed, not noted."""
    return False


@_attach
def resolve_neg(self: Tensor) -> Tensor:
    """Return the tensor itself: negation is computed, not noted."""
    return self


@_attach
def resolve_conj(self: Tensor) -> Tensor:
    """Return the tensor itself: conjugation is computed, not noted."""
    return self


@_attach
def to_dense(self: Tensor, dtype: DType | None = None) -> Tensor:
    """Return the tensor itself, or in another dtype: it is dense."""
    return self if dtype is None else self.to(dtype)  # type: ignore[attr-defined, no-any-return]


@_attach
def to_sparse(self: Tensor, *sizes: Any) -> Tensor:
    """Refuse.

    Raises
    ------
    NotSupportedError
        Always.
    """
    raise NotSupportedError(
        "to_sparse(): sparse tensors are left out; keep the dense tensor, or its "
        "nonzero() and values"
    )


@public_function(method=True)
def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element is not zero.

    Raises
    ------
    ScalarError
        If there is not exactly one element.
    """
    if input.numel() != 1:
        raise ScalarError(
            f"is_nonzero() wants one element, this tensor has {input.numel()}"
        )
    return bool(input)


Tensor.is_nonzero = is_nonzero  # type: ignore[attr-defined]


def _constant(value: Any, summary: str) -> property:
    return property(lambda self: value, doc=summary)


_ATTRIBUTES = {
    "layout": _constant(strided, "How elements are laid out: ``strided``."),
    "itemsize": property(Tensor.element_size, doc="Size of one element, in bytes."),
    "is_cuda": property(
        lambda self: self.device.type == "cuda", doc="Whether it is on a CUDA device."
    ),
    "is_cpu": property(
        lambda self: self.device.type == "cpu", doc="Whether it is on the CPU."
    ),
}
for _name in ("sparse", "sparse_csr", "quantized", "mkldnn", "mps", "xpu", "nested"):
    _ATTRIBUTES[f"is_{_name}"] = _constant(False, "False: there are none here.")
for _name, _attribute in _ATTRIBUTES.items():
    setattr(Tensor, _name, _attribute)


# -- settings -----------------------------------------------------------------------


@public_function(method=False)
def get_default_device() -> Any:
    """Return the device where new tensors are made: the CPU."""
    return Tensor([]).device


@public_function(method=False)
def set_default_device(device: Any) -> None:
    """Accept the CPU, where new tensors are made; name other devices at each call.

    Raises
    ------
    DeviceError
        For another device.
    """
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise DeviceError(
            f"set_default_device({str(device)!r}): new tensors are made on the CPU; "
            "give device= where one is made, or move it by to()"
        )


@public_function(method=False)
def get_num_threads() -> int:
    """Return how many threads NumPy's BLAS may use: one per core it sees."""
    return int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)


@public_function(method=False)
def set_num_threads(int: int) -> None:
    """Accept a number of threads.

    NumPy's BLAS reads its own from ``OMP_NUM_THREADS`` when it is loaded; results do
    not depend on it.

    Raises
    ------
    ArgumentError
        If it is not positive.
    """
    if int < 1:
        raise ArgumentError(f"set_num_threads() takes a positive number, not {int}")


@public_function(method=False)
def get_num_interop_threads() -> int:
    """Return 1: operators run one after the other."""
    return 1


@public_function(method=False)
def set_num_interop_threads(int: int) -> None:
    """Do nothing: operators run one after the other."""


# -- dtypes of results ----------------------------------------------------------------


@public_function(method=False)
def can_cast(from_: DType, to: DType) -> bool:
    """Return whether a result of dtype `from_` may be stored in place as `to`."""
    return _can_cast(from_, to)


@public_function(method=False)
def result_type(tensor: Any, other: Any, /) -> DType:
    """Return the dtype of an arithmetic result of two tensors or numbers."""
    classes: tuple[list[DType], list[DType], list[DType]] = ([], [], [])
    for value in (tensor, other):
        if not isinstance(value, Tensor):
            classes[2].append(dtype_of_scalar(value))
        else:
            classes[0 if value.ndim else 1].append(value.dtype)
    return result_type_of(*classes)
