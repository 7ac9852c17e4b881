"""The CPU as a device with a queue of its own, which it does not have."""

from __future__ import annotations

from typing import Any


def get_cpu_capability() -> str:
    """Return ``"DEFAULT"``: NumPy chooses instructions by itself."""
    return "DEFAULT"


def is_available() -> bool:
    """Return True."""
    return True


def device_count() -> int:
    """Return 1."""
    return 1


def current_device() -> str:
    """Return ``"cpu"``."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Do nothing: calls return when they are done."""
