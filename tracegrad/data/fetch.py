"""From what a sampler gave to a batch, by index or from an iterator."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final, final

Fetch = Callable[[Any], Any]


@final
class DatasetKind:
    """How a dataset gives its samples."""

    Map: Final = 0
    Iterable: Final = 1


def make_fetch(
    kind: int, dataset: Any, in_batches: bool, collate: Callable[..., Any], full: bool
) -> Fetch:
    """Return the function from what a sampler gave to what a loader yields.

    Parameters
    ----------
    kind : int
        Of `DatasetKind`.
    dataset : Dataset
    in_batches : bool
        Whether the sampler gives lists.
    collate : callable
    full : bool
        Whether a batch that is not full is left out; of iterable datasets only.

    Returns
    -------
    callable
        It raises StopIteration where an iterable dataset is at its end.
    """
    if kind == DatasetKind.Map:
        return _by_index(dataset, in_batches, collate)
    return _from_iterator(dataset, in_batches, collate, full)


def _by_index(dataset: Any, in_batches: bool, collate: Callable[..., Any]) -> Fetch:
    def fetch(index: Any) -> Any:
        if not in_batches:
            return collate(dataset[index])
        several = getattr(dataset, "__getitems__", None)
        if several:
            return collate(several(index))
        return collate([dataset[i] for i in index])

    return fetch


def _from_iterator(
    dataset: Any, in_batches: bool, collate: Callable[..., Any], full: bool
) -> Fetch:
    samples = iter(dataset)
    ended = False

    def fetch(index: Any) -> Any:
        nonlocal ended
        if not in_batches:
            return collate(next(samples))
        if ended:
            raise StopIteration
        batch = list(itertools.islice(samples, len(index)))
        ended = len(batch) < len(index)
        if not batch or (full and ended):
            raise StopIteration
        return collate(batch)

    return fetch
