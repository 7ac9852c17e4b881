"""What tests try operators on that are no pointwise ones: arrays of given shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

# A text, because looking at `np.random` loads it.
Examples: TypeAlias = (
    "Callable[[np.random.Generator], list[tuple[Any, dict[str, Any]]]]"
)


def normals(*shapes: tuple[int, ...] | None, **attributes: Any) -> Examples:
    """Return a function that gives one example: normal draws of these shapes.

    Parameters
    ----------
    *shapes : tuple of int, or None
        Of the operands; None for one that is left out.
    **attributes
        Of the operator.
    """

    def examples(rng: np.random.Generator) -> list[tuple[Any, dict[str, Any]]]:
        operands = [
            None if s is None else np.asarray(rng.normal(size=s)) for s in shapes
        ]
        return [(tuple(operands), attributes)]

    return examples


def several(*examples: Examples) -> Examples:
    """Return a function that gives the examples of several."""

    def joined(rng: np.random.Generator) -> list[tuple[Any, dict[str, Any]]]:
        return [example for one in examples for example in one(rng)]

    return joined
