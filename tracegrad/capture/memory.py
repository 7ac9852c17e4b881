"""Which memory holds which value, during a recording.

A storage is the array that owns a tensor's memory. For each storage its current value
is kept; a view is an index map on it. A write makes the storage's value a new one and
all that was known of its views stale.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

from tracegrad.dispatch.storage import owner_of
from tracegrad.ir.graph import Value

# Where an array lies: address, shape, strides, dtype; and whether the tensor over it
# carries gradient, for a detached alias is another value than what it is an alias of.
Place: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...], str, bool]


@final
@dataclass(slots=True, eq=False)
class Storage:
    """One piece of memory.

    Attributes
    ----------
    owner : ndarray
        Kept, so that its address stays its own.
    base_place : tuple
        Where the array lies that `value` is the value of.
    base_path : tuple
        The view path of that array from its own base.
    value : Value
        The current value of the whole.
    stamp : int
        Counts the writes.
    input : Value or None
        The graph input, for memory that came from outside.
    """

    owner: Any
    base_place: Place
    base_path: tuple[Any, ...]
    value: Value
    stamp: int = 0
    input: Value | None = None
    regions: set[Place] = field(default_factory=set)


def place_of(array: Any, carries: bool) -> Place:
    """Return where `array` lies."""
    address = array.__array_interface__["data"][0]
    return address, array.shape, array.strides, array.dtype.str, carries


def same_region(a: Place, b: Place) -> bool:
    """Return whether two places are one, whatever carries gradient."""
    return a[:4] == b[:4]


_DISTINCT: tuple[int, ...] = (-1,)


def memory_pattern(arrays: list[Any]) -> tuple[int, ...]:
    """Return for each array the first one with the same owner: how inputs alias.

    Inputs that do not alias at all have one common pattern.
    """
    owners = [a if a.base is None else owner_of(a) for a in arrays]
    if len(set(map(id, owners))) == len(owners):
        return _DISTINCT
    first: dict[int, int] = {}
    return tuple(first.setdefault(id(o), i) for i, o in enumerate(owners))
