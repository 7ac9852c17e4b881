"""Algebraic simplification, by a table of named rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from tracegrad.ir.graph import Graph
from tracegrad.ir.rewriting import rewrite
from tracegrad.passes.manager import Pass
from tracegrad.passes.simplify_rules import INEXACT_RULES, SIMPLIFY_RULES


@final
@dataclass(frozen=True, slots=True)
class Simplify(Pass):
    """Apply the rules of `tracegrad.passes.simplify_rules` until none matches.

    Attributes
    ----------
    inexact : bool
        Whether to apply the rules that may change the last bit, NaN or the sign of
        zero, too.

    ::

        graph f(%x: f32[3], %w: f32[3]) {
          %a: f32[3] = mul(%x, 1)
          %n: f32[3] = neg(%w)
          %y: f32[3] = add(%a, %n)
          return %y
        }

    becomes::

        graph f(%x: f32[3], %w: f32[3]) {
          %n: f32[3] = neg(%w)
          %y: f32[3] = sub(%x, %w)
          return %y
        }
    """

    inexact: bool = False

    name: ClassVar[str] = "simplify"

    def run(self, graph: Graph) -> Graph:
        """Return the simplified graph."""
        return rewrite(graph, SIMPLIFY_RULES + (INEXACT_RULES if self.inexact else ()))
