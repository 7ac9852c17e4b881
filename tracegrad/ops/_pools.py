"""What pooling operators share: how many windows there are, and what they cover."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ShapeError
from tracegrad.ops._windows import (
    Padding,
    check_positive,
    per_dimension,
    reach,
    window_counts,
)
from tracegrad.ops.views import unsqueeze
from tracegrad.sizes import Shape, shape_text
from tracegrad.spec import TensorSpec

Numbers = tuple[int, ...]


def pool_counts(
    sizes: Shape,
    kernel: Numbers,
    stride: Numbers,
    padding: Numbers,
    dilation: Numbers,
    ceil_mode: bool,
) -> tuple[Any, ...]:
    """Return how many windows there are; with `ceil_mode` the last may hang over."""
    around = tuple((p, p) for p in padding)
    if not ceil_mode:
        return window_counts(sizes, kernel, stride, around, dilation)
    hanging = tuple((p, p + s - 1) for p, s in zip(padding, stride, strict=True))
    counts = window_counts(sizes, kernel, stride, hanging, dilation)
    # A window must start inside the input or its left padding.
    return tuple(
        n - 1 if (n - 1) * s >= size + p else n
        for n, s, size, p in zip(counts, stride, sizes, padding, strict=True)
    )


def covering(
    sizes: Shape,
    kernel: Numbers,
    stride: Numbers,
    padding: Numbers,
    dilation: Numbers,
    counts: Numbers,
) -> Padding:
    """Return padding with which all windows, the hanging ones too, lie inside."""
    return tuple(
        (p, max(p, (n - 1) * s + reach(k, d) - size - p))
        for size, k, s, p, d, n in zip(
            sizes, kernel, stride, padding, dilation, counts, strict=True
        )
    )


def check_pool(
    name: str, input: TensorSpec, spans: Numbers, padding: Numbers, counts: Any
) -> None:
    """Refuse padding beyond half of what a window spans, and inputs without a window.

    Raises
    ------
    ShapeError
        If there is one.
    """
    if any(2 * p > span or p < 0 for p, span in zip(padding, spans, strict=True)):
        raise ShapeError(
            f"{name}: padding {shape_text(padding)} must be from 0 to half of what the "
            f"kernel spans, {shape_text(spans)}"
        )
    if any(isinstance(n, int) and n < 1 for n in counts):
        raise ShapeError(
            f"{name}: a kernel that spans {shape_text(spans)} does not fit into "
            f"{shape_text(input.shape[2:])} with padding {shape_text(padding)}"
        )


def batched(name: str, input: Tensor, rank: int) -> Tensor:
    """Return `input` with a batch dimension, added if it lacks one.

    Raises
    ------
    ShapeError
        If it has another number of dimensions.
    """
    if input.ndim not in (rank + 1, rank + 2):
        raise ShapeError(
            f"{name}: the input must have {rank + 2} dimensions (batch, channels, …) "
            f"or {rank + 1}, not shape {shape_text(input._array.shape)}"
        )
    return unsqueeze(input, 0) if input.ndim == rank + 1 else input


def pool_geometry(
    name: str, rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return kernel, stride, padding and dilation, one number per dimension.

    Raises
    ------
    ArgumentError
        If one is neither a number nor one per dimension.
    ShapeError
        If a kernel, stride or dilation is below 1.
    """
    kernel = per_dimension(name, "kernel_size", kernel_size, rank)
    # An empty stride is PyTorch's word for "as the kernel", too.
    step = kernel if stride in (None, ()) else stride
    steps = per_dimension(name, "stride", step, rank)
    dilations = per_dimension(name, "dilation", dilation, rank)
    check_positive(name, kernel_size=kernel, stride=steps, dilation=dilations)
    return kernel, steps, per_dimension(name, "padding", padding, rank), dilations


def adaptive_sizes(name: str, rank: int, input: Tensor, output_size: Any) -> Numbers:
    """Return the result's spatial sizes; None keeps the input's.

    Raises
    ------
    ShapeError
        If a size is negative.
    """
    wanted = (
        tuple(output_size)
        if isinstance(output_size, tuple | list)
        else (output_size,) * rank
    )
    own = input._array.shape[-rank:]
    sizes = tuple(
        s if w is None else int(w)
        for s, w in zip(own, per_rank(name, wanted, rank), strict=True)
    )
    if any(s < 0 for s in sizes):
        raise ShapeError(f"{name}: output_size can't be negative: {list(sizes)}")
    return sizes


def per_rank(name: str, values: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """Return one value per spatial dimension.

    Raises
    ------
    ShapeError
        If there are more or fewer.
    """
    if len(values) == 1:
        return values * rank
    if len(values) != rank:
        raise ShapeError(f"{name}: output_size must be {rank} sizes, not {values}")
    return values


def adaptive_windows(
    sizes: Any, counts: Any
) -> Iterator[tuple[Numbers, tuple[slice, ...]]]:
    """Yield place and window for the split of `sizes` into `counts` of each.

    The windows are of nearly equal size; they overlap where a count does not divide
    the size.
    """
    bounds = [
        [slice(i * size // n, -(-(i + 1) * size // n)) for i in range(n)]
        for size, n in zip(sizes, counts, strict=True)
    ]
    for place in product(*map(range, counts)):
        yield place, tuple(bound[i] for bound, i in zip(bounds, place, strict=True))
