"""Creation functions of the standard."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

import tracegrad as tg
from tracegrad.array_api.arrays import adopt, check_kind, tensor_of
from tracegrad.device import Device
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, from_numpy_dtype, get_default_dtype
from tracegrad.errors import ArgumentError, ArgumentTypeError

Where = Device | str | None
_NUMBERS = ("bool", "int", "float", "complex")


def asarray(
    obj: Any,
    /,
    *,
    dtype: DType | None = None,
    device: Where = None,
    copy: builtins.bool | None = None,
) -> Any:
    """Return an array of numbers, nested sequences of them, an array or a buffer.

    Raises
    ------
    ArgumentError
        If `copy` is False and a copy is needed.
    """
    if isinstance(obj, Tensor):
        return _of_tensor(obj, dtype, device, copy)
    shares = isinstance(obj, np.ndarray)
    if not shares and hasattr(obj, "__dlpack__"):
        return _of_tensor(tg.from_dlpack(obj), dtype, device, copy)
    host = np.asarray(_numbers(obj))
    if copy is False and not (shares or isinstance(obj, memoryview | bytearray)):
        raise ArgumentError("asarray: these numbers can't be used without a copy")
    wanted = dtype or _dtype_for(obj, host)
    if host.dtype != wanted.numpy:
        if copy is False:
            raise ArgumentError(f"asarray: {host.dtype} as {wanted.name} needs a copy")
        host = host.astype(wanted.numpy)
    elif copy or not host.flags.writeable:
        host = host.copy()
    found = tg.from_numpy(host)
    return adopt(found if device is None else found.to(device))


def _of_tensor(
    tensor: Tensor, dtype: DType | None, device: Where, copy: builtins.bool | None
) -> Any:
    found: Any = tensor if dtype is None else tensor.to(dtype)  # type: ignore[attr-defined]
    found = found if device is None else found.to(device)
    if copy is False and found is not tensor:
        raise ArgumentError("asarray: another dtype or device needs a copy")
    if copy and found is tensor:
        found = found.clone()
    if type(found) is Tensor and found is tensor:
        # Another object over the same memory: the user's Tensor stays a plain one.
        found = OPERATORS["alias"](found)
    return adopt(found)


def _numbers(obj: Any) -> Any:
    if isinstance(obj, Tensor):
        return obj.detach().numpy()  # type: ignore[attr-defined]
    if isinstance(obj, list | tuple):
        return [_numbers(part) for part in obj]
    return obj


def _holds_arrays(obj: Any) -> builtins.bool:
    if isinstance(obj, list | tuple):
        return any(_holds_arrays(part) for part in obj)
    return isinstance(obj, Tensor | np.ndarray | np.generic)


def _dtype_for(obj: Any, host: Any) -> DType:
    if host.dtype.kind == "O" and isinstance(obj, int):
        raise ArgumentError(f"asarray: {obj} does not fit int64")
    if host.dtype.kind not in "biufc":
        raise ArgumentTypeError(f"asarray: {type(obj).__name__} holds no numbers")
    numbers = isinstance(obj, list | tuple | int | float | complex)
    if not numbers or _holds_arrays(obj):
        return from_numpy_dtype(host.dtype)
    if host.dtype.kind == "u":
        raise ArgumentError("asarray: an integer does not fit int64")
    if host.dtype.kind in "bi":
        return from_numpy_dtype(host.dtype)
    default = get_default_dtype()
    return default if host.dtype.kind == "f" else default.to_complex()


def _placed(host: Any, dtype: DType, device: Where) -> Any:
    found = tg.from_numpy(np.array(host, dtype.numpy))
    return adopt(found if device is None else found.to(device))


def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: DType | None = None,
    device: Where = None,
) -> Any:
    """Return evenly spaced numbers within ``[start, stop)``."""
    first, last = (0, start) if stop is None else (start, stop)
    if dtype is None:
        whole = all(isinstance(v, int) for v in (first, last, step))
        dtype = tg.int64 if whole else get_default_dtype()
    return _placed(np.arange(first, last, step), dtype, device)


def _sizes(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def empty(shape: Any, *, dtype: DType | None = None, device: Where = None) -> Any:
    """Return an uninitialised array."""
    return adopt(tg.empty(_sizes(shape), dtype=dtype, device=device))


def zeros(shape: Any, *, dtype: DType | None = None, device: Where = None) -> Any:
    """Return an array of zeros."""
    return adopt(tg.zeros(_sizes(shape), dtype=dtype, device=device))


def ones(shape: Any, *, dtype: DType | None = None, device: Where = None) -> Any:
    """Return an array of ones."""
    return adopt(tg.ones(_sizes(shape), dtype=dtype, device=device))


def full(
    shape: Any, fill_value: Any, *, dtype: DType | None = None, device: Where = None
) -> Any:
    """Return an array filled with a number."""
    return adopt(tg.full(_sizes(shape), fill_value, dtype=dtype, device=device))


def _like(name: str, x: Any, dtype: DType | None, device: Where, *value: Any) -> Any:
    tensor = tensor_of(x, name)
    function = getattr(tg, name)
    with tg.no_grad():
        return adopt(function(tensor, *value, dtype=dtype, device=device), x)


def empty_like(x: Any, /, *, dtype: DType | None = None, device: Where = None) -> Any:
    """Return an uninitialised array of the shape of another."""
    return _like("empty_like", x, dtype, device)


def zeros_like(x: Any, /, *, dtype: DType | None = None, device: Where = None) -> Any:
    """Return zeros of the shape of another array."""
    return _like("zeros_like", x, dtype, device)


def ones_like(x: Any, /, *, dtype: DType | None = None, device: Where = None) -> Any:
    """Return ones of the shape of another array."""
    return _like("ones_like", x, dtype, device)


def full_like(
    x: Any, /, fill_value: Any, *, dtype: DType | None = None, device: Where = None
) -> Any:
    """Return an array of the shape of another, filled with a number."""
    return _like("full_like", x, dtype, device, fill_value)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType | None = None,
    device: Where = None,
) -> Any:
    """Return ones on a diagonal, zeros elsewhere."""
    host = np.eye(n_rows, n_cols, k)
    return _placed(host, dtype or get_default_dtype(), device)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: Where = None,
    endpoint: builtins.bool = True,
) -> Any:
    """Return `num` evenly spaced numbers from `start` to `stop`."""
    if dtype is None:
        default = get_default_dtype()
        is_complex = isinstance(start, complex) or isinstance(stop, complex)
        dtype = default.to_complex() if is_complex else default
    check_dtype(dtype, "linspace")
    return _placed(np.linspace(start, stop, num, endpoint=endpoint), dtype, device)


def check_dtype(dtype: DType, what: str) -> None:
    """Refuse a dtype that is not floating."""
    if dtype.kind not in ("float", "complex"):
        raise ArgumentTypeError(f"{what} takes a floating dtype, not {dtype.name}")


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """Return coordinate arrays from vectors."""
    if len({tensor_of(a, "meshgrid").dtype for a in arrays}) > 1:
        raise ArgumentError("meshgrid takes arrays of one dtype")
    if not arrays:
        return ()
    found = tg.meshgrid(*arrays, indexing=indexing)
    return tuple(adopt(part, *arrays) for part in found)


def tril(x: Any, /, *, k: int = 0) -> Any:
    """Return the lower triangles of matrices."""
    return adopt(tg.tril(_matrices(x, "tril"), k), x)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """Return the upper triangles of matrices."""
    return adopt(tg.triu(_matrices(x, "triu"), k), x)


def _matrices(x: Any, what: str) -> Tensor:
    tensor = check_kind(tensor_of(x, what), _NUMBERS, what)
    if tensor.ndim < 2:
        raise ArgumentError(f"{what} takes matrices, not {tensor.ndim} dimensions")
    return tensor


def from_dlpack(
    x: Any, /, *, device: Where = None, copy: builtins.bool | None = None
) -> Any:
    """Return an array that shares the memory of another library's."""
    return adopt(tg.from_dlpack(x, device=device, copy=copy))


__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full",
    "full_like", "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros",
    "zeros_like",
]  # fmt: skip
