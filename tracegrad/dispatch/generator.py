"""Random generators: a device's stream of draws, and the default one."""

from __future__ import annotations

import threading
from typing import Any, final

import numpy as np

from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.errors import DrawError
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

    def __init__(self, device: str = "cpu") -> None:
        self.engine = MT19937()
        self.lock = threading.Lock()

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream from `seed` and return the generator."""
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
        """Return the state as a tensor of bytes, in PyTorch's layout."""
        if thread.recorder is not None:
            thread.recorder.unknown_state(self, "get_state()")
        return wrap(self.engine.get_torch_state())

    def set_state(self, state: Any) -> None:
        """Continue from a state that `get_state` returned, here or in PyTorch.

        Raises
        ------
        DrawError
            If it is no such state.
        """
        if thread.recorder is not None:
            thread.recorder.unknown_state(self, "set_state()")
        given = state._array if isinstance(state, Tensor) else np.asarray(state)
        try:
            self.engine.set_state(given)
        except ValueError as error:
            raise DrawError(str(error)) from None


default_generator = Generator()
