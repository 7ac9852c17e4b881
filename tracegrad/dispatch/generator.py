"""Random generators: a device's stream of draws, and the default one."""

from __future__ import annotations

import threading
from typing import Any, final

from tracegrad.device import Device
from tracegrad.device import device as place_of
from tracegrad.dispatch.state import thread
from tracegrad.errors import ArgumentTypeError, DeviceError
from tracegrad.random_streams import MT19937


@final
class Generator:
    """A source of random numbers on the CPU, PyTorch's stream for the same seed.

    Examples
    --------
    >>> generator = Generator().manual_seed(0)
    >>> generator.initial_seed()
    0
    """

    __slots__ = ("__weakref__", "engine", "lock")

    def __init__(self, device: str | Device = "cpu") -> None:
        if place_of(device).type != "cpu":
            raise DeviceError(
                f"there are generators on the CPU only, not on {device!r}; its draws "
                "are copied by tensor.to(device)"
            )
        self.engine = MT19937()
        self.lock = threading.Lock()

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
        return self.engine.seed()

    def initial_seed(self) -> int:
        """Return the seed the stream was started from."""
        return self.engine.initial_seed

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
