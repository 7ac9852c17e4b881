"""CUDA devices, as CuPy finds them: PyTorch's ``torch.cuda``.

Where CuPy or a GPU is missing, questions are answered with no, seeding and emptying
caches do nothing, and what needs a device raises `DeviceError`.
"""

from tracegrad.cuda.memory import (
    OutOfMemoryError,
    empty_cache,
    ipc_collect,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_summary,
    reset_peak_memory_stats,
)
from tracegrad.cuda.queries import (
    can_device_access_peer,
    current_device,
    device,
    device_count,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
)
from tracegrad.cuda.random import (
    get_rng_state,
    initial_seed,
    manual_seed,
    manual_seed_all,
    set_rng_state,
)
from tracegrad.cuda.streams import (
    Event,
    Stream,
    current_stream,
    default_stream,
    is_current_stream_capturing,
    stream,
    synchronize,
)

__all__ = [
    "Event",
    "OutOfMemoryError",
    "Stream",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_summary",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "stream",
    "synchronize",
]
