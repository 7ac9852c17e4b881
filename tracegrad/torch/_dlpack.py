"""Exchange of arrays with other libraries."""

from __future__ import annotations

from typing import Any

import tracegrad as tg

from_dlpack = tg.from_dlpack


def to_dlpack(tensor: tg.Tensor) -> Any:
    """Return a DLPack capsule that shares the tensor's memory."""
    return tensor.__dlpack__()
