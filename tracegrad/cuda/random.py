"""The random generator of the CUDA device."""

from __future__ import annotations

from typing import Any

from tracegrad.device import Device, resolved
from tracegrad.dispatch.generator import default_cuda_generator
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import DrawError


def _check(device: Device | str | int) -> None:
    resolved(Device("cuda", device) if isinstance(device, int) else device)


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


def get_rng_state(device: Device | str | int = "cuda") -> Tensor:
    """Return the state of the device's default generator as a tensor of bytes.

    Raises
    ------
    DeviceError
        If another device is asked for.
    """
    _check(device)
    state: Tensor = default_cuda_generator.get_state()
    return state


def set_rng_state(new_state: Any, device: Device | str | int = "cuda") -> None:
    """Continue the device's default generator from a state of `get_rng_state`.

    Raises
    ------
    DrawError
        If it is no such state.
    DeviceError
        If another device is asked for.
    """
    _check(device)
    default_cuda_generator.set_state(new_state)
