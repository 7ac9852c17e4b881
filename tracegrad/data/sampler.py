"""Samplers: the order in which a DataLoader asks a dataset for its samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from tracegrad import as_tensor, empty, randint, randperm
from tracegrad.data.weighted import draw_weighted
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float64, int64
from tracegrad.errors import ArgumentError, ArgumentTypeError, NotSupportedError

T_co = TypeVar("T_co", covariant=True)

# How many indices RandomSampler draws at once with replacement; as many as PyTorch, so
# that the stream of numbers is the same.
_DRAWN_AT_ONCE = 32


def drawn_seed(generator: Generator | None) -> int:
    """Draw a seed as PyTorch's loaders do: any non-negative int64."""
    return int(empty((), dtype=int64).random_(generator=generator).item())


class Sampler(Generic[T_co]):
    """Base class of samplers: a subclass defines ``__iter__``, and mostly ``__len__``.

    Parameters
    ----------
    data_source : object, optional
        Not used; accepted as PyTorch's used to.
    """

    def __init__(self, data_source: Sized | None = None) -> None:
        del data_source

    def __iter__(self) -> Iterator[T_co]:
        raise NotSupportedError(
            f"{type(self).__name__} is a Sampler and must define __iter__()"
        )


class SequentialSampler(Sampler[int]):
    """The indices in their order.

    Parameters
    ----------
    data_source : Dataset
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices in random order.

    Parameters
    ----------
    data_source : Dataset
    replacement : bool
        Whether an index may come more than once.
    num_samples : int, optional
        How many; as many as there are samples if not given.
    generator : Generator, optional
        If not given, a generator of its own for each iteration, whose seed the default
        generator draws.

    Raises
    ------
    ArgumentTypeError
        If `replacement` is no bool.
    ArgumentError
        If `num_samples` is not positive.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise ArgumentTypeError(
                f"RandomSampler: replacement should be a bool, not {replacement!r}"
            )
        _check_count("RandomSampler", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices an iteration gives."""
        if self._num_samples is None:
            return len(self.data_source)
        return self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(drawn_seed(None))
        # A generator function: as in PyTorch, the first index asked for draws the seed.
        if self.replacement:
            yield from self._with_replacement(generator)
        else:
            yield from self._permuted(generator)

    def _with_replacement(self, generator: Generator) -> Iterator[int]:
        count = len(self.data_source)
        whole, rest = divmod(self.num_samples, _DRAWN_AT_ONCE)
        for size in [_DRAWN_AT_ONCE] * whole + [rest]:
            yield from randint(count, (size,), generator=generator).tolist()

    def _permuted(self, generator: Generator) -> Iterator[int]:
        count = len(self.data_source)
        whole, rest = divmod(self.num_samples, count)
        for _ in range(whole):
            yield from randperm(count, generator=generator).tolist()
        # Drawn even where nothing of it is used, as PyTorch does.
        yield from randperm(count, generator=generator).tolist()[:rest]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given indices in random order.

    Parameters
    ----------
    indices : sequence of int
    generator : Generator, optional
    """

    def __init__(
        self, indices: Sequence[int], generator: Generator | None = None
    ) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for place in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with given weights.

    Parameters
    ----------
    weights : sequence of float
        One per sample; they need not sum to 1.
    num_samples : int
    replacement : bool
        Whether an index may come more than once.
    generator : Generator, optional

    Raises
    ------
    ArgumentError
        If `num_samples` is not positive, `replacement` is no bool, or the weights are
        not one row.
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_count("WeightedRandomSampler", num_samples)
        if not isinstance(replacement, bool):
            raise ArgumentError(
                f"WeightedRandomSampler: replacement should be a bool, "
                f"not {replacement!r}"
            )
        row: Tensor = as_tensor(weights, dtype=float64)
        if row.ndim != 1:
            raise ArgumentError(
                "WeightedRandomSampler: weights should be one row, "
                f"not of shape {tuple(row.shape)}"
            )
        self.weights = row
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = draw_weighted(
            self.weights, self.num_samples, self.replacement, self.generator
        )
        yield from drawn

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists.

    Parameters
    ----------
    sampler : Sampler or iterable
    batch_size : int
    drop_last : bool
        Whether a last list that is not full is left out.

    Raises
    ------
    ArgumentError
        If `batch_size` is no positive int or `drop_last` no bool.

    Examples
    --------
    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self, sampler: Iterable[Any], batch_size: int, drop_last: bool
    ) -> None:
        _check_count("BatchSampler", batch_size, "batch_size")
        if not isinstance(drop_last, bool):
            raise ArgumentError(
                f"BatchSampler: drop_last should be a bool, not {drop_last!r}"
            )
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        if self.drop_last:
            return count // self.batch_size
        return -(-count // self.batch_size)


def _check_count(who: str, count: Any, what: str = "num_samples") -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        raise ArgumentError(f"{who}: {what} should be a positive int, not {count!r}")
