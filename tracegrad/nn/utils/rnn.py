"""Sequences of different lengths: padded to one tensor, or packed without padding."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import int64
from tracegrad.errors import ArgumentValueError, ShapeError
from tracegrad.ops.conversion import tensor
from tracegrad.ops.creation import empty_like
from tracegrad.ops.joining import cat, stack
from tracegrad.ops.padding import pad


class PackedSequence(NamedTuple):
    """Sequences of different lengths, step by step, without padding.

    Attributes
    ----------
    data : Tensor, shape (sum of lengths, ...)
        The first elements of all sequences, then the second ones, ….
    batch_sizes : Tensor, shape (longest,), int64
        How many sequences have that many elements.
    sorted_indices, unsorted_indices : Tensor, shape (batch,), or None
        From the caller's order to falling lengths, and back.
    """

    data: Any
    batch_sizes: Any
    sorted_indices: Any = None
    unsorted_indices: Any = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequences in another dtype or on another device."""
        return self._replace(data=self.data.to(*args, **kwargs))

    def cpu(self) -> PackedSequence:
        """Return the sequences on the CPU."""
        return self.to("cpu")

    def float(self) -> PackedSequence:
        """Return the sequences in float32."""
        return self._replace(data=self.data.float())

    def double(self) -> PackedSequence:
        """Return the sequences in float64."""
        return self._replace(data=self.data.double())

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return bool(self.data.is_cuda)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the order that undoes another."""
    if permutation is None:
        return None
    given: Any = permutation
    inverse: Any = empty_like(given)
    places = tensor(list(range(given.numel())), dtype=int64, device=given.device)
    inverse.scatter_(0, given, places)
    return inverse  # type: ignore[no-any-return]


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Return sequences of different lengths as one tensor.

    Parameters
    ----------
    sequences : list of Tensor, shape (length, ...)
    batch_first : bool
    padding_value : float
    padding_side : str
        ``"right"`` or ``"left"``.

    Returns
    -------
    Tensor, shape (longest, batch, ...) or (batch, longest, ...)

    Raises
    ------
    ArgumentValueError
        If there is none, or the side is unknown.
    """
    if padding_side not in ("left", "right"):
        raise ArgumentValueError(
            f"padding_side must be 'left' or 'right', not {padding_side!r}"
        )
    given = list(sequences)
    if not given:
        raise ArgumentValueError("pad_sequence: received an empty list of sequences")
    longest = max(s.shape[0] for s in given)
    rows = []
    for sequence in given:
        missing = longest - sequence.shape[0]
        sides = (missing, 0) if padding_side == "left" else (0, missing)
        around = (*(0,) * (2 * (sequence.ndim - 1)), *sides)
        rows.append(pad(sequence, around, value=padding_value) if missing else sequence)
    return stack(rows, 0 if batch_first else 1)  # type: ignore[no-any-return]


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Return the sequences of a padded tensor, each with its length."""
    given: Any = padded_sequences
    rows = given if batch_first else given.transpose(0, 1)
    counts: Any = lengths
    return [row[:n] for row, n in zip(rows.unbind(0), _numbers(counts), strict=True)]


def _numbers(lengths: Any) -> list[int]:
    return [
        int(n) for n in (lengths.tolist() if hasattr(lengths, "tolist") else lengths)
    ]


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Return padded sequences packed.

    Parameters
    ----------
    input : Tensor, shape (longest, batch, ...) or (batch, longest, ...)
    lengths : Tensor or list of int
    batch_first : bool
    enforce_sorted : bool
        Whether the lengths must fall; they are sorted if not.

    Raises
    ------
    ArgumentValueError
        If a length is below 1, or they do not fall.
    ShapeError
        If there are not as many lengths as sequences.
    """
    counts = _numbers(lengths)
    x: Any = input
    order = None
    if not enforce_sorted:
        places = sorted(range(len(counts)), key=lambda i: -counts[i])
        counts = [counts[i] for i in places]
        order = tensor(places, dtype=int64, device=x.device)
        x = x.index_select(0 if batch_first else 1, order)
    if batch_first:
        x = x.transpose(0, 1)
    _check_lengths(x, counts)
    sizes = [sum(n > step for n in counts) for step in range(counts[0])]
    data = cat([x[step, :size] for step, size in enumerate(sizes)], 0)
    batch_sizes = tensor(sizes, dtype=int64)
    return PackedSequence(data, batch_sizes, order, invert_permutation(order))


def _check_lengths(x: Any, counts: list[int]) -> None:
    if len(counts) != x.shape[1]:
        raise ShapeError(
            f"pack_padded_sequence: {len(counts)} lengths for a batch of {x.shape[1]}"
        )
    if min(counts) < 1:
        raise ArgumentValueError(
            "pack_padded_sequence: each length must be greater than 0"
        )
    if any(a < b for a, b in pairwise(counts)):
        raise ArgumentValueError(
            "pack_padded_sequence: the lengths must fall; give enforce_sorted=False to "
            "have them sorted"
        )


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return packed sequences padded, and their lengths.

    Parameters
    ----------
    sequence : PackedSequence
    batch_first : bool
    padding_value : float
    total_length : int, optional
        To what length to pad; the longest if not given.

    Raises
    ------
    ArgumentValueError
        If a sequence is longer than that.
    """
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None and total_length < longest:
        raise ArgumentValueError(
            "pad_packed_sequence: total_length must be at least the longest "
            f"length {longest}, not {total_length}"
        )
    steps = sequence.data.split(sizes, 0)
    tail = (0,) * (2 * (sequence.data.ndim - 1))
    rows = [
        pad(step, (*tail, 0, sizes[0] - size), value=padding_value)
        for step, size in zip(steps, sizes, strict=True)
    ]
    padded: Any = stack(rows)
    if total_length is not None and total_length > longest:
        around = (*tail, 0, 0, 0, total_length - longest)
        padded = pad(padded, around, value=padding_value)
    lengths: Any = tensor(
        [sum(size > i for size in sizes) for i in range(sizes[0])], dtype=int64
    )
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded.transpose(0, 1) if batch_first else padded, lengths


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Return sequences of different lengths packed; see `pack_padded_sequence`."""
    lengths = [sequence.shape[0] for sequence in sequences]
    return pack_padded_sequence(
        pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted
    )


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
