"""Floor 2: the operators, one definition each.

Importing the package defines them all; a module's public names are its operators.
"""

from tracegrad.ops import (
    arithmetic,
    casts,
    comparison,
    contraction,
    convolution,
    creation,
    drawing,
    dropout,
    dunders,
    einsum,
    exponential,
    max_pooling,
    normalization,
    normalizing,
    pooling,
    randomness,
    reductions,
    shaping,
    views,
)

__all__ = [
    "arithmetic",
    "casts",
    "comparison",
    "contraction",
    "convolution",
    "creation",
    "drawing",
    "dropout",
    "dunders",
    "einsum",
    "exponential",
    "max_pooling",
    "normalization",
    "normalizing",
    "pooling",
    "randomness",
    "reductions",
    "shaping",
    "views",
]
