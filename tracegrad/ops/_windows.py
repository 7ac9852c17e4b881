"""Windows that slide over spatial dimensions: their geometry, for conv and pooling."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from tracegrad.errors import ArgumentError, ShapeError
from tracegrad.sizes import Dimension, Shape, shape_text

# How many elements are added before and after, per spatial dimension.
Padding = tuple[tuple[int, int], ...]


def per_dimension(name: str, what: str, value: Any, rank: int) -> tuple[int, ...]:
    """Return one number per spatial dimension.

    Raises
    ------
    ArgumentError
        If `value` is neither a number nor `rank` numbers.
    """
    if isinstance(value, int):
        return (value,) * rank
    numbers = tuple(int(v) for v in value)
    if len(numbers) == 1:
        return numbers * rank
    if len(numbers) != rank:
        raise ArgumentError(
            f"{name}: {what} must be a number or {rank} numbers, not {value!r}"
        )
    return numbers


def check_positive(name: str, **numbers: tuple[int, ...]) -> None:
    """Refuse strides, dilations and kernel sizes below 1.

    Raises
    ------
    ShapeError
        If there is one.
    """
    for what, values in numbers.items():
        if any(v < 1 for v in values):
            raise ShapeError(
                f"{name}: {what} must be at least 1, not {shape_text(values)}"
            )


def reach(kernel: Dimension, dilation: int) -> Any:
    """Return how many elements a window spans, gaps included."""
    return dilation * (kernel - 1) + 1


def window_counts(
    sizes: Shape,
    kernel: Shape,
    stride: tuple[int, ...],
    padding: Padding,
    dilation: tuple[int, ...],
) -> tuple[Any, ...]:
    """Return how many windows fit, per spatial dimension; less than 1 if none does."""
    return tuple(
        (size + low + high - reach(k, d)) // step + 1
        for size, k, step, (low, high), d in zip(
            sizes, kernel, stride, padding, dilation, strict=True
        )
    )


def padded(xp: Any, array: Any, padding: Padding, value: Any) -> Any:
    """Return `array` with its last dimensions extended; itself if by nothing."""
    if not any(low or high for low, high in padding):
        return array
    untouched = array.ndim - len(padding)
    sizes = [
        s + low + high
        for s, (low, high) in zip(array.shape[untouched:], padding, strict=True)
    ]
    result = xp.full((*array.shape[:untouched], *sizes), value, dtype=array.dtype)
    result[inner(padding, array.shape[untouched:])] = array
    return result


def inner(padding: Padding, sizes: Shape) -> tuple[Any, ...]:
    """Return the index of what padding surrounds."""
    return (
        ...,
        *(slice(low, low + s) for (low, _), s in zip(padding, sizes, strict=True)),
    )


def sliding(
    xp: Any,
    array: Any,
    kernel: Shape,
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    counts: tuple[int, ...],
) -> Any:
    """Return a view with, in place of each spatial dimension, kernel then windows.

    Parameters
    ----------
    array : ndarray, shape (..., *sizes)
        Already padded.

    Returns
    -------
    ndarray, shape (..., *kernel, *counts)
    """
    rank = len(kernel)
    steps = array.strides[-rank:]
    inside = [s * d for s, d in zip(steps, dilation, strict=True)]
    between = [s * d for s, d in zip(steps, stride, strict=True)]
    return xp.lib.stride_tricks.as_strided(
        array,
        (*array.shape[:-rank], *kernel, *counts),
        (*array.strides[:-rank], *inside, *between),
    )


def places(
    kernel: Shape,
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    counts: tuple[int, ...],
) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
    """Yield each place in the window, with the index of what all windows have there."""
    for place in product(*map(range, kernel)):
        index = tuple(
            slice(k * d, k * d + (count - 1) * step + 1, step)
            for k, d, count, step in zip(place, dilation, counts, stride, strict=True)
        )
        yield place, (..., *index)
