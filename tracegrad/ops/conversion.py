"""New tensors from lists, arrays and other tensors; the constructor of Tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tracegrad.device import backend_of, resolved
from tracegrad.dispatch import tensor as tensor_module
from tracegrad.dispatch.entry import INFERENCE
from tracegrad.dispatch.operator import FUNCTIONS, public_function
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import (
    DType,
    dtype_given,
    dtype_of_scalar,
    float32,
    from_numpy_dtype,
    get_default_dtype,
)
from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    ElementError,
)
from tracegrad.ops._pointwise import convert
from tracegrad.ops.casts import cast
from tracegrad.ops.creation import (
    Where,
    device_of,
    make_full,
    shape_of,
    uninitialised,
)
from tracegrad.spec import TensorSpec

# -- from data to an array ------------------------------------------------------------


def _data_array(data: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    array = _as_numpy(data)
    if array.dtype.kind not in "biufcV":
        raise _not_numbers(data)
    wanted = _inferred_dtype(data, array) if dtype is None else dtype
    if wanted.kind == "int" and array.dtype.kind == "i":
        _check_range(array, wanted)
    converted = convert(np, array, wanted)
    return np.array(converted, order="K", copy=converted is array or None)


def _not_numbers(data: Any) -> ArgumentError | ArgumentTypeError:
    """Return the error that says which part of `data` is no number that fits."""
    for leaf in _leaves(data):
        if isinstance(leaf, int) and not -(2**63) <= leaf < 2**63:
            return ArgumentValueError(f"{leaf} does not fit an int64")
        if not isinstance(leaf, bool | int | float | complex | np.generic):
            kind = ArgumentTypeError if isinstance(leaf, str | bytes) else ElementError
            return kind(f"a tensor is made of numbers, not of {type(leaf).__name__}")
    return ArgumentTypeError(f"a tensor can't be made of {type(data).__name__}")


def _leaves(data: Any) -> Iterator[Any]:
    if not isinstance(data, list | tuple):
        yield data
        return
    for part in data:
        yield from _leaves(part)


def _as_numpy(data: Any) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ArgumentError(
            f"the nested lists are not of equal lengths: {error}"
        ) from None
    except OverflowError as error:
        raise ArgumentValueError(f"a number does not fit an int64: {error}") from None
    if array.dtype == object:
        array = np.array(_unwrapped(data))
    if array.dtype.kind == "u" and not isinstance(data, np.ndarray | np.generic):
        raise ArgumentValueError("a number does not fit an int64")
    return array


def _check_range(array: Any, dtype: DType) -> None:
    # PyTorch takes negative numbers for unsigned dtypes too: they wrap.
    limits = np.iinfo(dtype.numpy)
    lowest = -int(limits.max) if limits.min == 0 else int(limits.min)
    if array.size and (array.max() > limits.max or array.min() < lowest):
        raise DTypeError(
            f"the numbers from {array.min()} to {array.max()} do not fit {dtype.name}"
        )


def _unwrapped(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data.detach().tolist()  # type: ignore[attr-defined]
    if isinstance(data, list | tuple):
        return [_unwrapped(item) for item in data]
    return data


def _first_leaf(data: Any) -> Any:
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return data


def _inferred_dtype(data: Any, array: Any) -> DType:
    """Return PyTorch's dtype for `data`: Python floats take the default one."""
    leaf = _first_leaf(data)
    if isinstance(leaf, Tensor):
        return leaf.dtype
    if isinstance(leaf, np.ndarray | np.generic):
        return from_numpy_dtype(array.dtype)
    if array.size == 0:
        return get_default_dtype()
    return dtype_of_scalar(array.dtype.type(0).item())


# -- tensor, as_tensor, from_numpy -----------------------------------------------------


@public_function(method=False, by_data=True)
def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Where = None,
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
    ArgumentError
        If nested sequences have different lengths.
    DTypeError
        If an integer does not fit the dtype.

    Examples
    --------
    >>> tensor([[1, 2], [3, 4]]).dtype
    tracegrad.int64
    """
    dtype = dtype_given(dtype, "tensor(): dtype")
    if isinstance(data, Tensor):
        result = _copied(data, dtype, device)
    else:
        result = _created(_data_array(data, dtype), device, "tensor")
    return result.requires_grad_() if requires_grad else result


def _copied(data: Tensor, dtype: DType | None, where: Where) -> Tensor:
    """Return a copy of another tensor, through operators: it may be recorded."""
    copy = cast(data.detach(), dtype or data.dtype)  # type: ignore[attr-defined]
    return copy if where is None else copy.to(where)  # type: ignore[no-any-return]


def _created(array: Any, where: Where, how: str) -> Tensor:
    result = wrap(_placed(array, where))
    if thread.inference:
        result._counter = INFERENCE
    recorder = thread.recorder
    if recorder is not None:
        recorder.created(result, how)
    return result


def _placed(array: Any, where: Where) -> Any:
    target = None if where is None else resolved(where)
    if target is None or target.type == "cpu":
        return array
    if target.type == "meta":
        return TensorSpec(from_numpy_dtype(array.dtype), array.shape, (), target)
    return backend_of(target.type).namespace.asarray(array)


@public_function(method=False, by_data=True)
def as_tensor(data: Any, dtype: DType | None = None, device: Where = None) -> Tensor:
    """Make a tensor of `data`, sharing its memory where that is possible.

    Parameters
    ----------
    data : number, nested sequence of numbers, ndarray or Tensor
    dtype : DType, optional
    device : Device or str, optional

    Raises
    ------
    ArgumentTypeError
        If `data` does not consist of numbers.
    """
    if isinstance(data, Tensor):
        found = data if dtype in (None, data.dtype) else cast(data, dtype)
        return found if device is None else found.to(device)  # type: ignore[union-attr]
    if isinstance(data, np.ndarray) and not (dtype or device):
        return from_numpy(data)  # type: ignore[no-any-return]
    if isinstance(data, np.ndarray) and dtype is from_numpy_dtype(data.dtype):
        return _created(data, device, "as_tensor")
    return tensor(data, dtype=dtype, device=device)  # type: ignore[no-any-return]


@public_function(method=False, by_data=True)
def from_numpy(array: Any) -> Tensor:
    """Make a tensor that shares the memory of `array`.

    Parameters
    ----------
    array : ndarray, shape (...)

    Raises
    ------
    ArgumentTypeError
        If `array` is no ndarray.
    DTypeError
        If its dtype has no counterpart here.
    """
    if not isinstance(array, np.ndarray):
        raise ArgumentTypeError(
            f"from_numpy takes a NumPy array, not {type(array).__name__}"
        )
    from_numpy_dtype(array.dtype)
    return _created(array, None, "from_numpy")


Tensor.from_numpy = staticmethod(from_numpy)  # type: ignore[attr-defined]


# -- the constructor ----------------------------------------------------------------


def _construct(cls: type[Tensor], *args: Any, device: Where = None) -> Tensor:
    """Return ``Tensor(2, 3)``, ``Tensor([1, 2])`` or ``Tensor(tensor)``, float32."""
    if len(args) == 1 and isinstance(args[0], Tensor):
        return wrap(args[0]._array, cls)
    if len(args) == 1 and isinstance(args[0], list | tuple | np.ndarray):
        return _as_class(_created(_data_array(args[0], float32), device, "tensor"), cls)
    size = shape_of(args) if args else (0,)
    return _as_class(uninitialised(size, float32, device_of(device)), cls)


def _as_class(made: Tensor, cls: type[Tensor]) -> Tensor:
    return made if cls is Tensor else wrap(made._array, cls)


tensor_module._from_data = _construct


# -- methods new_* --------------------------------------------------------------------


def _method(function: Any) -> Any:
    setattr(Tensor, function.__name__, function)
    return function


@_method
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of `data` with this tensor's dtype and device."""
    return tensor(  # type: ignore[no-any-return]
        data,
        dtype=dtype or self.dtype,
        device=self.device if device is None else device,
        requires_grad=requires_grad,
    )


def _new_filled(
    self: Tensor, sizes: Sequence[Any], fill_value: complex, options: dict[str, Any]
) -> Tensor:
    named = options.pop("size", None)
    where = options.get("device")
    return make_full(
        shape_of(sizes if named is None else (named,)),
        fill_value,
        options.get("dtype") or self.dtype,
        self.device if where is None else where,
        options.get("requires_grad", False),
    )


@_method
def new_zeros(self: Tensor, *sizes: Any, **options: Any) -> Tensor:
    """Make zeros with this tensor's dtype and device; options as of `zeros`."""
    return _new_filled(self, sizes, 0, options)


@_method
def new_ones(self: Tensor, *sizes: Any, **options: Any) -> Tensor:
    """Make ones with this tensor's dtype and device; options as of `ones`."""
    return _new_filled(self, sizes, 1, options)


@_method
def new_full(self: Tensor, size: Any, fill_value: Any, **options: Any) -> Tensor:
    """Make a tensor of one number with this tensor's dtype and device."""
    return _new_filled(self, (size,), fill_value, options)


@_method
def new_empty(self: Tensor, *sizes: Any, **options: Any) -> Tensor:
    """Make a tensor that is not set, with this tensor's dtype and device."""
    options.setdefault("dtype", self.dtype)
    options.setdefault("device", self.device)
    return FUNCTIONS["empty"].function(*sizes, **options)  # type: ignore[no-any-return]
