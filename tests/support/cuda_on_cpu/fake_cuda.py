"""The stand-in for ``cupy.cuda``: one device where everything is done at once."""

import contextlib
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from tests.support.cuda_on_cpu.fake_state import COUNTERS, CUPY_NAMES
from tests.support.cuda_on_cpu.memory import Allocation

_MEMORY_BYTES = 8 * 2**30


class CUDARuntimeError(RuntimeError):
    """CuPy's error for a failing call of the CUDA runtime."""


class CompileException(Exception):  # noqa: N818 (CuPy's name)
    """CuPy's error for source that NVRTC refuses."""


def _wait() -> None:
    COUNTERS.synchronizations += 1


class Event:
    """A point in a stream."""

    done = True

    def __init__(
        self,
        block: bool = False,
        disable_timing: bool = False,
        interprocess: bool = False,
    ) -> None:
        self.ptr = 0
        self._time = 0.0

    def record(self, stream: "Stream | None" = None) -> None:
        """Mark this moment."""
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        """Wait for nothing, but count it."""
        _wait()


class Stream:
    """A queue that is always empty."""

    null: "ClassVar[Stream]"
    ptds: "ClassVar[Stream]"
    done = True
    is_non_blocking = False

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False
    ) -> None:
        self.ptr = 0

    def use(self) -> "Stream":
        """Make this the current stream."""
        _current[-1] = self
        return self

    def __enter__(self) -> "Stream":
        _current.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _current.pop()

    def synchronize(self) -> None:
        """Wait for nothing, but count it."""
        _wait()

    def record(self, event: Event | None = None) -> Event:
        """Record an event."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Do nothing: the event has happened."""

    def begin_capture(self, mode: object = None) -> NoReturn:
        """Refuse: there is no CUDA graph on the CPU."""
        raise NotImplementedError("CUDA graphs cannot be captured without a GPU")


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)
_current = [Stream.null]


class Device:
    """The only device."""

    compute_capability = "90"
    mem_info = (_MEMORY_BYTES, _MEMORY_BYTES)

    def __init__(self, device: int = 0) -> None:
        if device != 0:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = device
        self.attributes = {"MaxThreadsPerBlock": 1024, "MultiProcessorCount": 4}

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return self.id

    def __int__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return "<CUDA Device 0>"

    def use(self) -> "Device":
        """Do nothing: it is in use."""
        return self

    def synchronize(self) -> None:
        """Wait for nothing, but count it."""
        _wait()


class MemoryPointer:
    """An address in device memory, which it keeps alive."""

    def __init__(self, mem: Allocation, offset: int) -> None:
        self.mem = mem
        self._offset = offset

    @property
    def ptr(self) -> int:
        """The address."""
        return self.mem.address + self._offset

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, nbytes: int) -> "MemoryPointer":
        return MemoryPointer(self.mem, self._offset + nbytes)

    def __sub__(self, nbytes: int) -> "MemoryPointer":
        return self + -nbytes

    def array(
        self, shape: Any, dtype: DTypeLike, strides: Any = None
    ) -> np.ndarray[Any, Any]:
        """NumPy's view of the memory behind this address."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        return self.mem.array(sizes, dtype, self._offset, strides)


def alloc(size: int) -> MemoryPointer:
    """Get memory of so many bytes, full of NaN."""
    return MemoryPointer(Allocation(size), 0)


class MemoryPool:
    """A pool that keeps nothing."""

    def malloc(self, size: int) -> MemoryPointer:
        """Get memory of so many bytes."""
        return alloc(size)

    def free_all_blocks(self, stream: object = None) -> None:
        """Do nothing."""

    def used_bytes(self) -> int:
        """Bytes in use: not known here."""
        return 0

    def free_bytes(self) -> int:
        """Bytes kept: none."""
        return 0

    def total_bytes(self) -> int:
        """Bytes in use and kept."""
        return 0

    def n_free_blocks(self) -> int:
        """Blocks kept: none."""
        return 0

    def get_limit(self) -> int:
        """Bytes allowed; 0 is no limit."""
        return 0

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Do nothing."""


class PinnedMemoryPool:
    """A pool that keeps nothing."""

    def free_all_blocks(self) -> None:
        """Do nothing."""

    def n_free_blocks(self) -> int:
        """Blocks kept: none."""
        return 0


POOL = MemoryPool()
PINNED_POOL = PinnedMemoryPool()


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds of the CPU's clock between two events."""
    return 1e3 * (end_event._time - start_event._time)


def set_allocator(allocator: Callable[[int], Any] | None = None) -> None:
    """Do nothing."""


def get_allocator() -> Callable[[int], Any]:
    """Allocator in use."""
    return POOL.malloc


@contextlib.contextmanager
def using_allocator(allocator: Callable[[int], Any] | None = None) -> Iterator[None]:
    """Do nothing."""
    yield


class ListedModule(ModuleType):
    """A module that offers nothing the real one lacks."""

    def __init__(self, name: str, **members: Any) -> None:
        super().__init__(name)
        for member, value in members.items():
            if f"{name}.{member}" not in CUPY_NAMES:
                raise ValueError(f"CuPy has no {name}.{member}")
            setattr(self, member, value)


def _memory_info() -> tuple[int, int]:
    return Device.mem_info


def make_cuda() -> ListedModule:
    """Make the module ``cupy.cuda``."""
    runtime = ListedModule(
        "cupy.cuda.runtime",
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=lambda: 1,
        getDevice=lambda: 0,
        setDevice=Device,
        deviceSynchronize=_wait,
        streamSynchronize=lambda stream: _wait(),
        runtimeGetVersion=lambda: 13000,
        driverGetVersion=lambda: 13000,
        memGetInfo=_memory_info,
        getDeviceProperties=lambda device: {"name": b"no GPU", "major": 9, "minor": 0},
    )
    return ListedModule(
        "cupy.cuda",
        runtime=runtime,
        compiler=ListedModule("cupy.cuda.compiler", CompileException=CompileException),
        Device=Device,
        Event=Event,
        Stream=Stream,
        MemoryPointer=MemoryPointer,
        MemoryPool=MemoryPool,
        PinnedMemoryPool=PinnedMemoryPool,
        alloc=alloc,
        is_available=lambda: True,
        get_device_id=lambda: 0,
        get_current_stream=lambda device_id=None: _current[-1],
        get_elapsed_time=get_elapsed_time,
        set_allocator=set_allocator,
        get_allocator=get_allocator,
        using_allocator=using_allocator,
    )
