"""A library that computes nothing here."""

from __future__ import annotations

enabled = False


def is_available() -> bool:
    """Return False."""
    return False


def is_built() -> bool:
    """Return False."""
    return False
