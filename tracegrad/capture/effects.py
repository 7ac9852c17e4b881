"""Where a user's code is, what it changes there, and why a call can't be captured."""

import os
from dataclasses import dataclass
from typing import NamedTuple


class Location(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int

    def __str__(self) -> str:
        # As the locations of operators: reports are the same on every machine.
        return f"{os.path.basename(self.file)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call does to the world outside it, or reads from a world that moves.

    Attributes
    ----------
    sentence : str
        What the line does, as a verb with its object: ``calls print``.
    location : Location
        The line that does it.
    """

    sentence: str
    location: Location

    def __str__(self) -> str:
        return f"{self.sentence}, {self.location}"


@dataclass(frozen=True, slots=True)
class Unrecordable:
    """Why what a call reads can't be known, for instance for want of source.

    Attributes
    ----------
    sentence : str
        The reason: ``<lambda> has no source``.
    location : Location
        The line that leads there.
    """

    sentence: str
    location: Location

    def __str__(self) -> str:
        return f"{self.sentence}, {self.location}"
