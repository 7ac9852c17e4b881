"""A stand-in for the module ``cupy``, for tests where there is no GPU.

Arrays live in fenced host memory, NumPy does CuPy's part, and raw kernels run on the
CPU. A name that CuPy lacks is not here either (cupy_names.txt). See the package's
docstring for what this can never show.
"""

import contextlib
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike

from tests.support.cuda_on_cpu.fake_cuda import (
    PINNED_POOL,
    POOL,
    ListedModule,
    make_cuda,
)
from tests.support.cuda_on_cpu.fake_ndarray import (
    device_function,
    from_host,
    ndarray,
    to_device,
    to_host,
)
from tests.support.cuda_on_cpu.fake_raw import RawKernel, RawModule, Schedule
from tests.support.cuda_on_cpu.fake_state import (
    COUNTERS,
    CUPY_NAMES,
    CUPY_VERSION,
    Counters,
)


@dataclass(frozen=True, slots=True)
class Installed:
    """The stand-in while it is installed.

    Attributes
    ----------
    module : module
        What ``import cupy`` gives.
    counters : Counters
    """

    module: Any
    counters: Counters

    def schedule(self, seed: int) -> None:
        """Run kernels in another order from now on; 0 is the natural one."""
        Schedule.seed = seed


@contextlib.contextmanager
def install(seed: int = 1) -> Iterator[Installed]:
    """Make ``import cupy`` give the stand-in.

    Parameters
    ----------
    seed : int
        Order of the threads and blocks of kernels; 0 is the natural one.
    """
    saved = {name: module for name, module in sys.modules.items() if _is_cupy(name)}
    modules = make_modules()
    COUNTERS.reset()
    Schedule.seed = seed
    _replace_cupy(modules)
    try:
        yield Installed(modules["cupy"], COUNTERS)
    finally:
        _replace_cupy(saved)


def _is_cupy(name: str) -> bool:
    return name.partition(".")[0] in ("cupy", "cupyx")


def _replace_cupy(modules: Mapping[str, ModuleType]) -> None:
    for name in list(sys.modules):
        if _is_cupy(name):
            del sys.modules[name]
    sys.modules.update(modules)


class ufunc:  # noqa: N801 (CuPy's name)
    """One of NumPy's ufuncs, on device arrays."""

    def __init__(self, numpy_ufunc: np.ufunc) -> None:
        self._numpy = numpy_ufunc
        self.__name__ = numpy_ufunc.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return device_function(self._numpy)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if f"cupy.ufunc.{name}" not in CUPY_NAMES:
            raise AttributeError(f"'ufunc' object has no attribute {name!r}")
        value = getattr(self._numpy, name)
        return device_function(value) if callable(value) else value

    def __repr__(self) -> str:
        return f"<ufunc 'cupy_{self.__name__}'>"


class _NumpyNamespace(ListedModule):
    """A module of CuPy whose other members are NumPy's, on device arrays."""

    def __init__(self, name: str, numpy_module: ModuleType, **members: Any) -> None:
        super().__init__(name, **members)
        self._numpy_module = numpy_module

    def __getattr__(self, name: str) -> Any:
        if f"{self.__name__}.{name}" not in CUPY_NAMES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(self._numpy_module, name, None)
        if not _can_be_lent(self._numpy_module, name):
            raise AttributeError(
                f"the stand-in for CuPy has no {self.__name__}.{name}, though CuPy has"
            )
        return _on_device(value)


# Their instances would hand out NumPy arrays.
_NOT_LENT: Final = frozenset({"default_rng", "get_state"})
_LENT_CLASSES: Final = (np.generic, BaseException, np.dtype, np.finfo, np.iinfo)


def _can_be_lent(numpy_module: ModuleType, name: str) -> bool:
    if name in _NOT_LENT or not hasattr(numpy_module, name):
        return False
    value = getattr(numpy_module, name)
    if isinstance(value, type):
        return issubclass(value, _LENT_CLASSES)
    return not isinstance(value, ModuleType)


def _on_device(value: Any) -> Any:
    if isinstance(value, np.ufunc):
        return ufunc(value)
    if isinstance(value, type) or not callable(value):
        return value
    return device_function(value)


# ---- functions that differ from NumPy's ----


def _holds_device_array(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_device_array, value))
    return isinstance(value, ndarray)


def _array(
    obj: Any,
    dtype: DTypeLike | None = None,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    if _holds_device_array(obj):
        host = to_host(obj)
        found = np.array(host, dtype, copy=copy, order=order, ndmin=ndmin)
        device: ndarray = to_device(found)
        return device
    return from_host(np.array(obj, dtype, order=order, ndmin=ndmin))


def _asarray(
    a: Any, dtype: DTypeLike | None = None, order: Any = None, *, blocking: bool = False
) -> ndarray:
    if isinstance(a, ndarray) and dtype in (None, a.dtype) and order in (None, "K"):
        return a
    return _array(a, dtype, copy=None, order=order or "K")


def _ascontiguousarray(a: Any, dtype: DTypeLike | None = None) -> ndarray:
    return _asarray(a, dtype, order="C")


def _asnumpy(
    a: Any,
    stream: object = None,
    order: Any = "C",
    out: np.ndarray[Any, Any] | None = None,
    *,
    blocking: bool = True,
) -> np.ndarray[Any, Any]:
    return a.get(out=out) if isinstance(a, ndarray) else np.asarray(a, order=order)


def _empty(shape: Any, dtype: DTypeLike = float, order: str = "C") -> ndarray:
    return ndarray(shape, dtype)


def _empty_like(
    prototype: Any,
    dtype: DTypeLike | None = None,
    order: Any = "K",
    subok: None = None,
    shape: Any = None,
) -> ndarray:
    sizes = prototype.shape if shape is None else shape
    return ndarray(sizes, prototype.dtype if dtype is None else dtype)


def _get_array_module(*args: Any) -> ModuleType:
    device = any(isinstance(arg, ndarray) for arg in args)
    return sys.modules["cupy"] if device else np


def _scatter(update: np.ufunc) -> Any:
    def scatter(a: ndarray, slices: Any, value: Any) -> None:
        update.at(to_host(a), to_host(slices), to_host(value))

    return scatter


def _special(function: Any) -> Any:
    vectorized = np.vectorize(function, otypes=[np.float64])

    def on_device(x: ndarray) -> ndarray:
        host = to_host(x)
        kind = host.dtype if host.dtype.kind == "f" else np.dtype(np.float64)
        result: ndarray = to_device(vectorized(host).astype(kind))
        return result

    return on_device


def _as_strided(x: ndarray, shape: Any = None, strides: Any = None) -> ndarray:
    host = np.lib.stride_tricks.as_strided(to_host(x), shape, strides)
    view: ndarray = x._own(host)
    return view


def _nothing(*args: object, **kwargs: object) -> None:
    """Stand for a function that only clears or prints."""


# ---- the modules ----


def _make_cupy(cuda: ModuleType) -> ModuleType:
    return _NumpyNamespace(
        "cupy",
        np,
        ndarray=ndarray,
        ufunc=ufunc,
        RawKernel=RawKernel,
        RawModule=RawModule,
        cuda=cuda,
        linalg=_NumpyNamespace("cupy.linalg", np.linalg),
        lib=ListedModule(
            "cupy.lib",
            stride_tricks=ListedModule(
                "cupy.lib.stride_tricks", as_strided=_as_strided
            ),
        ),
        fft=_NumpyNamespace("cupy.fft", np.fft),
        random=_NumpyNamespace("cupy.random", np.random),
        array=_array,
        asarray=_asarray,
        asanyarray=_asarray,
        ascontiguousarray=_ascontiguousarray,
        asnumpy=_asnumpy,
        empty=_empty,
        empty_like=_empty_like,
        get_array_module=_get_array_module,
        get_default_memory_pool=lambda: POOL,
        get_default_pinned_memory_pool=lambda: PINNED_POOL,
        is_available=lambda: True,
        clear_memo=_nothing,
        show_config=_nothing,
    )


def make_modules() -> dict[str, ModuleType]:
    """Make ``cupy``, ``cupyx`` and their parts, by their names in ``sys.modules``."""
    cuda = make_cuda()
    cupy = _make_cupy(cuda)
    cupy.__version__ = CUPY_VERSION  # type: ignore[attr-defined]
    special = ListedModule(
        "cupyx.scipy.special",
        erf=_special(math.erf),
        erfc=_special(math.erfc),
        gammaln=_special(math.lgamma),
    )
    scipy = ListedModule("cupyx.scipy")
    cupyx = ListedModule(
        "cupyx",
        scatter_add=_scatter(np.add),
        scatter_max=_scatter(np.maximum),
        scatter_min=_scatter(np.minimum),
    )
    # The import statement sets these on the real packages.
    cupyx.scipy = scipy  # type: ignore[attr-defined]
    scipy.special = special  # type: ignore[attr-defined]
    parts = [cupy, cuda, cupyx, scipy, special]
    parts += [cuda.runtime, cuda.compiler, cupy.linalg, cupy.fft, cupy.random]
    for part in parts:
        # importlib.util.find_spec refuses a module without one.
        part.__spec__ = ModuleSpec(part.__name__, loader=None, is_package=True)
        part.__path__ = []
    return {part.__name__: part for part in parts}
