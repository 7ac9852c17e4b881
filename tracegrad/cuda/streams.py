"""Streams and events of CUDA devices: CuPy's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from tracegrad.cuda.queries import is_available, runtime


@final
class Stream:
    """A queue of work on a device.

    Raises
    ------
    DeviceError
        If there is no device.
    """

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self._stream = runtime("Stream").cuda.Stream(non_blocking=True)

    @classmethod
    def _of(cls, stream: Any) -> Stream:
        self = cls.__new__(cls)
        self._stream = stream
        return self

    def synchronize(self) -> None:
        """Wait until its work is done."""
        self._stream.synchronize()

    def query(self) -> bool:
        """Return whether its work is done."""
        return bool(self._stream.done)

    def wait_stream(self, stream: Stream) -> None:
        """Let later work wait for what another stream has now."""
        self._stream.wait_event(stream._stream.record())


@final
class Event:
    """A moment in a stream's work.

    Raises
    ------
    DeviceError
        If there is no device.
    """

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> None:
        cuda = runtime("Event").cuda
        self._event = cuda.Event(block=blocking, disable_timing=not enable_timing)

    def record(self, stream: Stream | None = None) -> None:
        """Mark this moment in a stream, the current one if none is given."""
        self._event.record(None if stream is None else stream._stream)

    def synchronize(self) -> None:
        """Wait for it."""
        self._event.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to another."""
        cuda = runtime("elapsed_time").cuda
        return float(cuda.get_elapsed_time(self._event, end_event._event))


def current_stream(device: Any = None) -> Stream:
    """Return the stream that work goes to.

    Raises
    ------
    DeviceError
        If there is no device.
    """
    return Stream._of(runtime("current_stream").cuda.get_current_stream())


def default_stream(device: Any = None) -> Stream:
    """Return the stream that work goes to unless another is chosen.

    Raises
    ------
    DeviceError
        If there is no device.
    """
    return Stream._of(runtime("default_stream").cuda.Stream.null)


@contextmanager
def stream(stream: Stream | None) -> Iterator[None]:
    """Let work go to `stream` while the block runs; None changes nothing."""
    if stream is None:
        yield
        return
    with stream._stream:
        yield


def synchronize(device: Any = None) -> None:
    """Wait until the device has done its work.

    Raises
    ------
    DeviceError
        If there is no device.
    """
    runtime("synchronize").cuda.Device().synchronize()


def is_current_stream_capturing() -> bool:
    """Return whether the stream's work is being recorded as a CUDA graph."""
    if not is_available():
        return False
    stream = runtime("is_current_stream_capturing").cuda.get_current_stream()
    return bool(stream.is_capturing())
