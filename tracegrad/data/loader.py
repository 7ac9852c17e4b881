"""DataLoader: batches of a dataset's samples, made here or in worker processes."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.context import BaseContext
from typing import Any, Generic, TypeVar

from tracegrad.data.collate import default_collate, default_convert
from tracegrad.data.dataset import Dataset, IterableDataset
from tracegrad.data.fetch import DatasetKind
from tracegrad.data.iteration import LoaderIterator, ParallelIterator, SerialIterator
from tracegrad.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)
from tracegrad.dispatch.generator import Generator
from tracegrad.errors import ArgumentError, ArgumentTypeError
from tracegrad.location import warn

T_co = TypeVar("T_co", covariant=True)

# What a loader's iterators were made for: a change would not reach them.
_FIXED = frozenset(
    [
        "batch_size",
        "batch_sampler",
        "sampler",
        "drop_last",
        "dataset",
        "persistent_workers",
    ]
)


class DataLoader(Generic[T_co]):
    """Batches of a dataset's samples.

    Parameters
    ----------
    dataset : Dataset
    batch_size : int, optional
        Samples per batch; None yields sample by sample.
    shuffle : bool, optional
        Whether each epoch has another random order.
    sampler : Sampler or iterable, optional
        The order of the samples, instead of `shuffle`.
    batch_sampler : Sampler or iterable, optional
        The lists of indices themselves, instead of all four around it.
    num_workers : int
        How many processes fetch; 0 fetches in this one.
    collate_fn : callable, optional
        From a list of samples to a batch; `default_collate` if not given.
    pin_memory : bool
        Accepted; without an accelerator it warns and does nothing.
    drop_last : bool
        Whether a last batch that is not full is left out.
    timeout : float
        How long to wait for a worker, in seconds; 0 for as long as it takes.
    worker_init_fn : callable, optional
        Called in each worker with its number, after its generators were seeded.
    multiprocessing_context : str or context, optional
        How processes start; Python's default if not given.
    generator : Generator, optional
        What the order, and the base seed of the workers, are drawn from.
    prefetch_factor : int, optional
        How many batches each worker has ahead; 2 if not given.
    persistent_workers : bool
        Whether the workers live on from one epoch to the next.
    pin_memory_device : str
        Accepted.
    in_order : bool
        Whether batches come in the sampler's order, or as workers have them.

    Raises
    ------
    ArgumentError
        If arguments contradict each other.

    Notes
    -----
    The numbers drawn, and when they are drawn, are PyTorch's: from one seed both
    shuffle alike.

    Examples
    --------
    >>> [batch.tolist() for batch in DataLoader(range(5), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    dataset: Any
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    prefetch_factor: int | None
    _iterator: LoaderIterator | None
    _initialized = False

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        if num_workers > 0 and prefetch_factor is None:
            self.prefetch_factor = 2
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        if isinstance(dataset, IterableDataset):
            self._dataset_kind: int = DatasetKind.Iterable
            _check_iterable(shuffle, sampler, batch_sampler)
        else:
            self._dataset_kind = DatasetKind.Map
        _check_batching(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if sampler is None:
            sampler = self._default_sampler(bool(shuffle), generator)
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        default = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn or default
        self.persistent_workers = persistent_workers
        # What `len()` of this loader said the dataset's length is.
        self._told_length: int | None = None
        self._iterator = None
        self.check_worker_number_rationality()
        self._initialized = True

    def _default_sampler(self, shuffle: bool, generator: Generator | None) -> Any:
        if self._dataset_kind == DatasetKind.Iterable:
            return _Endless()
        if shuffle:
            return RandomSampler(self.dataset, generator=generator)
        return SequentialSampler(self.dataset)

    @property
    def multiprocessing_context(self) -> BaseContext | None:
        """How worker processes start; None for Python's default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, given: Any) -> None:
        self._context = _checked_context(given, self.num_workers)

    def __setattr__(self, attr: str, val: Any) -> None:
        if self._initialized and attr in _FIXED:
            raise ArgumentError(
                f"{attr} should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(attr, val)

    def __iter__(self) -> Iterator[Any]:
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator.start_again(self)
        return self._iterator

    def _get_iterator(self) -> LoaderIterator:
        if self.num_workers == 0:
            return SerialIterator(self)
        self.check_worker_number_rationality()
        return ParallelIterator(self)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if self._dataset_kind == DatasetKind.Map:
            return len(self._index_sampler)
        length = self._told_length = len(self.dataset)
        if self.batch_size is None:
            return length
        if self.drop_last:
            return length // self.batch_size
        return math.ceil(length / self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn if there are to be more workers than processors."""
        if not self.num_workers:
            return
        if hasattr(os, "sched_getaffinity"):
            processors: int | None = len(os.sched_getaffinity(0))
        else:
            processors = os.cpu_count()
        if processors is not None and self.num_workers > processors:
            warn(
                f"This DataLoader will create {self.num_workers} worker processes, "
                f"and this program may use {processors} processors: more workers than "
                "that mostly slow each other down"
            )


class _Endless(Sampler[None]):
    """The sampler of iterable datasets: their end is theirs to find."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


def _check_workers(
    num_workers: int, timeout: float, prefetch: int | None, persistent: bool
) -> None:
    if num_workers < 0:
        raise ArgumentError(
            f"num_workers should not be negative, as {num_workers} is; 0 fetches "
            "without worker processes"
        )
    if timeout < 0:
        raise ArgumentError(f"timeout should not be negative, as {timeout} is")
    if prefetch is not None and num_workers == 0:
        raise ArgumentError("prefetch_factor is for workers: set num_workers too")
    if prefetch is not None and prefetch < 0:
        raise ArgumentError(f"prefetch_factor should not be negative, as {prefetch} is")
    if persistent and num_workers == 0:
        raise ArgumentError("persistent_workers needs num_workers > 0")


def _check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    given = {"shuffle": shuffle, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None and value is not False:
            raise ArgumentError(
                f"DataLoader of an IterableDataset takes no {name}, whose order is its "
                f"own; it got {value!r}"
            )


def _check_batching(
    batch_size: int | None,
    shuffle: bool | None,
    sampler: Any,
    batch_sampler: Any,
    drop_last: bool,
) -> None:
    if sampler is not None and shuffle:
        raise ArgumentError("sampler and shuffle can't both be given")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ArgumentError(
                "batch_sampler can't be given together with batch_size, shuffle, "
                "sampler or drop_last"
            )
    elif batch_size is None and drop_last:
        raise ArgumentError("drop_last is for batches, and batch_size=None makes none")


def _checked_context(given: Any, num_workers: int) -> BaseContext | None:
    if given is None:
        return None
    if num_workers == 0:
        raise ArgumentError(
            "multiprocessing_context is for workers (num_workers > 0), but "
            "num_workers is 0"
        )
    if isinstance(given, str):
        known = multiprocessing.get_all_start_methods()
        if given not in known:
            raise ArgumentError(
                f"multiprocessing_context should be one of {known}, not {given!r}"
            )
        return multiprocessing.get_context(given)
    if not isinstance(given, BaseContext):
        raise ArgumentTypeError(
            "multiprocessing_context should be a context or the name of a start "
            f"method, not {given!r}"
        )
    return given
