"""Functions to capture that pytest must not rewrite: it changes what asserts say."""

from __future__ import annotations

import tracegrad as tg


def asserted(x: tg.Tensor) -> tg.Tensor:
    """Refuse a sum that is not positive."""
    assert x.sum() > 0, "not positive"
    return x * 2
