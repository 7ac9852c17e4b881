"""``torch.cpu.amp``: old spellings of ``torch.amp`` with a device."""

from __future__ import annotations

from typing import Any

import tracegrad as tg


def autocast(
    enabled: bool = True, dtype: Any = tg.bfloat16, cache_enabled: bool = True
) -> Any:
    """Return ``torch.amp.autocast("cpu", …)``."""
    return tg.amp.autocast(  # type: ignore[attr-defined]
        "cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled
    )


def GradScaler(*args: Any, **kwargs: Any) -> Any:  # noqa: N802 - PyTorch's name
    """Return ``torch.amp.GradScaler("cpu", …)``."""
    return tg.amp.GradScaler("cpu", *args, **kwargs)  # type: ignore[attr-defined]
