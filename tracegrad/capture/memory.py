"""Which memory holds which value, during a recording.

A storage is the array that owns a tensor's memory. For each storage its current value
is kept; a view is an index map on it. A write makes the storage's value a new one and
all that was known of its views stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

from tracegrad.dispatch.extents import address_of, may_share_memory
from tracegrad.dispatch.storage import owner_of
from tracegrad.ir.graph import Value

# Where an array lies: address, shape, strides, dtype; and the tape position it has: the
# identity of the tensor whose position it is, 0 without gradient. A detached alias is
# another value than what it is an alias of.
Place: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...], str, int]


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
    root : weak reference to Tensor
        The tensor whose gradient `value` carries.
    root_id : int
        Its identity, also when it is gone: what was saved of it is still known by it.
    stamp : int
        Counts the writes.
    input : Value or None
        The graph input, for memory that came from outside.
    regions : set of Place
        Where inputs lie in it.
    """

    owner: Any
    base_place: Place
    base_path: tuple[Any, ...]
    value: Value
    root: Any
    stamp: int = 0
    input: Value | None = None
    regions: set[Place] = field(default_factory=set)
    root_id: int = 0

    def __post_init__(self) -> None:
        self.root_id = id(self.root())


def place_of(array: Any, tape: int) -> Place:
    """Return where `array` lies."""
    return address_of(array), array.shape, array.strides, array.dtype.str, tape


def same_region(a: Place, b: Place) -> bool:
    """Return whether two places are one, whatever carries gradient."""
    return a[:4] == b[:4]


def is_foreign(owner: Any) -> bool:
    """Return whether NumPy does not own the memory: two arrays may share it unseen."""
    return owner.base is not None or not owner.flags.owndata


def share_memory(a: Any, b: Any) -> bool:
    """Return whether the extents of two arrays meet."""
    return may_share_memory(a, b)


# What inputs that do not alias at all have in common.
_DISTINCT: tuple[Any, ...] = ()

Pattern: TypeAlias = tuple[tuple[int, int], ...]


def memory_pattern(arrays: Sequence[Any]) -> Pattern:
    """Return how inputs share memory.

    For each array that shares its owner, or foreign memory, with an earlier one: which
    that is, and how far from it this one begins, in bytes; (-1, 0) for the others.
    Inputs that do not share at all have one common pattern.
    """
    owners = [a if a.base is None else owner_of(a) for a in arrays]
    foreign = [i for i, o in enumerate(owners) if o.base is not None]
    if len(set(map(id, owners))) == len(owners) and len(foreign) < 2:
        return _DISTINCT
    first: dict[int, int] = {}
    found = []
    for i, owner in enumerate(owners):
        earlier = first.setdefault(id(owner), i)
        if earlier == i and owner.base is not None:
            earlier = _foreign_sharer(arrays, foreign, i)
        found.append((-1, 0) if earlier == i else (earlier, _gap(arrays, earlier, i)))
    return tuple(found) if any(place != (-1, 0) for place in found) else _DISTINCT


def _foreign_sharer(arrays: Sequence[Any], foreign: list[int], index: int) -> int:
    for other in foreign:
        if other < index and share_memory(arrays[other], arrays[index]):
            return other
    return index


def _gap(arrays: Sequence[Any], first: int, second: int) -> int:
    """Return how far apart two arrays begin, in bytes."""
    return address_of(arrays[second]) - address_of(arrays[first])
