"""The order in which passes run."""

from __future__ import annotations

from tracegrad.passes.canonicalize import Canonicalize
from tracegrad.passes.constant_fold import ConstantFold
from tracegrad.passes.cse import CommonSubexpressions
from tracegrad.passes.dce import DeadCodeElimination
from tracegrad.passes.decompose import Decompose
from tracegrad.passes.fusion import Fuse
from tracegrad.passes.gradient_marks import RemoveGradientMarks
from tracegrad.passes.manager import Pass
from tracegrad.passes.simplify import Simplify

PIPELINE: tuple[Pass, ...] = (
    # First: the rules below speak of primitives.
    Decompose(),
    # Derivatives are settled: detach and graft would only stand between nodes.
    RemoveGradientMarks(),
    # Before CSE and the rules, which then have one form of each expression to know.
    Canonicalize(),
    # Before the rules, which look for numbers and not for constants.
    ConstantFold(),
    # Before CSE: what a rule replaces by its operand can then be merged further.
    Simplify(),
    CommonSubexpressions(),
    # The passes above leave behind what they no longer use.
    DeadCodeElimination(),
    # Last: the passes above look at nodes one by one.
    Fuse(),
)
