"""Floor 2: the operators, one definition each.

Importing the package defines them all; a module's public names are its operators.
"""

from tracegrad.ops import (
    arithmetic,
    bitwise,
    casts,
    comparison,
    complex_numbers,
    contraction,
    creation,
    division,
    dunders,
    error_functions,
    exponential,
    hyperbolic,
    logical,
    nonfinite,
    normalizing,
    powers,
    predicates,
    randomness,
    reductions,
    rounding,
    selection,
    shaping,
    trigonometric,
    views,
)

__all__ = [
    "arithmetic",
    "bitwise",
    "casts",
    "comparison",
    "complex_numbers",
    "contraction",
    "creation",
    "division",
    "dunders",
    "error_functions",
    "exponential",
    "hyperbolic",
    "logical",
    "nonfinite",
    "normalizing",
    "powers",
    "predicates",
    "randomness",
    "reductions",
    "rounding",
    "selection",
    "shaping",
    "trigonometric",
    "views",
]

dunders.install()
