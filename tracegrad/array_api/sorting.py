"""Sorting and set functions of the standard."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

import tracegrad as tg
from tracegrad.array_api.arrays import adopt, check_kind, promoted, tensor_of
from tracegrad.array_api.manipulation import axes_of
from tracegrad.errors import ArgumentTypeError

_REAL = ("int", "float")


class UniqueAll(NamedTuple):
    """Different elements, where they are first, where each one went, how often."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Different elements, and how often."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Different elements, and where each one went."""

    values: Any
    inverse_indices: Any


def sort(
    x: Any, /, *, axis: int = -1, descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> Any:  # fmt: skip
    """Return an array with the elements sorted along an axis."""
    return adopt(_sorted(x, axis, descending).values, x)


def argsort(
    x: Any, /, *, axis: int = -1, descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> Any:  # fmt: skip
    """Return the places of the elements in sorted order."""
    return adopt(_sorted(x, axis, descending).indices, x)


def _sorted(x: Any, axis: int, descending: builtins.bool) -> Any:
    tensor = check_kind(tensor_of(x, "sort"), _REAL, "sort")
    (place,) = axes_of(axis, tensor.ndim, "sort")
    return tg.sort(tensor, place, descending, True)


def _unique(x: Any) -> list[Any]:
    tensor: Any = tensor_of(x, "unique")
    array = tensor.detach().cpu().numpy()
    # Each NaN is a value of its own.
    found = np.unique(array.reshape(-1), True, True, True, equal_nan=False)
    values, places, inverse, counts = found
    parts = (values, places, inverse.reshape(array.shape), counts)
    return [adopt(tg.from_numpy(np.array(p)).to(tensor.device), x) for p in parts]


def unique_all(x: Any, /) -> UniqueAll:
    """Return the different elements, with places and counts."""
    return UniqueAll(*_unique(x))


def unique_counts(x: Any, /) -> UniqueCounts:
    """Return the different elements and how often each is there."""
    values, _, _, counts = _unique(x)
    return UniqueCounts(values, counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Return the different elements and where each element went."""
    values, _, inverse, _ = _unique(x)
    return UniqueInverse(values, inverse)


def unique_values(x: Any, /) -> Any:
    """Return the different elements."""
    return _unique(x)[0]


def isin(x1: Any, x2: Any, /, *, invert: builtins.bool = False) -> Any:
    """Return for each element of `x1` whether it is among those of `x2`."""
    first, second = promoted("isin", x1, x2)
    if first.dtype.kind not in _REAL:
        raise ArgumentTypeError(f"isin takes real numbers, not {first.dtype.name}")
    found = np.isin(first.detach().numpy(), second.detach().numpy(), invert=invert)  # type: ignore[attr-defined]
    return adopt(tg.from_numpy(np.asarray(found)), x1, x2)


__all__ = [
    "argsort", "isin", "sort", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip
