"""What differs between the languages of the C family, below the level of templates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes
    ----------
    inline : str
        What stands before a helper function's type.
    float_of_bits, double_of_bits : callable
        Make an expression from the bits of a float32 or float64; for NaN and infinity.
    reserved : frozenset of str
        Names that a variable cannot have, besides the family's own.
    """

    inline: str
    float_of_bits: Callable[[int], str]
    double_of_bits: Callable[[int], str]
    reserved: frozenset[str]
