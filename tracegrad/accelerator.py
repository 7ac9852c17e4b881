"""The accelerator of this machine, if there is one: PyTorch's ``torch.accelerator``.

That is a CUDA device which CuPy can use; without one the answers are no.
"""

from __future__ import annotations

from typing import Any

import tracegrad as tg
from tracegrad.device import Device
from tracegrad.errors import DeviceError


def is_available() -> bool:
    """Return whether there is an accelerator."""
    return bool(tg.cuda.is_available())


def current_accelerator(check_available: bool = False) -> Device | None:
    """Return the accelerator's device, None without one."""
    return Device("cuda") if is_available() else None


def device_count() -> int:
    """Return how many accelerators there are."""
    return int(tg.cuda.device_count())


def _needed(who: str) -> None:
    if not is_available():
        raise DeviceError(
            f"accelerator.{who}() needs an accelerator, and there is none; "
            "accelerator.is_available() is False"
        )


def current_device_index() -> int:
    """Return the number of the accelerator in use.

    Raises
    ------
    DeviceError
        If there is none.
    """
    _needed("current_device_index")
    return int(tg.cuda.current_device())


current_device_idx = current_device_index


def set_device_index(device: Any, /) -> None:
    """Use another accelerator from now on.

    Raises
    ------
    DeviceError
        If there is none.
    """
    _needed("set_device_index")
    tg.cuda.set_device(device)


set_device_idx = set_device_index


def synchronize(device: Any = None, /) -> None:
    """Wait until the accelerator has done its work.

    Raises
    ------
    DeviceError
        If there is none.
    """
    _needed("synchronize")
    tg.cuda.synchronize(device)


def current_stream(device: Any = None, /) -> Any:
    """Return the stream that work goes to.

    Raises
    ------
    DeviceError
        If there is none.
    """
    _needed("current_stream")
    return tg.cuda.current_stream(device)


def empty_cache() -> None:
    """Give back memory that nobody uses; nothing without an accelerator."""
    tg.cuda.empty_cache()


def memory_allocated(device_index: Any = None, /) -> int:
    """Return how many bytes arrays occupy on it."""
    return int(tg.cuda.memory_allocated(device_index))


def max_memory_allocated(device_index: Any = None, /) -> int:
    """Return how many bytes the pool holds, which the peak has not exceeded."""
    return int(tg.cuda.max_memory_allocated(device_index))
