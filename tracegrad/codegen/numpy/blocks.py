"""Whether a kernel runs over blocks of rows, and how many rows a block has."""

from __future__ import annotations

import numpy as np

from tracegrad.codegen.kernel import Kernel
from tracegrad.ir.graph import Value

# Elements of a block: what stays in a core's cache between two calls (measured:
# about 64 k elements in one thread).
BLOCK = 65536


def dim_of_first_axis(kernel: Kernel, value: Value) -> int | None:
    """Return where a value has the kernel's first axis, None if it has not."""
    axes = kernel.axes.get(value, ())
    return axes.index(0) if 0 in axes else None


def block_step(kernel: Kernel) -> int | None:
    """Return how many rows a block has, or None where blocks do not pay."""
    domain = kernel.domain
    if not domain.shape or len(kernel.body.nodes) < 2:
        return None
    if domain.reduced is not None and 0 in domain.reduced:
        return None
    rows = int(domain.shape[0])  # type: ignore[arg-type]
    total = int(np.prod([int(s) for s in domain.shape]))  # type: ignore[arg-type]
    if rows < 2 or total < 2 * BLOCK:
        return None
    step = max(1, BLOCK // max(1, total // rows))
    return step if step < rows else None
