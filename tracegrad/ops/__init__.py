"""Floor 2: the operators, one definition each.

Importing the package defines them all; a module's public names are its operators.
"""

from tracegrad.ops import (
    arithmetic,
    casts,
    comparison,
    contraction,
    conversion,
    creation,
    dunders,
    embedding,
    exponential,
    gathering,
    index_operators,
    indexing,
    joining,
    movement,
    normalizing,
    picking,
    randomness,
    rearranging,
    reductions,
    shaping,
    splitting,
    view_writes,
    views,
    windows,
)

# After all modules: what they define becomes methods of Tensor.
dunders.install()

__all__ = [
    "arithmetic",
    "casts",
    "comparison",
    "contraction",
    "conversion",
    "creation",
    "dunders",
    "embedding",
    "exponential",
    "gathering",
    "index_operators",
    "indexing",
    "joining",
    "movement",
    "normalizing",
    "picking",
    "randomness",
    "rearranging",
    "reductions",
    "shaping",
    "splitting",
    "view_writes",
    "views",
    "windows",
]
