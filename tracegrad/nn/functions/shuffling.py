"""Channels and pixels in another order: composites of reshape and permute."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ShapeError


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Return channels laid out as pixels.

    Parameters
    ----------
    input : Tensor, shape (..., channels * factor**2, height, width)
    upscale_factor : int

    Returns
    -------
    Tensor, shape (..., channels, height * factor, width * factor)

    Raises
    ------
    ShapeError
        If the factor's square does not divide the channels.

    Notes
    -----
    Source: Shi et al., "Real-Time Single Image and Video Super-Resolution Using an
    Efficient Sub-Pixel Convolutional Neural Network" (2016).
    """
    x: Any = input
    r = upscale_factor
    if input.ndim < 3 or r < 1 or input.shape[-3] % (r * r):
        raise ShapeError(
            f"pixel_shuffle: shape {list(input.shape)} with factor {r}; its square "
            "must divide the channels, third from the end"
        )
    *front, channels, height, width = input.shape
    k = len(front)
    split = x.reshape(*front, channels // (r * r), r, r, height, width)
    turned = split.permute(*range(k), k, k + 3, k + 1, k + 4, k + 2)
    return turned.reshape(*front, channels // (r * r), height * r, width * r)  # type: ignore[no-any-return]


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Return pixels laid out as channels: what undoes `pixel_shuffle`.

    Raises
    ------
    ShapeError
        If the factor does not divide height and width.
    """
    x: Any = input
    r = downscale_factor
    fits = input.ndim >= 3 and r >= 1
    if not fits or input.shape[-2] % r or input.shape[-1] % r:
        raise ShapeError(
            f"pixel_unshuffle: shape {list(input.shape)} with factor {r}; it must "
            "divide height and width"
        )
    *front, channels, height, width = input.shape
    k = len(front)
    split = x.reshape(*front, channels, height // r, r, width // r, r)
    turned = split.permute(*range(k), k, k + 2, k + 4, k + 1, k + 3)
    return turned.reshape(*front, channels * r * r, height // r, width // r)  # type: ignore[no-any-return]


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Return the channels dealt out: one of each group in turn.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, ...)
    groups : int

    Raises
    ------
    ShapeError
        If the groups do not divide the channels.
    """
    x: Any = input
    if input.ndim < 3 or groups < 1 or input.shape[1] % groups:
        raise ShapeError(
            f"channel_shuffle: shape {list(input.shape)} with {groups} groups; they "
            "must divide the channels of (batch, channels, ...)"
        )
    batch, channels, *rest = input.shape
    split = x.reshape(batch, groups, channels // groups, *rest)
    return split.transpose(1, 2).reshape(batch, channels, *rest)  # type: ignore[no-any-return]
