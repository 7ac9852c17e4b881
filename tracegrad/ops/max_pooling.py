"""Max pooling: where each window's largest element is, and that element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_, int64
from tracegrad.errors import UnsupportedDTypeError
from tracegrad.ops._examples import normals, several
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._pools import (
    Numbers,
    adaptive_sizes,
    adaptive_windows,
    batched,
    check_pool,
    covering,
    pool_counts,
    pool_geometry,
)
from tracegrad.ops._windows import padded, places, reach
from tracegrad.ops.contraction import half
from tracegrad.ops.views import reshape, squeeze
from tracegrad.sizes import Shape, numel
from tracegrad.spec import TensorSpec


def _lowest(dtype: Any) -> Any:
    return -math.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


def _max_indices_kernel(
    xp: Any,
    input: Any,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    dilation: Numbers,
    ceil_mode: bool,
) -> Any:
    x = input.astype(xp.float32) if half(input) else input
    geometry = (kernel_size, stride, padding, dilation)
    counts = pool_counts(x.shape[2:], *geometry, ceil_mode)
    around = covering(x.shape[2:], *geometry, counts)
    x = padded(xp, x, around, _lowest(x.dtype))
    best = xp.full((*x.shape[:2], *counts), _lowest(x.dtype), x.dtype)
    found = xp.empty(best.shape, xp.int64)
    found[...] = _first_inside(xp, input.shape[2:], *geometry, counts)
    for place, index in places(kernel_size, stride, dilation, counts):
        candidate = x[index]
        # The first of equal ones stays; NaN is larger than anything.
        better = (candidate > best) | (candidate != candidate)
        where = _flat_places(
            xp, input.shape[2:], place, stride, padding, dilation, counts
        )
        xp.copyto(best, candidate, where=better)
        xp.copyto(found, where, where=better)
    return found


def _flat_places(
    xp: Any,
    sizes: Shape,
    place: Numbers,
    stride: Numbers,
    padding: Numbers,
    dilation: Numbers,
    counts: Numbers,
) -> Any:
    """Return where each window's element at `place` is in the flattened input."""
    flat = xp.zeros((), xp.int64)
    for size, k, s, p, d, n in zip(
        sizes, place, stride, padding, dilation, counts, strict=True
    ):
        flat = xp.expand_dims(flat * size, -1) + (xp.arange(n) * s + (k * d - p))
    return flat


def _first_inside(
    xp: Any,
    sizes: Shape,
    kernel: Numbers,
    stride: Numbers,
    padding: Numbers,
    dilation: Numbers,
    counts: Numbers,
) -> Any:
    """Return each window's first element that is no padding."""
    flat = xp.zeros((), xp.int64)
    for size, s, p, d, n in zip(sizes, stride, padding, dilation, counts, strict=True):
        start = xp.arange(n) * s - p
        start = start + xp.maximum(0, (d - 1 - start) // d) * d * (start < 0)
        flat = xp.expand_dims(flat * size, -1) + start
    return flat


def _max_indices_abstract(
    input: TensorSpec,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    dilation: Numbers,
    ceil_mode: bool,
) -> TensorSpec:
    name = f"max_pool{len(kernel_size)}d"
    if input.dtype is bool_ or input.dtype.kind == "complex":
        raise UnsupportedDTypeError(f"{name} is not defined for {input.dtype.name}")
    geometry = (kernel_size, stride, padding, dilation)
    counts = pool_counts(input.shape[2:], *geometry, ceil_mode)
    spans = tuple(reach(k, d) for k, d in zip(kernel_size, dilation, strict=True))
    check_pool(name, input, spans, padding, counts)
    return TensorSpec(int64, (*input.shape[:2], *counts), (), input.device)


def _pool_examples(rng: np.random.Generator) -> list[tuple[Any, Any]]:
    geometry = {"kernel_size": (3, 2), "stride": (2, 1), "padding": (1, 0)}
    rest = {"dilation": (1, 2), "ceil_mode": True}
    return [((rng.normal(size=(2, 3, 6, 5)),), geometry | rest)]


@primitive(
    "library",
    abstract=_max_indices_abstract,
    kernel=_max_indices_kernel,
    method=False,
    public=False,
    examples=_pool_examples,
)
def max_pool_indices(
    input: Tensor,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    dilation: Numbers,
    ceil_mode: bool,
) -> Tensor:
    """Where in the flattened spatial dimensions each window's maximum is.

    The first of several; NaN is the largest.
    """


def _taken(input: Tensor, indices: Tensor) -> Tensor:
    """Return the elements of the flattened spatial dimensions at `indices`."""
    batch, channels = input._array.shape[:2]
    flat = reshape(input, batch, channels, numel(input._array.shape[2:]))
    counts = indices._array.shape[2:]
    wanted = reshape(indices, batch, channels, numel(counts))
    return reshape(flat.gather(2, wanted), batch, channels, *counts)  # type: ignore[no-any-return]


def _max_pool(
    rank: int, input: Tensor, *geometry: Any, ceil_mode: bool, return_indices: bool
) -> Any:
    name = f"max_pool{rank}d"
    x = batched(name, input, rank)
    indices = max_pool_indices(x, *pool_geometry(name, rank, *geometry), ceil_mode)
    return _chosen(input, x, indices, return_indices)


def _chosen(input: Tensor, x: Tensor, indices: Tensor, return_indices: bool) -> Any:
    """Return the maxima, and where they are if that is asked."""
    values = _taken(x, indices)
    if x is not input:
        values, indices = squeeze(values, 0), squeeze(indices, 0)
    return (values, indices) if return_indices else values


@composite(
    method=False, examples=normals((2, 3, 6), kernel_size=3, stride=2, padding=1)
)
def max_pool1d(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Largest element of each window over one dimension, as `max_pool2d`."""
    return _max_pool(  # type: ignore[no-any-return]
        1,
        input,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode=ceil_mode,
        return_indices=return_indices,
    )


@composite(
    method=False,
    examples=several(
        normals((2, 3, 6, 5), kernel_size=(3, 2), padding=1, dilation=(1, 2)),
        normals((3, 6, 5), kernel_size=2, ceil_mode=True, return_indices=True),
    ),
)
def max_pool2d(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Largest element of each window over two dimensions.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, height, width) or (channels, height, width)
    kernel_size, stride, padding, dilation : int or tuple of int
        Of the windows. The stride is the kernel's size if not given; what pads is
        never the largest.
    ceil_mode : bool
        Whether a last window may hang over the end.
    return_indices : bool
        Whether to return too where each maximum is in the flattened height and width.

    Raises
    ------
    ShapeError
        If no window fits, or the padding is larger than half the window.
    """
    return _max_pool(  # type: ignore[no-any-return]
        2,
        input,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode=ceil_mode,
        return_indices=return_indices,
    )


@composite(method=False, examples=normals((1, 2, 3, 4, 3), kernel_size=2))
def max_pool3d(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Largest element of each window over three dimensions, as `max_pool2d`."""
    return _max_pool(  # type: ignore[no-any-return]
        3,
        input,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode=ceil_mode,
        return_indices=return_indices,
    )


# -- adaptive -----------------------------------------------------------------------


def _adaptive_indices_kernel(xp: Any, input: Any, output_size: Numbers) -> Any:
    sizes = input.shape[2:]
    result = xp.empty((*input.shape[:2], *output_size), xp.int64)
    flat = xp.arange(math.prod(sizes)).reshape(sizes)
    for place, window in adaptive_windows(sizes, output_size):
        part = input[(..., *window)].reshape(*input.shape[:2], -1)
        inside = flat[window].reshape(-1)
        result[(..., *place)] = inside[xp.argmax(part, axis=-1)]
    return result


@primitive(
    "library",
    abstract=lambda input, output_size: TensorSpec(
        int64, (*input.shape[:2], *output_size), (), input.device
    ),
    kernel=_adaptive_indices_kernel,
    method=False,
    public=False,
    examples=lambda rng: [((rng.normal(size=(2, 3, 5, 4)),), {"output_size": (3, 2)})],
)
def adaptive_max_pool_indices(input: Tensor, output_size: Numbers) -> Tensor:
    """Where in the flattened spatial dimensions each window's maximum is."""


def _adaptive_max(
    rank: int, input: Tensor, output_size: Any, return_indices: bool
) -> Any:
    name = f"adaptive_max_pool{rank}d"
    x = batched(name, input, rank)
    sizes = adaptive_sizes(name, rank, x, output_size)
    indices = adaptive_max_pool_indices(x, sizes)
    return _chosen(input, x, indices, return_indices)


@composite(method=False, examples=normals((2, 3, 5), output_size=2))
def adaptive_max_pool1d(
    input: Tensor,
    output_size: int | tuple[int | None, ...],
    return_indices: bool = False,
) -> Tensor:
    """Largest element of as many windows as asked over one dimension."""
    return _adaptive_max(1, input, output_size, return_indices)  # type: ignore[no-any-return]


@composite(method=False, examples=normals((2, 3, 5, 4), output_size=(3, 2)))
def adaptive_max_pool2d(
    input: Tensor,
    output_size: int | tuple[int | None, ...],
    return_indices: bool = False,
) -> Tensor:
    """Largest element of as many windows as asked over two dimensions."""
    return _adaptive_max(2, input, output_size, return_indices)  # type: ignore[no-any-return]
