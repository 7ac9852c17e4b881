"""One epoch of a DataLoader: here, or in worker processes."""

from __future__ import annotations

import multiprocessing
from typing import Any, final

from tracegrad.data.fetch import DatasetKind, make_fetch
from tracegrad.data.parallel import Prefetcher, Workers
from tracegrad.data.sampler import drawn_seed
from tracegrad.data.worker import WorkerSetup
from tracegrad.errors import NotSupportedError
from tracegrad.location import warn


class LoaderIterator:
    """What both kinds of iterator share.

    Parameters
    ----------
    loader : DataLoader
    """

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._kind = loader._dataset_kind
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        if loader.pin_memory:
            warn(
                "pin_memory is set, but there is no accelerator to copy to: memory is "
                "not pinned"
            )
        self._begin(loader)
        # Drawn even without workers, as PyTorch does: what is drawn after it agrees.
        self._base_seed = drawn_seed(loader.generator)

    def _begin(self, loader: Any) -> None:
        self._indices = iter(self._index_sampler)
        self._told_length = loader._told_length
        self._yielded = 0

    def start_again(self, loader: Any) -> None:
        """Begin another epoch."""
        self._begin(loader)

    def __iter__(self) -> LoaderIterator:
        return self

    def _next_data(self) -> Any:
        raise NotSupportedError(f"{type(self).__name__} fetches nothing")

    def __next__(self) -> Any:
        data = self._next_data()
        self._yielded += 1
        told = self._told_length
        iterable = self._kind == DatasetKind.Iterable
        if iterable and told is not None and self._yielded > told:
            self._warn_of_length(told)
        return data

    def _warn_of_length(self, told: int) -> None:
        hint = ""
        if self._num_workers > 0:
            hint = "; perhaps each worker gives all samples: see get_worker_info()"
        warn(
            f"Length of IterableDataset {self._dataset} was reported to be {told}, but "
            f"{self._yielded} samples have been fetched{hint}"
        )

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotSupportedError(f"{type(self).__name__} cannot be pickled")


@final
class SerialIterator(LoaderIterator):
    """Fetches in this process."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._fetch = make_fetch(
            loader._dataset_kind,
            loader.dataset,
            loader._auto_collation,
            loader.collate_fn,
            loader.drop_last,
        )

    def _next_data(self) -> Any:
        return self._fetch(next(self._indices))


@final
class ParallelIterator(LoaderIterator):
    """Has worker processes fetch."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._persistent = loader.persistent_workers
        context = loader.multiprocessing_context or multiprocessing.get_context()
        setups = [self._setup(loader, worker) for worker in range(self._num_workers)]
        self._workers = Workers(context, setups, loader.timeout)
        self._prefetcher = Prefetcher(
            self._workers, self._num_workers, loader.prefetch_factor, loader.in_order
        )
        self._prefetcher.start(self._indices)

    def _setup(self, loader: Any, worker: int) -> WorkerSetup:
        return WorkerSetup(
            kind=loader._dataset_kind,
            dataset=loader.dataset,
            in_batches=loader._auto_collation,
            collate=loader.collate_fn,
            drop_last=loader.drop_last,
            base_seed=self._base_seed,
            init=loader.worker_init_fn,
            id=worker,
            num_workers=self._num_workers,
        )

    def start_again(self, loader: Any) -> None:
        """Begin another epoch with the same workers."""
        super().start_again(loader)
        self._prefetcher.restart(self._indices)

    def _next_data(self) -> Any:
        try:
            return self._prefetcher.next()
        except StopIteration:
            if not self._persistent:
                self._workers.shut_down()
            raise
