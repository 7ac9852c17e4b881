"""CUDA as a backend: CuPy's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import tracegrad as tg


def is_built() -> bool:
    """Return whether CuPy finds a GPU: nothing is built into tracegrad."""
    return bool(tg.cuda.is_available())


def flash_sdp_enabled() -> bool:
    """Return False: attention is one implementation, in operators."""
    return False


def mem_efficient_sdp_enabled() -> bool:
    """Return False: attention is one implementation, in operators."""
    return False


def cudnn_sdp_enabled() -> bool:
    """Return False: attention is one implementation, in operators."""
    return False


def math_sdp_enabled() -> bool:
    """Return True: attention is one implementation, in operators."""
    return True


def enable_flash_sdp(enabled: bool) -> None:
    """Do nothing: attention is one implementation."""


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Do nothing: attention is one implementation."""


def enable_math_sdp(enabled: bool) -> None:
    """Do nothing: attention is one implementation."""


def enable_cudnn_sdp(enabled: bool) -> None:
    """Do nothing: attention is one implementation."""


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Do nothing while the block runs: attention is one implementation."""
    yield
