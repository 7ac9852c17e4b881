"""The stand-in's array: NumPy inside, but no easier to mix with it."""

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from tests.support.cuda_on_cpu.fake_cuda import Device, MemoryPointer
from tests.support.cuda_on_cpu.fake_state import COUNTERS, CUPY_NAMES
from tests.support.cuda_on_cpu.memory import allocate, allocation_of

# Their result's shape depends on data, so the host must wait for the device.
_WAITING: Final = frozenset({"nonzero", "argwhere", "flatnonzero", "unique", "extract"})
# NumPy gives a Python bool where CuPy leaves the answer on the device.
_DEVICE_BOOLS: Final = frozenset({"allclose", "array_equal", "array_equiv"})


class Flags(NamedTuple):
    """CuPy's flags: there are no others."""

    c_contiguous: bool
    f_contiguous: bool
    owndata: bool

    @property
    def forc(self) -> bool:
        """Whether it is contiguous in either order."""
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        """Whether it is contiguous in Fortran's order only."""
        return self.f_contiguous and not self.c_contiguous


class ndarray:  # noqa: N801 (CuPy's name)
    """An array on the pretended device.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
    memptr : MemoryPointer, optional
        Memory to look at; by default new memory, full of NaN.
    strides : tuple of int, optional
        In bytes; only with `memptr`.
    """

    __slots__ = ("__weakref__", "_base", "_host")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: Any,
        dtype: DTypeLike = float,
        memptr: MemoryPointer | None = None,
        strides: Any = None,
    ) -> None:
        self._base: ndarray | None = None
        if memptr is None:
            self._host = _new(shape, dtype)
        else:
            self._host = memptr.array(shape, dtype, strides)

    # ---- what is different from NumPy ----

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        if f"cupy.{ufunc.__name__}" not in CUPY_NAMES:
            return NotImplemented
        return device_function(getattr(ufunc, method))(*inputs, **kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        known = f"cupy.{function.__name__}" in CUPY_NAMES
        if not known or any(issubclass(kind, np.ndarray) for kind in types):
            return NotImplemented
        return device_function(function)(*args, **kwargs)

    def get(
        self,
        stream: object = None,
        order: str = "C",
        out: np.ndarray[Any, Any] | None = None,
        blocking: bool = True,
    ) -> np.ndarray[Any, Any]:
        """Copy to the host."""
        COUNTERS.device_to_host += 1
        if out is None:
            return self._host.copy()
        out[...] = self._host
        return out

    def set(self, arr: np.ndarray[Any, Any], stream: object = None) -> None:
        """Copy from the host."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if arr.shape != self._host.shape or arr.dtype != self._host.dtype:
            raise ValueError(
                f"set: the array is {self._host.dtype}{list(self._host.shape)}, "
                f"the data {arr.dtype}{list(arr.shape)}"
            )
        COUNTERS.host_to_device += 1
        self._host[...] = arr

    @property
    def data(self) -> MemoryPointer:
        """Where the elements are."""
        memory = allocation_of(self._host)
        assert memory is not None
        return MemoryPointer(memory, self._host.ctypes.data - memory.address)

    @property
    def device(self) -> Device:
        """The only device."""
        return Device()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        host = self._host
        return {
            "shape": host.shape,
            "typestr": host.dtype.str,
            "data": (self.data.ptr, False),
            "strides": None if host.flags.c_contiguous else host.strides,
            "version": 3,
        }

    @property
    def flags(self) -> Flags:
        """What is known of the memory's layout."""
        flags = self._host.flags
        return Flags(flags.c_contiguous, flags.f_contiguous, self._base is None)

    @property
    def base(self) -> "ndarray | None":
        """The array that this one is a view of, or None."""
        return self._base

    def item(self, *args: Any) -> Any:
        """Copy one element to the host."""
        COUNTERS.device_to_host += 1
        return self._host.item(*args)

    def tolist(self) -> Any:
        """Copy to the host, as a list."""
        COUNTERS.device_to_host += 1
        return self._host.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """Copy to the host, as bytes."""
        COUNTERS.device_to_host += 1
        return self._host.tobytes(order)

    # ---- what is NumPy's ----

    def __getattr__(self, name: str) -> Any:
        # Without this check np.asarray would find NumPy's own protocols.
        if name.startswith("__") or f"cupy.ndarray.{name}" not in CUPY_NAMES:
            raise AttributeError(f"'ndarray' object has no attribute {name!r}")
        try:
            value = getattr(self._host, name)
        except AttributeError:
            raise AttributeError(
                f"the stand-in for CuPy has no ndarray.{name}, though CuPy has"
            ) from None
        return device_function(value, self) if callable(value) else self._own(value)

    def __getitem__(self, index: Any) -> Any:
        _count_mask(index)
        # The Ellipsis makes NumPy give a view where it would give a scalar.
        key = index if isinstance(index, tuple) else (index,)
        whole = key if any(part is Ellipsis for part in key) else (*key, Ellipsis)
        return self._own(self._host[to_host(whole)])

    def _own(self, value: Any) -> Any:
        """Move a result to the device; if it is a view, it is one of this array."""
        found = to_device(value)
        if isinstance(found, ndarray) and found._host is value:
            found._base = self if self._base is None else self._base
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        self._host[to_host(index)] = to_host(value)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self._host)))

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, spec: str) -> str:
        return format(self.get(), spec)

    def __copy__(self) -> "ndarray":
        return adopt(_copy(self._host))

    def __deepcopy__(self, memo: object) -> "ndarray":
        return adopt(_copy(self._host))

    def __reduce__(self) -> Any:
        return from_host, (self.get(),)


def _convert(name: str) -> Callable[[ndarray], Any]:
    convert = getattr(np.ndarray, name)

    def method(self: ndarray) -> Any:
        COUNTERS.device_to_host += 1
        return convert(self._host)

    return method


def _operate(name: str) -> Callable[..., Any]:
    operate = getattr(np.ndarray, name)

    def method(self: ndarray, *operands: Any) -> Any:
        with np.errstate(all="ignore"):  # devices do not warn
            return to_device(operate(self._host, *to_host(operands)))

    return method


def _operate_in_place(name: str) -> Callable[[ndarray, Any], ndarray]:
    operate = getattr(operator, name)

    def method(self: ndarray, operand: Any) -> ndarray:
        with np.errstate(all="ignore"):  # devices do not warn
            operate(self._host, to_host(operand))
        return self

    return method


_BINARY: Final = "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift"
_UNARY: Final = "neg pos abs invert lt le eq ne gt ge"


def _add_operators() -> None:
    binary = [*_BINARY.split(), "rshift"]
    for name in [*binary, *(f"r{name}" for name in binary), *_UNARY.split()]:
        setattr(ndarray, f"__{name}__", _operate(f"__{name}__"))
    for name in binary:
        if name != "divmod":
            setattr(ndarray, f"__i{name}__", _operate_in_place(f"__i{name}__"))
    for name in ("bool", "int", "float", "complex", "index"):
        setattr(ndarray, f"__{name}__", _convert(f"__{name}__"))


_add_operators()


# ---- between host and device ----


def adopt(host: np.ndarray[Any, Any]) -> ndarray:
    """Device array over memory that is the device's already."""
    array = object.__new__(ndarray)
    array._base = None
    array._host = host
    return array


def from_host(host: np.ndarray[Any, Any]) -> ndarray:
    """Copy to the device, counted."""
    COUNTERS.host_to_device += 1
    return adopt(_copy(host))


def _new(shape: Any, dtype: DTypeLike) -> np.ndarray[Any, Any]:
    wanted = np.dtype(dtype)
    is_number = wanted.kind in "biufc" or wanted.name == "bfloat16"
    if not is_number or wanted.itemsize > 8 * (1 + (wanted.kind == "c")):
        raise ValueError(f"Unsupported dtype {wanted}")
    COUNTERS.allocations += 1
    return allocate(shape, wanted)


def _copy(host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    copy = _new(host.shape, host.dtype)
    copy[...] = host
    return copy


def to_host(value: Any) -> Any:
    """What NumPy computes with: the same memory, for device arrays in any nesting."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, tuple):
        return tuple(map(to_host, value))
    if isinstance(value, list):
        return list(map(to_host, value))
    if isinstance(value, dict):
        return {key: to_host(part) for key, part in value.items()}
    return value


def to_device(value: Any) -> Any:
    """What CuPy would give: never a NumPy scalar, never host memory."""
    if isinstance(value, np.generic):
        return adopt(_copy(np.asarray(value)))
    if isinstance(value, np.ndarray):
        is_view = allocation_of(value) is not None
        return adopt(value if is_view else _copy(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(to_device, value))
    if isinstance(value, tuple | list):
        return type(value)(map(to_device, value))
    return value


def device_function(
    function: Callable[..., Any], owner: ndarray | None = None
) -> Callable[..., Any]:
    """Make a NumPy function, or a method of `owner`'s memory, work on device arrays."""
    name = getattr(function, "__name__", "")

    def on_device(*args: Any, **kwargs: Any) -> Any:
        COUNTERS.synchronizations += name in _WAITING
        with np.errstate(all="ignore"):  # devices do not warn
            result = function(*to_host(args), **to_host(kwargs))
        out = kwargs.get("out")
        if isinstance(out, ndarray):
            return out
        if owner is not None and result is owner._host:
            return owner
        if name in _DEVICE_BOOLS:
            result = np.asarray(result)
        if owner is not None:
            return owner._own(result)
        found = to_device(result)
        _set_bases(found, args)
        return found

    on_device.__name__ = name
    return on_device


def _set_bases(found: Any, args: Any) -> None:
    """Let arrays in a result that are views of an argument say so."""
    if isinstance(found, tuple | list):
        for part in found:
            _set_bases(part, args)
    if not isinstance(found, ndarray):
        return
    memory = allocation_of(found._host)
    for arg in _device_arrays(args):
        if arg is not found and allocation_of(arg._host) is memory:
            found._base = arg if arg._base is None else arg._base
            return


def _device_arrays(value: Any) -> Iterator[ndarray]:
    if isinstance(value, ndarray):
        yield value
    if isinstance(value, tuple | list):
        for part in value:
            yield from _device_arrays(part)


def _count_mask(index: Any) -> None:
    parts = index if isinstance(index, tuple) else (index,)
    masks = (isinstance(p, ndarray) and p._host.dtype == bool for p in parts)
    COUNTERS.synchronizations += any(masks)
