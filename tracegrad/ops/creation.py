"""New tensors from numbers, lists and arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.device import CPU, Device, device
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import (
    DType,
    dtype_of_scalar,
    from_numpy_dtype,
    get_default_dtype,
)
from tracegrad.errors import ArgumentTypeError, DeviceError, ShapeError
from tracegrad.ops._families import primitive
from tracegrad.ops._pointwise import wrapped_scalar
from tracegrad.sizes import Shape
from tracegrad.spec import TensorSpec


def _full_abstract(
    shape: Shape, value: complex, dtype: DType, device: Device
) -> TensorSpec:
    if any(isinstance(s, int) and s < 0 for s in shape):
        raise ShapeError(f"a shape has no negative sizes: {list(shape)}")
    return TensorSpec(dtype, shape, (), device)


def _full_kernel(
    xp: Any, shape: Shape, value: complex, dtype: DType, device: Device
) -> Any:
    return xp.full(shape, wrapped_scalar(value, dtype), dtype=dtype.numpy)


@primitive(
    "creation",
    abstract=_full_abstract,
    kernel=_full_kernel,
    numpy="np.full({shape}, {value}, {dtype})",
    public=False,
    method=False,
)
def full(shape: Shape, value: complex, dtype: DType, device: Device = CPU) -> Tensor:
    """A tensor of one number."""


def _data_array(data: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ShapeError(f"the nested lists are not of equal lengths: {error}") from None
    if array.dtype == object:
        array = np.array(_unwrapped(data))
    if array.dtype.kind not in "biufcV":
        raise ArgumentTypeError(
            f"a tensor is made of numbers, not of {type(data).__name__} "
            f"(NumPy's {array.dtype})"
        )
    if dtype is None:
        dtype = _inferred_dtype(data, array)
    return array.astype(dtype.numpy)


def _unwrapped(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data.tolist()
    if isinstance(data, list | tuple):
        return [_unwrapped(item) for item in data]
    return data


def _inferred_dtype(data: Any, array: Any) -> DType:
    """Return PyTorch's dtype for `data`: Python floats take the default one."""
    if isinstance(data, np.ndarray | np.generic):
        return from_numpy_dtype(array.dtype)
    if array.size == 0:
        return get_default_dtype()
    return dtype_of_scalar(array.dtype.type(0).item())


@public_function(method=False)
def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor that holds a copy of `data`.

    Parameters
    ----------
    data : number, nested sequence of numbers, ndarray or Tensor
    dtype : DType, optional
        Inferred if not given: bool, int64, the default float, or its complex.
    device : Device or str, optional
    requires_grad : bool

    Raises
    ------
    ArgumentTypeError
        If `data` does not consist of numbers.
    ShapeError
        If nested sequences have different lengths.

    Examples
    --------
    >>> tensor([[1, 2], [3, 4]]).dtype
    tracegrad.int64
    """
    if isinstance(data, Tensor):
        data = data.detach().numpy()  # type: ignore[attr-defined]
    result = wrap(_data_array(data, dtype))
    recorder = thread.recorder
    if recorder is not None:
        recorder.created(result, "tensor")
    if device is not None:
        result = _on_device(result, device)
    return result.requires_grad_() if requires_grad else result


def _on_device(x: Tensor, wanted: Device | str) -> Tensor:
    target = device(wanted)
    if target == x.device:
        return x
    if target.type == "meta":
        return wrap(TensorSpec(x.dtype, x._array.shape, (), target))
    raise DeviceError(f"copying to {target} is not available")


@public_function(method=False)
def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """Make a tensor that shares the memory of `array`.

    Raises
    ------
    ArgumentTypeError
        If `array` is no ndarray.
    """
    if not isinstance(array, np.ndarray):
        raise ArgumentTypeError(
            f"from_numpy takes a NumPy array, not {type(array).__name__}"
        )
    from_numpy_dtype(array.dtype)
    result = wrap(array)
    recorder = thread.recorder
    if recorder is not None:
        recorder.created(result, "from_numpy")
    return result


Tensor.from_numpy = staticmethod(from_numpy)  # type: ignore[attr-defined]


def shape_of(size: Sequence[Any]) -> Shape:
    """Return the shape meant by ``f(2, 3)`` or ``f((2, 3))``."""
    if len(size) == 1 and isinstance(size[0], tuple | list):
        return tuple(int(s) for s in size[0])
    return tuple(int(s) for s in size)


def _filled(
    size: Sequence[Any],
    value: complex,
    dtype: DType | None,
    where: Device | str | None,
    requires_grad: bool,
) -> Tensor:
    target = CPU if where is None else device(where)
    result: Tensor = full(shape_of(size), value, dtype or get_default_dtype(), target)
    return result.requires_grad_() if requires_grad else result


@public_function(method=False)
def zeros(
    *size: Any,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of zeros."""
    return _filled(size, 0, dtype, device, requires_grad)


@public_function(method=False)
def ones(
    *size: Any,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of ones."""
    return _filled(size, 1, dtype, device, requires_grad)


