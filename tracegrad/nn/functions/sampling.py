"""Images read at given places: `affine_grid` and `grid_sample`."""

from __future__ import annotations

from itertools import product
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ShapeError
from tracegrad.ops.contraction import matmul
from tracegrad.ops.creation import arange, ones_like
from tracegrad.ops.joining import stack
from tracegrad.ops.selection import where

_BEND = -0.75


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """Return where each element of an image comes from under affine maps.

    Parameters
    ----------
    theta : Tensor, shape (batch, 2, 3) or (batch, 3, 4)
    size : tuple of int
        The result's: (batch, channels, height, width), or with depth.
    align_corners : bool, optional
        Whether -1 and 1 are the corners' centres, not their outer edges.

    Returns
    -------
    Tensor, shape (batch, height, width, 2) or (batch, depth, height, width, 3)
        Coordinates from -1 to 1, the last dimension's first.

    Raises
    ------
    ShapeError
        If the shapes do not fit.

    Notes
    -----
    Source: Jaderberg et al., "Spatial Transformer Networks" (2015).
    """
    given: Any = theta
    sizes = tuple(size)[2:]
    rank = len(sizes)
    if rank not in (2, 3) or tuple(theta.shape) != (size[0], rank, rank + 1):
        raise ShapeError(
            f"affine_grid: theta of shape {list(theta.shape)} and size {list(size)} do "
            "not fit: (batch, 2, 3) goes with four sizes, (batch, 3, 4) with five"
        )
    axes = []
    for place, n in enumerate(sizes):
        shape = [1] * rank
        shape[place] = n
        line = _line(n, bool(align_corners), given).reshape(*shape)
        axes.append(line.expand(*sizes))
    points = stack([*axes[::-1], ones_like(axes[0])], -1)
    flat: Any = points.reshape(1, -1, rank + 1)
    mapped: Any = matmul(flat, given.transpose(1, 2))
    return mapped.reshape(size[0], *sizes, rank)  # type: ignore[no-any-return]


def _line(n: int, align_corners: bool, like: Any) -> Any:
    places: Any = arange(n, dtype=like.dtype, device=like.device)
    if align_corners:
        return places * (2.0 / (n - 1)) - 1.0 if n > 1 else places
    return (places * 2.0 + 1.0) / n - 1.0


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Return an image read at given places.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, height, width), or with depth
    grid : Tensor, shape (batch, out height, out width, 2), or with depth
        Coordinates from -1 to 1, the last dimension's first.
    mode : str
        ``"bilinear"``, ``"nearest"`` or ``"bicubic"``.
    padding_mode : str
        What lies outside: ``"zeros"``, ``"border"`` or ``"reflection"``.
    align_corners : bool, optional
        Whether -1 and 1 are the corners' centres, not their outer edges.

    Returns
    -------
    Tensor, shape (batch, channels, out height, out width), or with depth

    Raises
    ------
    ArgumentError, ShapeError
        If a mode is unknown, or the shapes do not fit.

    Notes
    -----
    Source: Jaderberg et al., "Spatial Transformer Networks" (2015).
    """
    _check(input, grid, mode, padding_mode)
    sizes = tuple(input.shape[2:])
    aligned = bool(align_corners)
    coordinates = [c for c in reversed(grid.unbind(-1))]  # type: ignore[attr-defined]
    at = [_unscaled(c, n, aligned) for c, n in zip(coordinates, sizes, strict=True)]
    if mode != "bicubic":
        at = [
            _inside(a, n, padding_mode, aligned) for a, n in zip(at, sizes, strict=True)
        ]
    taps = [_TAPS[mode](a) for a in at]
    total: Any = None
    for choice in product(*taps):
        places = [place for place, _ in choice]
        if mode == "bicubic":
            places = [
                _inside(p, n, padding_mode, aligned)
                for p, n in zip(places, sizes, strict=True)
            ]
        part = _read(input, places, sizes)
        for _, weight in choice:
            part = part if weight is None else part * weight.unsqueeze(1)
        total = part if total is None else total + part
    return total  # type: ignore[no-any-return]


def _check(input: Tensor, grid: Tensor, mode: str, padding_mode: str) -> None:
    if mode not in _TAPS:
        raise ArgumentError(
            f"grid_sample: the mode is bilinear, nearest or bicubic, not {mode!r}"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ArgumentError(
            "grid_sample: the padding_mode is zeros, border or reflection, not "
            f"{padding_mode!r}"
        )
    rank = input.ndim - 2
    fits = (
        rank in (2, 3)
        and grid.ndim == input.ndim
        and grid.shape[-1] == rank
        and grid.shape[0] == input.shape[0]
    )
    if not fits or (mode == "bicubic" and rank != 2):
        raise ShapeError(
            f"grid_sample: input {list(input.shape)} and grid {list(grid.shape)} do "
            f"not fit each other in mode {mode!r}"
        )


def _unscaled(c: Any, n: int, align_corners: bool) -> Any:
    """Return coordinates from -1 to 1 as places."""
    if align_corners:
        return (c + 1.0) * ((n - 1) / 2)
    return ((c + 1.0) * n - 1.0) * 0.5


def _inside(at: Any, n: int, padding_mode: str, align_corners: bool) -> Any:
    """Return places outside clamped or mirrored, as the mode says."""
    if padding_mode == "zeros":
        return at
    if padding_mode == "reflection":
        low, high = (0.0, n - 1.0) if align_corners else (-0.5, n - 0.5)
        span = high - low
        if span == 0:
            return at * 0.0
        away = (at - low).abs()
        # How often it was mirrored says from which side it counts.
        extra = away.detach().fmod(span)
        flips = (away.detach() / span).floor()
        extra = away - (away.detach() - extra)
        at = where(flips.remainder(2.0) == 0, extra + low, span - extra + low)
    return at.clamp(0, n - 1)


def _nearest(at: Any) -> list[tuple[Any, Any]]:
    return [(at.detach().round(), None)]


def _linear(at: Any) -> list[tuple[Any, Any]]:
    low = at.detach().floor()
    share = at - low
    return [(low, 1.0 - share), (low + 1.0, share)]


def _cubic(at: Any) -> list[tuple[Any, Any]]:
    low = at.detach().floor()
    share = at - low
    found = []
    for tap in range(-1, 3):
        d = share - float(tap) if tap <= 0 else float(tap) - share
        if tap in (0, 1):
            weight = ((_BEND + 2.0) * d - (_BEND + 3.0)) * d * d + 1.0
        else:
            weight = ((d - 5.0) * d + 8.0) * d * _BEND - 4.0 * _BEND
        found.append((low + float(tap), weight))
    return found


_TAPS = {"nearest": _nearest, "bilinear": _linear, "bicubic": _cubic}


def _read(input: Any, places: list[Any], sizes: tuple[int, ...]) -> Any:
    """Return the elements at whole places, zeros outside."""
    batch, channels = input.shape[:2]
    shape = tuple(places[0].shape[1:])
    seen: Any = None
    flat: Any = None
    for place, n in zip(places, sizes, strict=True):
        within = (place >= 0) & (place <= n - 1)
        seen = within if seen is None else seen & within
        index = where(within, place, 0.0).long()
        flat = index if flat is None else flat * n + index
    wanted = flat.reshape(batch, 1, -1).expand(batch, channels, -1)
    found = input.reshape(batch, channels, -1).gather(2, wanted)
    return where(seen.unsqueeze(1), found.reshape(batch, channels, *shape), 0.0)
