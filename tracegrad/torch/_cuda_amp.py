"""``torch.cuda.amp``: old spellings of ``torch.amp`` with a device."""

from __future__ import annotations

from typing import Any

import tracegrad as tg


def autocast(
    enabled: bool = True, dtype: Any = tg.float16, cache_enabled: bool = True
) -> Any:
    """Return ``torch.amp.autocast("cuda", …)``."""
    return tg.amp.autocast(  # type: ignore[attr-defined]
        "cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled
    )


def GradScaler(*args: Any, **kwargs: Any) -> Any:  # noqa: N802 - PyTorch's name
    """Return ``torch.amp.GradScaler("cuda", …)``."""
    return tg.amp.GradScaler("cuda", *args, **kwargs)  # type: ignore[attr-defined]
