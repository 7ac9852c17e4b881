"""Apple's GPUs: not used."""

from __future__ import annotations

from tracegrad.errors import DeviceError


def is_available() -> bool:
    """Return False."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def synchronize() -> None:
    """Refuse.

    Raises
    ------
    DeviceError
        Always.
    """
    raise DeviceError("there is no mps device here; mps.is_available() is False")


def manual_seed(seed: int) -> None:
    """Do nothing: there is no generator to seed."""


def seed() -> None:
    """Do nothing: there is no generator to seed."""


def empty_cache() -> None:
    """Do nothing: nothing is cached."""


def current_allocated_memory() -> int:
    """Return 0."""
    return 0


def driver_allocated_memory() -> int:
    """Return 0."""
    return 0
