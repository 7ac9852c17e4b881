"""How attention is computed: accepted choices, of which there is one here."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tracegrad.errors import ArgumentTypeError


class SDPBackend(enum.IntEnum):
    """Ways to compute `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Accept a choice of backends for a block; there is one, and it stays.

    Parameters
    ----------
    backends : SDPBackend or list of SDPBackend
    set_priority : bool

    Raises
    ------
    ArgumentTypeError
        If it is neither.
    """
    given = backends if isinstance(backends, list | tuple) else [backends]
    for backend in given:
        if not isinstance(backend, SDPBackend):
            raise ArgumentTypeError(
                f"sdpa_kernel takes SDPBackend, not {type(backend).__name__}"
            )
    yield


__all__ = ["SDPBackend", "sdpa_kernel"]
