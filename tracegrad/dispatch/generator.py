"""Random generators: a device's stream of draws, and the default one."""

from __future__ import annotations

import threading
from typing import Any, final

from tracegrad.device import CPU, Device, is_loaded, resolved
from tracegrad.dispatch.state import thread
from tracegrad.errors import ArgumentTypeError, DeviceError
from tracegrad.random_streams import MT19937, Philox


@final
class Generator:
    """A source of random numbers.

    On the CPU it gives PyTorch's stream for the same seed; on CUDA a counter-based one
    (Philox), which is not PyTorch's there.

    Parameters
    ----------
    device : Device or str, optional

    Examples
    --------
    >>> generator = Generator().manual_seed(0)
    >>> generator.initial_seed()
    0
    """

    __slots__ = ("__weakref__", "engine", "lock")

    def __init__(self, device: Device | str = CPU) -> None:
        where = resolved(device)
        if where.type not in ("cpu", "cuda"):
            raise DeviceError(
                f"there are generators on the CPU and on cuda only, not on {device!r}; "
                "draws are copied by tensor.to(device)"
            )
        self.engine: Any = MT19937() if where is CPU else Philox(device=where.type)
        self.lock = threading.Lock()

    @property
    def device(self) -> Device:
        """Where it draws."""
        engine = self.engine
        return resolved(engine.device) if engine.__class__ is Philox else CPU

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream from `seed` and return the generator."""
        if not hasattr(type(seed), "__index__"):
            raise ArgumentTypeError(
                f"manual_seed(): a seed is an int, not {type(seed).__name__}"
            )
        if thread.recorder is not None:
            thread.recorder.reseed(self, seed)
        self.engine.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Restart the stream from an unpredictable seed and return that."""
        if thread.recorder is not None:
            thread.recorder.unknown_state(self, "seed()")
        found: int = self.engine.seed()
        return found

    def initial_seed(self) -> int:
        """Return the seed the stream was started from."""
        found: int = self.engine.initial_seed
        return found

    def get_state(self) -> Any:
        """Return the state as a uint8 array."""
        if thread.recorder is not None:
            thread.recorder.unknown_state(self, "get_state()")
        return self.engine.get_state()

    def set_state(self, state: Any) -> None:
        """Continue from a state that `get_state` returned."""
        if thread.recorder is not None:
            thread.recorder.unknown_state(self, "set_state()")
        self.engine.set_state(state)


default_generator = Generator()
default_cuda_generator = Generator("cuda")


def default_for(device: Device) -> Generator:
    """Return the generator from which a device's tensors are drawn by default."""
    return default_cuda_generator if device.type == "cuda" else default_generator


def seed_all(seed: int) -> None:
    """Restart the default generators' streams.

    A recording notes that of a device only once something was computed there.
    """
    default_generator.manual_seed(seed)
    if is_loaded("cuda"):
        default_cuda_generator.manual_seed(seed)
    else:
        default_cuda_generator.engine.manual_seed(seed)
