"""Datasets: what has samples by index, and what has them one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from tracegrad import randperm
from tracegrad.dispatch.generator import Generator, default_generator
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, AssertedError, NotSupportedError
from tracegrad.location import warn

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """Samples by index: a subclass defines ``__getitem__``, and ``__len__`` mostly.

    Notes
    -----
    Where there is a method ``__getitems__``, a `DataLoader` asks it for the samples of
    a whole batch.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotSupportedError(
            f"{type(self).__name__} is a Dataset and must define __getitem__(index)"
        )

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples one after the other: a subclass defines ``__iter__``.

    Notes
    -----
    Each worker process of a `DataLoader` iterates its own copy; `get_worker_info` tells
    a copy which part is its own.
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotSupportedError(
            f"{type(self).__name__} is an IterableDataset and must define __iter__()"
        )

    def __add__(self, other: Dataset[Any]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors: sample `i` is a tuple of their entries `i`.

    Parameters
    ----------
    *tensors : Tensor, shape (n, ...)

    Raises
    ------
    AssertedError
        If their first sizes differ.
    """

    def __init__(self, *tensors: Tensor) -> None:
        sizes = [tensor.shape[0] for tensor in tensors]
        if any(size != sizes[0] for size in sizes):
            raise AssertedError(
                f"TensorDataset: the tensors' first sizes differ: {sizes}"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class StackDataset(Dataset[Any]):
    """Datasets side by side: a sample is a tuple, or a dict, of their samples.

    Parameters
    ----------
    *args : Dataset
        For tuples.
    **kwargs : Dataset
        For dicts.

    Raises
    ------
    ArgumentError
        If there is none, if both forms are given, or if the lengths differ.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ArgumentError(
                "StackDataset takes datasets either by position or by name, and at "
                f"least one; it got {len(args)} and {len(kwargs)}"
            )
        self.datasets: Any = args or kwargs
        lengths = [len(dataset) for dataset in self._parts()]
        if any(length != lengths[0] for length in lengths):
            raise ArgumentError(f"StackDataset: the lengths differ: {lengths}")
        self._length = lengths[0]

    def _parts(self) -> list[Any]:
        named = isinstance(self.datasets, dict)
        return list(self.datasets.values() if named else self.datasets)

    def _sample(self, parts: Sequence[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, parts, strict=True))
        return tuple(parts)

    def __getitem__(self, index: Any) -> Any:
        return self._sample([dataset[index] for dataset in self._parts()])

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Return the samples of several indices."""
        columns = [_samples_of(dataset, indices) for dataset in self._parts()]
        for column in columns:
            if len(column) != len(indices):
                raise ArgumentError(
                    "StackDataset: a nested dataset's __getitems__ returned "
                    f"{len(column)} samples for {len(indices)} indices"
                )
        return [self._sample(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one behind the other, by index.

    Parameters
    ----------
    datasets : iterable of Dataset

    Raises
    ------
    AssertedError
        If there is none, or one of them has no indices.
    """

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Return where each dataset ends."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertedError("ConcatDataset needs at least one dataset")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertedError(
                "ConcatDataset takes no IterableDataset, which has no indices; "
                "use ChainDataset"
            )
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ArgumentError(
                    f"ConcatDataset: the index {idx} lies before the first of "
                    f"{len(self)} samples"
                )
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        before = self.cumulative_sizes[which - 1] if which else 0
        found: T_co = self.datasets[which][idx - before]
        return found

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old spelling of `cumulative_sizes`."""
        warn("cummulative_sizes is spelled cumulative_sizes", DeprecationWarning)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other.

    Parameters
    ----------
    datasets : iterable of IterableDataset
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            _check_iterable(dataset)
            yield from dataset

    def __len__(self) -> int:
        total = 0
        for dataset in self.datasets:
            _check_iterable(dataset)
            total += len(dataset)
        return total


def _check_iterable(dataset: Any) -> None:
    if not isinstance(dataset, IterableDataset):
        raise AssertedError(
            f"ChainDataset only supports IterableDataset, not {type(dataset).__name__}"
        )


class Subset(Dataset[T_co]):
    """Some samples of a dataset.

    Parameters
    ----------
    dataset : Dataset
    indices : sequence of int
        Which samples, in their new order.

    Raises
    ------
    NotSupportedError
        If a subclass changes ``__getitem__`` but not ``__getitems__``, which a
        `DataLoader` asks first.
    """

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset: Any = dataset
        self.indices = indices
        own = type(self)
        if (
            own.__getitem__ is not Subset.__getitem__
            and own.__getitems__ is Subset.__getitems__
        ):
            raise NotSupportedError(
                f"{own.__name__} overrides __getitem__ but not __getitems__, by which "
                "a DataLoader asks for whole batches; define __getitems__(indices) too"
            )

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Return the samples of several indices."""
        return _samples_of(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _samples_of(dataset: Any, indices: list[int]) -> list[Any]:
    several: Callable[..., list[Any]] | None = getattr(dataset, "__getitems__", None)
    if callable(several):
        return several(indices)
    return [dataset[index] for index in indices]


def random_split(
    dataset: Dataset[T],
    lengths: Sequence[int | float],
    generator: Generator | None = default_generator,
) -> list[Subset[T]]:
    """Split a dataset at random into parts that share no sample.

    Parameters
    ----------
    dataset : Dataset
    lengths : sequence of int, or of float
        Numbers of samples; or fractions that sum to 1, of which the parts are rounded
        down and then one sample more given to the first ones until none is left.
    generator : Generator, optional

    Returns
    -------
    list of Subset

    Raises
    ------
    ArgumentError
        If a fraction is out of [0, 1], or the lengths do not sum to the dataset's.

    Examples
    --------
    >>> parts = random_split(range(10), [0.7, 0.3])
    >>> [len(part) for part in parts]
    [7, 3]
    """
    count = len(dataset)  # type: ignore[arg-type]
    total = sum(lengths)
    if math.isclose(total, 1) and total <= 1:
        lengths = _lengths_of_fractions(count, lengths)
    sizes = [int(length) for length in lengths]
    if sum(lengths) != count:
        raise ArgumentError(
            f"random_split: the lengths sum to {sum(lengths)}, but the dataset has "
            f"{count} samples"
        )
    order = randperm(count, generator=generator).tolist()
    ends = itertools.accumulate(sizes)
    return [
        Subset(dataset, order[end - size : end])
        for end, size in zip(ends, sizes, strict=True)
    ]


def _lengths_of_fractions(count: int, fractions: Sequence[float]) -> list[int]:
    for index, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ArgumentError(
                f"random_split: the fraction {fraction} at index {index} is not "
                "between 0 and 1"
            )
    lengths = [math.floor(count * fraction) for fraction in fractions]
    for index in range(count - sum(lengths)):
        lengths[index % len(lengths)] += 1
    for index, length in enumerate(lengths):
        if length == 0:
            warn(f"random_split: the part at index {index} has no sample")
    return lengths
