"""DistributedSampler: each process gets its own part of the indices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tracegrad import randperm
from tracegrad.data.sampler import Sampler
from tracegrad.dispatch.generator import Generator
from tracegrad.errors import ArgumentError, StateError


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index of a common order, from `rank` on.

    Parameters
    ----------
    dataset : Dataset
    num_replicas : int
        How many processes there are.
    rank : int
        Which one this is.
    shuffle : bool
        Whether the common order is random, by `seed` and the epoch.
    seed : int
        The same in all processes.
    drop_last : bool
        Whether indices at the end are left out so that the parts are of one size;
        otherwise the first ones come again.

    Raises
    ------
    StateError
        If `num_replicas` or `rank` is not given: there is no process group to ask.
    ArgumentError
        If `rank` is out of its range.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise StateError(
                "DistributedSampler needs num_replicas and rank: tracegrad has no "
                "process group to take them from"
            )
        if not 0 <= rank < num_replicas:
            raise ArgumentError(
                f"DistributedSampler: rank {rank} is not in [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        per_replica = len(dataset) / num_replicas
        self.num_samples = (
            len(dataset) // num_replicas if drop_last else math.ceil(per_replica)
        )
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = randperm(len(order), generator=generator).tolist()
        if len(order) < self.total_size and order:
            order = order * math.ceil(self.total_size / len(order))
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch it is, so that each has another order."""
        self.epoch = epoch
