"""Floor 2: the operators, one definition each.

Importing the package defines them all; a module's public names are its operators.
"""

from tracegrad.ops import (
    arithmetic,
    casts,
    comparison,
    contraction,
    creation,
    dunders,
    exponential,
    normalizing,
    randomness,
    reductions,
    shaping,
    views,
    writing,
)

__all__ = [
    "arithmetic",
    "casts",
    "comparison",
    "contraction",
    "creation",
    "dunders",
    "exponential",
    "normalizing",
    "randomness",
    "reductions",
    "shaping",
    "views",
    "writing",
]
