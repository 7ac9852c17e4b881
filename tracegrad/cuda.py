"""Questions about the CUDA device, and its random generator: PyTorch's ``cuda``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.device import CUDA, Device, backend_of, resolved
from tracegrad.dispatch.generator import default_cuda_generator
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.errors import DeviceError, DrawError

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "get_rng_state",
    "initial_seed",
    "is_available",
    "manual_seed",
    "manual_seed_all",
    "set_device",
    "set_rng_state",
    "synchronize",
]


def is_available() -> bool:
    """Return whether CuPy is installed, and finds a GPU that it can use.

    Examples
    --------
    >>> device = "cuda" if is_available() else "cpu"
    """
    try:
        backend_of("cuda")
    except DeviceError:
        return False
    return True


def device_count() -> int:
    """Return how many devices can be used: one, or none."""
    return int(is_available())


def current_device() -> int:
    """Return the number of the device that ``"cuda"`` means."""
    assert CUDA.index is not None
    return CUDA.index


def set_device(device: Device | str | int) -> None:
    """Choose the device that ``"cuda"`` means; there is one to choose.

    Raises
    ------
    DeviceError
        If it is another one.
    """
    resolved(Device("cuda", device) if isinstance(device, int) else device)


def synchronize(device: Device | str | int | None = None) -> None:
    """Wait until all that was asked of the device is done.

    Raises
    ------
    DeviceError
        If there is no device.
    """
    if device is not None:
        set_device(device)
    backend_of("cuda").namespace.cuda.runtime.deviceSynchronize()


def empty_cache() -> None:
    """Give memory that CuPy holds, and nobody uses, back to the driver."""
    if is_available():
        backend_of("cuda").namespace.get_default_memory_pool().free_all_blocks()


def manual_seed(seed: int) -> None:
    """Restart the stream of the device's default generator.

    Raises
    ------
    DrawError
        If `seed` is not from ``-2**63`` to ``2**64 - 1``.
    """
    try:
        default_cuda_generator.manual_seed(int(seed))
    except ValueError as error:
        raise DrawError(str(error)) from None


def manual_seed_all(seed: int) -> None:
    """Restart the streams of all devices, of which there is one; see `manual_seed`."""
    manual_seed(seed)


def initial_seed() -> int:
    """Return the seed that the device's default generator was started from."""
    return default_cuda_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the device's default generator as a tensor of bytes."""
    return wrap(default_cuda_generator.get_state())


def set_rng_state(new_state: Any) -> None:
    """Continue the device's default generator from a state of `get_rng_state`.

    Raises
    ------
    DrawError
        If it is no such state.
    """
    state = new_state.numpy() if isinstance(new_state, Tensor) else new_state
    try:
        default_cuda_generator.set_state(np.asarray(state))
    except ValueError as error:
        raise DrawError(str(error)) from None
