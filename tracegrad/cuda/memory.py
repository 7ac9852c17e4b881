"""Memory of CUDA devices: what CuPy's pool holds."""

from __future__ import annotations

from typing import Any, final

from tracegrad.cuda.queries import is_available, runtime


@final
class OutOfMemoryError(RuntimeError):
    """A device has no memory left; never raised where there is no device."""


def _pool(who: str) -> Any:
    return runtime(who).get_default_memory_pool()


def empty_cache() -> None:
    """Give back what the pool holds and nobody uses; nothing without a device."""
    if is_available():
        _pool("empty_cache").free_all_blocks()


def ipc_collect() -> None:
    """Do nothing: memory is not shared among processes."""


def memory_allocated(device: Any = None) -> int:
    """Return how many bytes arrays occupy, 0 without a device."""
    return int(_pool("memory_allocated").used_bytes()) if is_available() else 0


def memory_reserved(device: Any = None) -> int:
    """Return how many bytes the pool holds, 0 without a device."""
    return int(_pool("memory_reserved").total_bytes()) if is_available() else 0


def max_memory_allocated(device: Any = None) -> int:
    """Return `memory_reserved`, which the peak has not exceeded since `empty_cache`."""
    return memory_reserved(device)


def max_memory_reserved(device: Any = None) -> int:
    """Return `memory_reserved`: the pool shrinks in `empty_cache` only."""
    return memory_reserved(device)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: no peak is recorded."""


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return in a sentence how much memory is used and held."""
    return (
        f"{memory_allocated(device)} bytes in arrays, "
        f"{memory_reserved(device)} bytes held by the pool"
    )
