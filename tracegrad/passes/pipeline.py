"""The pipeline: which passes run, in which order, and why in this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tracegrad.ir.graph import Graph
from tracegrad.passes.decompose import decompose
from tracegrad.passes.fusion import fuse
from tracegrad.passes.gradient_marks import remove_gradient_marks

Step: TypeAlias = tuple[str, Callable[[Graph], Graph]]

PIPELINE: tuple[Step, ...] = (
    ("decompose", decompose),
    # Detach and graft would stand between nodes that fuse.
    ("remove-gradient-marks", remove_gradient_marks),
    ("fuse", fuse),
)
