"""Mean pooling: the mean of each window, and its transpose."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_, from_numpy_dtype
from tracegrad.errors import ShapeError, UnsupportedDTypeError
from tracegrad.ops._examples import normals, several
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._pointwise import convert
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
from tracegrad.ops._windows import inner, padded, places
from tracegrad.ops.contraction import half
from tracegrad.ops.reductions import mean
from tracegrad.ops.views import squeeze
from tracegrad.sizes import Shape
from tracegrad.spec import TensorSpec


def _extents(
    size: int, kernel: int, stride: int, padding: int, count: int, include_pad: bool
) -> Any:
    """Return how many elements each window of one dimension counts."""
    start = np.arange(count) * stride - padding
    stop = np.minimum(start + kernel, size + padding)
    if include_pad:
        return stop - start
    return np.minimum(stop, size) - np.maximum(start, 0)


def _divisors(
    xp: Any,
    sizes: Any,
    kernel: Numbers,
    stride: Numbers,
    padding: Numbers,
    counts: Numbers,
    include_pad: bool,
    override: int | None,
) -> Any:
    """Return by what each window's sum is divided: a number, or one per window."""
    if override is not None:
        return override
    extents = [
        _extents(*geometry, include_pad)
        for geometry in zip(sizes, kernel, stride, padding, counts, strict=True)
    ]
    if all((e == k).all() for e, k in zip(extents, kernel, strict=True)):
        return math.prod(kernel)
    result = np.ones((), np.int64)
    for extent in extents:
        result = np.expand_dims(result, -1) * extent
    return xp.asarray(result)


def _quotient(xp: Any, total: Any, divisors: Any) -> Any:
    if total.dtype.kind in "iu":
        return xp.trunc(total / divisors).astype(total.dtype)
    return total / xp.asarray(divisors, dtype=total.dtype)


def _avg_pool_kernel(
    xp: Any,
    input: Any,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    x = input.astype(xp.float32) if half(input) else input
    ones = (1,) * len(kernel_size)
    geometry = (x.shape[2:], kernel_size, stride, padding)
    counts = pool_counts(*geometry, ones, ceil_mode)
    x = padded(xp, x, covering(*geometry, ones, counts), 0)
    total = xp.zeros((*x.shape[:2], *counts), x.dtype)
    for _, index in places(kernel_size, stride, ones, counts):
        total += x[index]
    divisors = _divisors(xp, *geometry, counts, count_include_pad, divisor_override)
    return convert(xp, _quotient(xp, total, divisors), from_numpy_dtype(input.dtype))


def _avg_pool_transpose_kernel(
    xp: Any,
    input: Any,
    size: Shape,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    ct = input.astype(xp.float32) if half(input) else input
    ones = (1,) * len(kernel_size)
    geometry = (size, kernel_size, stride, padding)
    counts = ct.shape[2:]
    around = covering(*geometry, ones, counts)
    divisors = _divisors(xp, *geometry, counts, count_include_pad, divisor_override)
    share = _quotient(xp, ct, divisors)
    sizes = [s + low + high for s, (low, high) in zip(size, around, strict=True)]
    result = xp.zeros((*ct.shape[:2], *sizes), ct.dtype)
    for _, index in places(kernel_size, stride, ones, counts):
        result[index] += share
    result = xp.ascontiguousarray(result[inner(around, size)])
    return convert(xp, result, from_numpy_dtype(input.dtype))


def _avg_pool_abstract(
    input: TensorSpec,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> TensorSpec:
    name = f"avg_pool{len(kernel_size)}d"
    if input.dtype is bool_:
        raise UnsupportedDTypeError(f"{name} is not defined for bool")
    if divisor_override == 0:
        raise ShapeError(f"{name}: the divisor can't be 0")
    ones = (1,) * len(kernel_size)
    counts = pool_counts(input.shape[2:], kernel_size, stride, padding, ones, ceil_mode)
    check_pool(name, input, kernel_size, padding, counts)
    return TensorSpec(input.dtype, (*input.shape[:2], *counts), (), input.device)


def _mean_examples(shape: tuple[int, ...], **attributes: Any) -> Any:
    def examples(rng: np.random.Generator) -> list[tuple[Any, Any]]:
        geometry = {
            "kernel_size": (3, 2),
            "stride": (2, 1),
            "padding": (1, 0),
            "ceil_mode": True,
            "count_include_pad": False,
            "divisor_override": None,
        }
        return [((rng.normal(size=shape),), attributes | geometry)]

    return examples


@primitive(
    "library",
    abstract=_avg_pool_abstract,
    kernel=_avg_pool_kernel,
    linear_in=("input",),
    method=False,
    public=False,
    examples=_mean_examples((2, 3, 6, 5)),
)
def avg_pool(
    input: Tensor,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """Mean of each window over the dimensions after the first two."""


@primitive(
    "library",
    abstract=lambda input, size, **_: TensorSpec(
        input.dtype, (*input.shape[:2], *size), (), input.device
    ),
    kernel=_avg_pool_transpose_kernel,
    linear_in=("input",),
    method=False,
    public=False,
    examples=_mean_examples((2, 3, 4, 4), size=(6, 5)),
)
def avg_pool_transpose(
    input: Tensor,
    size: Shape,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """The transpose of `avg_pool`: each element shared out among its window."""


def _avg_pool_vjp(
    ct: Tensor,
    input_spec: tuple[Shape, Any],
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    geometry = (kernel_size, stride, padding)
    counting = (ceil_mode, count_include_pad, divisor_override)
    return avg_pool_transpose(ct, input_spec[0][2:], *geometry, *counting)  # type: ignore[no-any-return]


def _avg_pool_transpose_vjp(
    ct: Tensor,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    geometry = (kernel_size, stride, padding)
    return avg_pool(ct, *geometry, ceil_mode, count_include_pad, divisor_override)  # type: ignore[no-any-return]


avg_pool.vjp(input=_avg_pool_vjp)
avg_pool_transpose.vjp(input=_avg_pool_transpose_vjp)


def _mean_pool(
    rank: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    *counting: Any,
) -> Tensor:
    name = f"avg_pool{rank}d"
    x = batched(name, input, rank)
    geometry = pool_geometry(name, rank, kernel_size, stride, padding, 1)[:3]
    result = avg_pool(x, *geometry, *counting)
    return result if x is input else squeeze(result, 0)  # type: ignore[no-any-return]


@composite(
    method=False, examples=normals((2, 3, 6), kernel_size=3, stride=2, padding=1)
)
def avg_pool1d(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Mean of each window over one dimension, as `avg_pool2d`."""
    counting = (ceil_mode, count_include_pad, None)
    return _mean_pool(1, input, kernel_size, stride, padding, *counting)


@composite(
    method=False,
    examples=several(
        normals((2, 3, 6, 5), kernel_size=2, padding=1, count_include_pad=False),
        normals((3, 6, 5), kernel_size=(3, 2), ceil_mode=True, divisor_override=5),
    ),
)
def avg_pool2d(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of each window over two dimensions.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, height, width) or (channels, height, width)
    kernel_size, stride, padding : int or tuple of int
        Of the windows. The stride is the kernel's size if not given.
    ceil_mode : bool
        Whether a last window may hang over the end.
    count_include_pad : bool
        Whether the zeros that pad count as elements.
    divisor_override : int, optional
        What to divide the sums by, in place of the number of elements.

    Raises
    ------
    ShapeError
        If no window fits, or the padding is larger than half the window.
    """
    counting = (ceil_mode, count_include_pad, divisor_override)
    return _mean_pool(2, input, kernel_size, stride, padding, *counting)


@composite(method=False, examples=normals((1, 2, 3, 4, 3), kernel_size=2))
def avg_pool3d(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of each window over three dimensions, as `avg_pool2d`."""
    counting = (ceil_mode, count_include_pad, divisor_override)
    return _mean_pool(3, input, kernel_size, stride, padding, *counting)


# -- adaptive -----------------------------------------------------------------------


def _adaptive_kernel(xp: Any, input: Any, output_size: Numbers) -> Any:
    x = input.astype(xp.float32) if half(input) else input
    result = xp.empty((*x.shape[:2], *output_size), x.dtype)
    axes = tuple(range(2, x.ndim))
    for place, window in adaptive_windows(x.shape[2:], output_size):
        result[(..., *place)] = x[(..., *window)].mean(axis=axes)
    return convert(xp, result, from_numpy_dtype(input.dtype))


def _adaptive_transpose_kernel(xp: Any, input: Any, size: Shape) -> Any:
    ct = input.astype(xp.float32) if half(input) else input
    result = xp.zeros((*ct.shape[:2], *size), ct.dtype)
    for place, window in adaptive_windows(size, ct.shape[2:]):
        part = result[(..., *window)]
        share = ct[(..., *place)] / math.prod(part.shape[2:])
        part += share.reshape(*share.shape, *(1,) * len(size))
    return convert(xp, result, from_numpy_dtype(input.dtype))


def _adaptive_abstract(input: TensorSpec, output_size: Numbers) -> TensorSpec:
    if input.dtype.kind not in ("float", "complex"):
        raise UnsupportedDTypeError(
            f"adaptive_avg_pool is not defined for {input.dtype.name}"
        )
    return TensorSpec(input.dtype, (*input.shape[:2], *output_size), (), input.device)


@primitive(
    "library",
    abstract=_adaptive_abstract,
    kernel=_adaptive_kernel,
    linear_in=("input",),
    method=False,
    public=False,
    examples=lambda rng: [((rng.normal(size=(2, 3, 5, 4)),), {"output_size": (3, 2)})],
)
def adaptive_avg_pool(input: Tensor, output_size: Numbers) -> Tensor:
    """Means over windows of nearly equal size, as many as asked."""


@primitive(
    "library",
    abstract=lambda input, size: TensorSpec(
        input.dtype, (*input.shape[:2], *size), (), input.device
    ),
    kernel=_adaptive_transpose_kernel,
    linear_in=("input",),
    method=False,
    public=False,
    examples=lambda rng: [((rng.normal(size=(2, 3, 3, 2)),), {"size": (5, 4)})],
)
def adaptive_avg_pool_transpose(input: Tensor, size: Shape) -> Tensor:
    """The transpose of `adaptive_avg_pool`."""


adaptive_avg_pool.vjp(
    input=lambda ct, input_spec: adaptive_avg_pool_transpose(ct, input_spec[0][2:])
)
adaptive_avg_pool_transpose.vjp(
    input=lambda ct, input_spec: adaptive_avg_pool(ct, input_spec[0][2:])
)


def _adaptive_mean(rank: int, input: Tensor, output_size: Any) -> Tensor:
    name = f"adaptive_avg_pool{rank}d"
    x = batched(name, input, rank)
    sizes = adaptive_sizes(name, rank, x, output_size)
    if set(sizes) == {1}:
        result = mean(x, tuple(range(2, rank + 2)), True)
    else:
        result = adaptive_avg_pool(x, sizes)
    return result if x is input else squeeze(result, 0)  # type: ignore[no-any-return]


@composite(method=False, examples=normals((2, 3, 5), output_size=2))
def adaptive_avg_pool1d(
    input: Tensor, output_size: int | tuple[int | None, ...]
) -> Tensor:
    """Mean of as many windows as asked over one dimension."""
    return _adaptive_mean(1, input, output_size)


@composite(
    method=False,
    examples=several(
        normals((2, 3, 5, 4), output_size=(3, None)),
        normals((3, 5, 4), output_size=1),
    ),
)
def adaptive_avg_pool2d(
    input: Tensor, output_size: int | tuple[int | None, ...] | None
) -> Tensor:
    """Mean of as many windows as asked over two dimensions.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, height, width) or (channels, height, width)
    output_size : int or tuple of int or None
        The result's height and width; None keeps the input's.

    Notes
    -----
    Window i of n over a size s goes from ``floor(i s / n)`` to
    ``ceil((i + 1) s / n)``.
    """
    return _adaptive_mean(2, input, output_size)
