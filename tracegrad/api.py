"""Floor 10: capturing functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad.captured.function import CapturedFunction


def capture(
    function: Callable[..., Any] | None = None,
    example_inputs: Any = None,
    *,
    target: str | None = None,
    strict: bool = False,
) -> Any:
    """Capture a function; see `tracegrad.trace`."""
    if function is None:
        return lambda found: CapturedFunction(found, target, strict)
    return CapturedFunction(function, target, strict)
