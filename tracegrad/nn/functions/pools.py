"""Pools made of others: power means, unpooling, sums over neighbouring channels."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ShapeError
from tracegrad.ops.activations import rectified
from tracegrad.ops.creation import zeros
from tracegrad.ops.gathering import scatter
from tracegrad.ops.padding import pad
from tracegrad.ops.pooling import avg_pool1d, avg_pool2d, avg_pool3d

_MEANS = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


def _lp_pool(
    rank: int, input: Any, norm_type: float, kernel_size: Any, stride: Any, ceil: bool
) -> Any:
    sizes = (kernel_size,) * rank if isinstance(kernel_size, int) else kernel_size
    mean: Any = _MEANS[rank](input**norm_type, kernel_size, stride, 0, ceil)
    # The sign keeps odd powers of sums below zero from turning into NaN.
    total = mean.sign() * rectified(mean.abs()) * math.prod(sizes)
    return total ** (1.0 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the p-norm of each window over one dimension, without absolute values."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)  # type: ignore[no-any-return]


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the p-norm of each window over two dimensions, without absolute values."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)  # type: ignore[no-any-return]


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the p-norm of each window over three dimensions."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)  # type: ignore[no-any-return]


def _unpooled(
    rank: int,
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Any:
    name = f"max_unpool{rank}d"
    if tuple(input.shape) != tuple(indices.shape):
        raise ShapeError(
            f"{name}: input {list(input.shape)} and indices {list(indices.shape)} must "
            "have one shape"
        )
    kernel, step, around = (
        (value,) * rank if isinstance(value, int) else tuple(value)
        for value in (kernel_size, stride or kernel_size, padding)
    )
    sizes = _unpooled_sizes(name, input, kernel, step, around, output_size)
    front = tuple(input.shape[:-rank])
    count = math.prod(sizes)
    empty = zeros(*front, count, dtype=input.dtype, device=input.device)
    flat = scatter(empty, -1, indices.reshape(*front, -1), input.reshape(*front, -1))
    return flat.reshape(*front, *sizes)


def _unpooled_sizes(
    name: str, input: Any, kernel: Any, stride: Any, padding: Any, wanted: Any
) -> tuple[int, ...]:
    rank = len(kernel)
    least = tuple(
        (n - 1) * s + k - 2 * p
        for n, k, s, p in zip(input.shape[-rank:], kernel, stride, padding, strict=True)
    )
    if wanted is None:
        return least
    sizes = tuple(wanted)[-rank:]
    for size, default, step in zip(sizes, least, stride, strict=True):
        if not default - step < size < default + step:
            raise ArgumentError(
                f"{name}: invalid output_size {list(sizes)}: each must be less than a "
                f"stride away from {list(least)}"
            )
    return sizes


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Return maxima put back where they were, zeros elsewhere; as `max_unpool2d`."""
    return _unpooled(1, input, indices, kernel_size, stride, padding, output_size)  # type: ignore[no-any-return]


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Return maxima put back where they were, zeros elsewhere.

    Parameters
    ----------
    input : Tensor, shape (..., channels, height, width)
    indices : Tensor
        What ``max_pool2d(..., return_indices=True)`` returned.
    kernel_size, stride, padding : int or tuple of int
        As of the pooling.
    output_size : tuple of int, optional
        What was pooled, where the stride leaves it open.

    Raises
    ------
    ArgumentError, ShapeError
        If a shape or size does not fit.
    """
    return _unpooled(2, input, indices, kernel_size, stride, padding, output_size)  # type: ignore[no-any-return]


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Return maxima put back where they were, zeros elsewhere; as `max_unpool2d`."""
    return _unpooled(3, input, indices, kernel_size, stride, padding, output_size)  # type: ignore[no-any-return]


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Return `input` over a power of the mean square of neighbouring channels.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, ...)
    size : int
        How many channels are neighbours.
    alpha, beta, k : float
        The divisor is ``(k + alpha * mean) ** beta``.

    Raises
    ------
    ArgumentError
        If there are fewer than three dimensions.

    Notes
    -----
    Source: Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural
    Networks" (2012).
    """
    if input.ndim < 3:
        raise ArgumentError(
            f"local_response_norm needs at least 3 dimensions, not {input.ndim}"
        )
    if input.numel() == 0:
        return input
    x: Any = input
    channels = x.shape[1]
    flat = (x * x).reshape(x.shape[0], 1, channels, -1)
    around = pad(flat, (0, 0, size // 2, (size - 1) // 2))
    mean: Any = avg_pool2d(around, (size, 1), stride=1)
    divisor = (mean.reshape(*x.shape) * alpha + k) ** beta
    return x / divisor  # type: ignore[no-any-return]
