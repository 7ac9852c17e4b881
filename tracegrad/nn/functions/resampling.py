"""Other sizes for images: `interpolate`, one dimension after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, NotSupportedError, ShapeError
from tracegrad.location import warn
from tracegrad.ops.conversion import tensor
from tracegrad.ops.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
)
from tracegrad.ops.volumes import adaptive_avg_pool3d

_RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_SMOOTH = tuple(_RANKS)
_AREAS = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}

# Where between two elements a cubic is bent, as in PyTorch.
_BEND = -0.75
_BEND_OF_ANTIALIAS = -0.5


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Return `input` in another size.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, ...), one to three spatial dimensions
    size : int or tuple of int, optional
        The spatial sizes of the result.
    scale_factor : float or tuple of float, optional
        In place of `size`, by what the sizes are multiplied.
    mode : str
        ``"nearest"``, ``"nearest-exact"``, ``"linear"``, ``"bilinear"``,
        ``"bicubic"``, ``"trilinear"`` or ``"area"``.
    align_corners : bool, optional
        Whether the corners' centres stay where they are, not their outer edges.
    recompute_scale_factor : bool, optional
        Whether the scale is that of the sizes, not the one given.
    antialias : bool
        Whether what is made smaller is smoothed; bilinear and bicubic only.

    Raises
    ------
    ArgumentError
        If the arguments do not go together.

    Notes
    -----
    Source: Keys, "Cubic Convolution Interpolation for Digital Image Processing" (1981).
    """
    rank = input.ndim - 2
    _check_mode(mode, rank, align_corners, antialias)
    sizes, scales = _target(input, rank, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        return _AREAS[rank](input, sizes)  # type: ignore[no-any-return]
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ArgumentError("interpolate: antialias takes mode bilinear or bicubic")
    if min(sizes, default=1) < 1:
        raise ShapeError(f"interpolate: the sizes must be positive, not {sizes}")
    result: Any = input
    # The last dimension first: it is the one next to each other in memory.
    for place in reversed(range(rank)):
        have = input.shape[place + 2]
        taps = _taps(
            mode, have, sizes[place], scales[place], bool(align_corners), antialias
        )
        result = _resampled(result, place + 2, *taps)
    if result is input:
        result = result.clone()
    return result  # type: ignore[no-any-return]


def _check_mode(
    mode: str, rank: int, align_corners: bool | None, antialias: bool
) -> None:
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ArgumentError(
                "interpolate: align_corners can only be set with mode linear, "
                "bilinear, bicubic or trilinear"
            )
    elif mode not in _RANKS:
        raise NotSupportedError(f"interpolate: there is no mode {mode!r}")
    if rank not in (1, 2, 3) or _RANKS.get(mode, rank) != rank:
        raise NotSupportedError(
            f"interpolate: mode {mode!r} does not take inputs of {rank + 2} dimensions"
        )


def _target(
    input: Tensor, rank: int, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    """Return the new sizes, and the scales that were given."""
    if (size is None) == (scale_factor is None):
        raise ArgumentError(
            "interpolate: give one of size and scale_factor, not "
            f"{'both' if size is not None else 'neither'}"
        )
    if size is not None:
        if recompute:
            raise ArgumentError(
                "interpolate: recompute_scale_factor takes a scale_factor, not a size"
            )
        wanted = _per_dimension("size", size, rank)
        return [int(n) for n in wanted], [None] * rank
    factors = [float(f) for f in _per_dimension("scale_factor", scale_factor, rank)]
    sizes = [
        math.floor(n * factor)
        for n, factor in zip(input.shape[2:], factors, strict=True)
    ]
    return sizes, [None] * rank if recompute else list(factors)


def _per_dimension(name: str, value: Any, rank: int) -> tuple[Any, ...]:
    if not isinstance(value, tuple | list):
        return (value,) * rank
    if len(value) != rank:
        raise ArgumentError(
            f"interpolate: {name} must be {rank} numbers for {rank} dimensions, "
            f"not {tuple(value)}"
        )
    return tuple(value)


def _resampled(x: Any, dim: int, places: Any, weights: Any) -> Any:
    """Return sums of elements along a dimension, as the taps say.

    Parameters
    ----------
    x : Tensor
    dim : int
    places : ndarray, shape (taps, size)
    weights : ndarray, shape (taps, size), or None
        None for one tap of weight 1.
    """
    if weights is None:
        return _picked(x, dim, places[0])
    total: Any = None
    for place, weight in zip(places, weights, strict=True):
        shape = [1] * x.ndim
        shape[dim] = len(weight)
        factor = tensor(weight.tolist(), device=x.device, dtype=x.dtype)
        part = _picked(x, dim, place) * factor.reshape(*shape)
        total = part if total is None else total + part
    return total


def _picked(x: Any, dim: int, place: Any) -> Any:
    have, want = x.shape[dim], len(place)
    if want == have and (place == np.arange(have)).all():
        return x
    times = want // have
    if times * have == want and (place == np.arange(want) // times).all():
        # Each element several times: a view, and no gather.
        wide = x.unsqueeze(dim + 1).expand(
            *x.shape[: dim + 1], times, *x.shape[dim + 1 :]
        )
        return wide.reshape(*x.shape[:dim], want, *x.shape[dim + 1 :])
    return x.index_select(dim, tensor(place.tolist(), device=x.device))


# -- taps ---------------------------------------------------------------------------


def _taps(
    mode: str,
    have: int,
    want: int,
    scale: float | None,
    align_corners: bool,
    antialias: bool,
) -> tuple[Any, Any]:
    """Return which elements each result is made of, and with which weights."""
    step = 1.0 / scale if scale else have / want
    if mode in ("nearest", "nearest-exact"):
        shift = 0.5 if mode == "nearest-exact" else 0.0
        at = (np.arange(want) + shift) * np.float32(step)
        return np.minimum(np.floor(at).astype(np.int64), have - 1)[None], None
    if align_corners:
        step = (have - 1) / (want - 1) if want > 1 else 0.0
    if antialias:
        return _antialiased(mode, have, want, step, align_corners)
    at = (
        np.arange(want) * step
        if align_corners
        else (np.arange(want) + 0.5) * step - 0.5
    )
    return _cubic(at, have) if mode == "bicubic" else _linear(at, have)


def _linear(at: Any, have: int) -> tuple[Any, Any]:
    at = np.maximum(at, 0.0)
    first = np.minimum(np.floor(at).astype(np.int64), have - 1)
    second = np.minimum(first + 1, have - 1)
    share = np.clip(at - first, 0.0, 1.0)
    return np.stack([first, second]), np.stack([1.0 - share, share])


def cubic_weight(distance: Any, bend: float) -> Any:
    """Return the weight of an element at a distance, by Keys' cubic."""
    d = np.abs(distance)
    near = ((bend + 2.0) * d - (bend + 3.0)) * d * d + 1.0
    far = ((d - 5.0) * d + 8.0) * d * bend - 4.0 * bend
    return np.where(d <= 1.0, near, np.where(d < 2.0, far, 0.0))


def _cubic(at: Any, have: int) -> tuple[Any, Any]:
    floor = np.floor(at)
    taps = np.arange(-1, 3)[:, None]
    places = np.clip(floor.astype(np.int64) + taps, 0, have - 1)
    return places, cubic_weight(at - floor - taps, _BEND)


def _antialiased(
    mode: str, have: int, want: int, step: float, align_corners: bool
) -> tuple[Any, Any]:
    """Return taps over a window that widens as the image shrinks."""
    radius = 2.0 if mode == "bicubic" else 1.0
    stretch = max(step, 1.0)
    support = radius * stretch
    centre = step * (np.arange(want) + (0.0 if align_corners else 0.5))
    low = np.maximum(np.trunc(centre - support + 0.5), 0).astype(np.int64)
    high = np.minimum(np.trunc(centre + support + 0.5), have).astype(np.int64)
    count = int((high - low).max())
    taps = low + np.arange(count)[:, None]
    distance = (taps - centre + 0.5) / stretch
    if mode == "bicubic":
        weights = cubic_weight(distance, _BEND_OF_ANTIALIAS)
    else:
        weights = np.maximum(1.0 - np.abs(distance), 0.0)
    weights = np.where(taps < high, weights, 0.0)
    return np.minimum(taps, have - 1), weights / weights.sum(0)


# -- old names ------------------------------------------------------------------------


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Return `interpolate` of the arguments; an old name of it."""
    warn("upsample is an old name of interpolate")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: Any = None, scale_factor: Any = None
) -> Tensor:
    """Return `interpolate` with mode nearest; an old name of it."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: Tensor, size: Any = None, scale_factor: Any = None
) -> Tensor:
    """Return `interpolate` with mode bilinear and aligned corners; an old name."""
    return interpolate(input, size, scale_factor, "bilinear", True)
