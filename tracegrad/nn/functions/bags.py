"""Sums, means and maxima of rows of a table: `embedding_bag`."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ArgumentValueError, NotSupportedError
from tracegrad.ops.creation import arange, full, zeros
from tracegrad.ops.embedding import embedding
from tracegrad.ops.selection import where


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Return the sum, mean or maximum of the rows that each bag names.

    Parameters
    ----------
    input : Tensor, shape (bags, length) or (total,), int32 or int64
    weight : Tensor, shape (rows, features)
    offsets : Tensor, shape (bags,), optional
        Where each bag starts, for an `input` of one dimension.
    max_norm, norm_type, scale_grad_by_freq, sparse
        Not available.
    mode : str
        ``"sum"``, ``"mean"`` or ``"max"``.
    per_sample_weights : Tensor, of `input`'s shape, optional
        For ``"sum"``.
    include_last_offset : bool
        Whether the last offset is where the last bag ends.
    padding_idx : int, optional
        A row that counts as not there.

    Returns
    -------
    Tensor, shape (bags, features)
        Zeros for an empty bag.

    Raises
    ------
    ArgumentError
        If the arguments do not go together.
    """
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotSupportedError(
            "embedding_bag: max_norm, scale_grad_by_freq and sparse are not available"
        )
    if mode not in ("sum", "mean", "max"):
        raise ArgumentError("embedding_bag: mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotSupportedError("embedding_bag: per_sample_weights need mode='sum'")
    numbers, bag, count = _bags(input, offsets, include_last_offset)
    rows: Any = embedding(weight, numbers)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)  # type: ignore[attr-defined]
    kept: Any = None
    if padding_idx is not None:
        kept = numbers != padding_idx % weight.shape[0]
    return _joined(rows, bag, count, kept, mode)  # type: ignore[no-any-return]


def _bags(input: Any, offsets: Any, last: bool) -> tuple[Any, Any, int]:
    """Return the numbers in one line, to which bag each belongs, and how many bags."""
    if input.ndim == 2:
        if offsets is not None:
            raise ArgumentError("embedding_bag: an input of 2 dimensions has its bags")
        bags, length = input.shape
        bag = arange(bags, device=input.device).repeat_interleave(length)
        return input.reshape(-1), bag, bags
    if input.ndim != 1:
        raise ArgumentError(
            f"embedding_bag: the input has 1 or 2 dimensions, not {input.ndim}"
        )
    if offsets is None or offsets.ndim != 1:
        raise ArgumentError("embedding_bag: give offsets, of one dimension")
    starts = offsets[:-1] if last else offsets
    if starts.numel() and int(starts[0].item()) != 0:
        raise ArgumentValueError("embedding_bag: offsets[0] has to be 0")
    places = arange(input.shape[0], device=input.device)
    bag = (places.unsqueeze(1) >= starts.unsqueeze(0)).sum(1) - 1
    return input, bag, starts.shape[0]


def _joined(rows: Any, bag: Any, count: int, kept: Any, mode: str) -> Any:
    features = rows.shape[1]
    made = {"dtype": rows.dtype, "device": rows.device}
    if mode == "max":
        if kept is not None:
            rows = where(kept.unsqueeze(1), rows, -math.inf)
        return _largest(rows, bag, count)
    if kept is not None:
        rows = where(kept.unsqueeze(1), rows, 0.0)
    total = zeros(count, features, **made).index_add(0, bag, rows)
    if mode == "sum":
        return total
    ones = full((rows.shape[0],), 1, **made)
    counted = ones if kept is None else kept.to(rows.dtype)
    sizes = zeros(count, **made).index_add(0, bag, counted)
    return total / sizes.clamp(min=1).unsqueeze(1)


def _largest(rows: Any, bag: Any, count: int) -> Any:
    """Return each bag's largest elements; the gradient goes to the first of equals."""
    total, features = rows.shape
    places = bag.unsqueeze(1).expand(total, features)
    lowest = full((count, features), -math.inf, dtype=rows.dtype, device=rows.device)
    best = lowest.scatter_reduce(0, places, rows.detach(), "amax")  # type: ignore[attr-defined]
    numbers = arange(total, device=rows.device).unsqueeze(1)  # type: ignore[attr-defined]
    candidates = where(rows.detach() == best.gather(0, places), numbers, total)
    nowhere = full((count, features), total, dtype=numbers.dtype, device=rows.device)
    first = nowhere.scatter_reduce(0, places, candidates, "amin")  # type: ignore[attr-defined]
    found = rows.gather(0, first.clamp(max=total - 1))
    return where((first == total) | (best == -math.inf), 0.0, found)
