"""Saving and loading: PyTorch's files and safetensors, without running anything."""

from tracegrad.serialization import safetensors
from tracegrad.serialization.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from tracegrad.serialization.loading import load
from tracegrad.serialization.saving import save

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "safetensors",
    "save",
]
