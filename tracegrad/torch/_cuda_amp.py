"""``torch.cuda.amp``: old spellings of ``torch.amp`` with a device."""

from __future__ import annotations

from typing import Any, final

import tracegrad as tg

custom_fwd = tg.amp.custom_fwd
custom_bwd = tg.amp.custom_bwd


@final
class autocast(tg.amp.autocast):  # type: ignore[misc]  # noqa: N801 - PyTorch's name
    """``torch.amp.autocast("cuda", …)``."""

    def __init__(
        self, enabled: bool = True, dtype: Any = tg.float16, cache_enabled: bool = True
    ) -> None:
        super().__init__(
            "cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled
        )


@final
class GradScaler(tg.amp.GradScaler):  # type: ignore[misc]
    """``torch.amp.GradScaler("cuda", …)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("cuda", *args, **kwargs)
