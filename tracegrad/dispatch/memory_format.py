"""Orders of dimensions in memory: the words for ``memory_format=``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class MemoryFormat:
    """An order of dimensions in memory.

    Attributes
    ----------
    name : str
        PyTorch's name.
    ndim : int
        How many dimensions a tensor must have whose channels come last; 0 for any.
    """

    name: str
    ndim: int = 0

    def __repr__(self) -> str:
        return f"tracegrad.{self.name}"


preserve_format = MemoryFormat("preserve_format")
contiguous_format = MemoryFormat("contiguous_format")
channels_last = MemoryFormat("channels_last", 4)
channels_last_3d = MemoryFormat("channels_last_3d", 5)
