"""cuDNN: not used. Its switches may be set and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

enabled = False
benchmark = False
deterministic = True
allow_tf32 = False
benchmark_limit = 10


def is_available() -> bool:
    """Return False."""
    return False


def version() -> None:
    """Return None: there is no cuDNN."""


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Do nothing while the block runs."""
    yield
