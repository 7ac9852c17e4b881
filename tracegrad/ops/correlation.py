"""Convolution (cross-correlation) over any number of spatial dimensions.

Three primitives are the three partial derivatives of one form that is linear in each
of input, weight and result; so each one's derivatives are the other two, to any order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import from_numpy_dtype
from tracegrad.errors import ShapeError
from tracegrad.ops._families import primitive
from tracegrad.ops._pointwise import convert
from tracegrad.ops._windows import (
    Padding,
    check_positive,
    inner,
    padded,
    places,
    sliding,
    window_counts,
)
from tracegrad.ops.contraction import check_one_dtype, conjugated, half
from tracegrad.ops.views import slice_
from tracegrad.sizes import Shape, shape_text
from tracegrad.spec import TensorSpec

Numbers = tuple[int, ...]

# -- kernels ------------------------------------------------------------------------


def _wide(xp: Any, *arrays: Any) -> list[Any]:
    """Return half arrays in float32, others as they are."""
    return [a.astype(xp.float32) if half(a) else a for a in arrays]


def _columns(
    xp: Any,
    input: Any,
    kernel: Shape,
    counts: Numbers,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> Any:
    """Return a view of the windows: (batch, groups, channels, *kernel, *counts)."""
    array = padded(xp, input, padding, 0)
    windows = sliding(xp, array, kernel, stride, dilation, counts)
    return _grouped(xp, windows, groups)


def _grouped(xp: Any, windows: Any, groups: int) -> Any:
    """Return a view with the channels split into groups."""
    batch, channels = windows.shape[:2]
    steps = windows.strides
    each = channels // groups
    return xp.lib.stride_tricks.as_strided(
        windows,
        (batch, groups, each, *windows.shape[2:]),
        (steps[0], steps[1] * each, *steps[1:]),
    )


# Elements of the columns that are laid out at a time: about what a core's cache holds.
_CHUNK = 2**18


def _chunks(batch: int, each: int) -> tuple[int, list[slice]]:
    """Return how many images are laid out at a time, and which."""
    size = min(batch, max(1, _CHUNK // max(each, 1)))
    return size, [slice(i, min(i + size, batch)) for i in range(0, batch, max(size, 1))]


def _depthwise(weight: Any, groups: int) -> bool:
    """Return whether each channel has one filter of its own."""
    return bool(weight.shape[1] == 1 and weight.shape[0] == groups)


def _at_place(weight: Any, place: Numbers) -> Any:
    """Return each channel's weight at one place of the window, to be broadcast."""
    column = weight[(slice(None), 0, *place)]
    return column.reshape(1, -1, *(1,) * len(place))


def _conv_kernel(
    xp: Any,
    input: Any,
    weight: Any,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> Any:
    x, w = _wide(xp, input, weight)
    kernel = w.shape[2:]
    counts = window_counts(x.shape[2:], kernel, stride, padding, dilation)
    batch, out = x.shape[0], w.shape[0]
    if _depthwise(w, groups):
        array = padded(xp, x, padding, 0)
        result = xp.zeros((batch, out, *counts), x.dtype)
        for place, index in places(kernel, stride, dilation, counts):
            result += array[index] * _at_place(w, place)
        return convert(xp, result, from_numpy_dtype(input.dtype))
    cols = _columns(xp, x, kernel, counts, stride, padding, dilation, groups)
    depth, length = math.prod(w.shape[1:]), math.prod(counts)
    matrix = w.reshape(groups, out // groups, depth)
    result = xp.empty((batch, groups, out // groups, length), x.dtype)
    size, parts = _chunks(batch, groups * depth * length)
    buffer = xp.empty((size, *cols.shape[1:]), x.dtype)
    for part in parts:
        laid = buffer[: part.stop - part.start]
        laid[...] = cols[part]
        xp.matmul(matrix, laid.reshape(-1, groups, depth, length), out=result[part])
    result = result.reshape(batch, out, *counts)
    return convert(xp, result, from_numpy_dtype(input.dtype))


def _conv_input_kernel(
    xp: Any,
    input: Any,
    weight: Any,
    size: Shape,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> Any:
    ct, w = _wide(xp, input, weight)
    batch = ct.shape[0]
    counts, kernel = ct.shape[2:], w.shape[2:]
    around = [s + low + high for s, (low, high) in zip(size, padding, strict=True)]
    result = xp.zeros((batch, groups * w.shape[1], *around), ct.dtype)
    geometry = (kernel, stride, dilation, counts)
    if _depthwise(w, groups):
        for place, index in places(*geometry):
            result[index] += ct * _at_place(w, place)
    else:
        _add_columns(xp, result, ct, w, geometry, groups)
    result = xp.ascontiguousarray(result[inner(padding, size)])
    return convert(xp, result, from_numpy_dtype(input.dtype))


def _add_columns(
    xp: Any, result: Any, ct: Any, w: Any, geometry: Any, groups: int
) -> None:
    """Add to each window what its results' cotangents ask for."""
    kernel, _, _, counts = geometry
    batch, out = ct.shape[:2]
    depth, length = math.prod(w.shape[1:]), math.prod(counts)
    matrix = xp.swapaxes(w.reshape(groups, out // groups, depth), 1, 2)
    rows = ct.reshape(batch, groups, out // groups, length)
    size, parts = _chunks(batch, groups * depth * length)
    buffer = xp.empty((size, groups, depth, length), ct.dtype)
    for part in parts:
        laid = buffer[: part.stop - part.start]
        xp.matmul(matrix, rows[part], out=laid)
        cols = laid.reshape(-1, groups * w.shape[1], *kernel, *counts)
        target = result[part]
        for place, index in places(*geometry):
            target[index] += cols[(slice(None), slice(None), *place)]


# Elements of one weight gradient per image, up to which these are made and added: their
# small products stay in the cache and in one thread.
_SMALL = 2**19

# Windows per image from which one product for each image is large enough.
_LONG = 64


def _summed_products(xp: Any, rows: Any, cols: Any, depth: int) -> Any:
    """Return per group one product that sums over images and windows."""
    batch, groups, out, length = rows.shape
    spatial = (cols.ndim - 3) // 2
    order = (1, 2, *range(3, 3 + spatial), 0, *range(3 + spatial, cols.ndim))
    matrix = xp.transpose(cols, order).reshape(groups, depth, batch * length)
    wide = xp.transpose(rows, (1, 2, 0, 3)).reshape(groups, out, batch * length)
    return xp.matmul(wide, xp.swapaxes(matrix, 1, 2))


def _products_by_chunks(xp: Any, rows: Any, cols: Any, depth: int) -> Any:
    """Return the same, one product for each image, added up."""
    batch, groups, out, length = rows.shape
    result = xp.zeros((groups, out, depth), rows.dtype)
    size, parts = _chunks(batch, groups * depth * (length + out))
    buffer = xp.empty((size, *cols.shape[1:]), rows.dtype)
    for part in parts:
        laid = buffer[: part.stop - part.start]
        laid[...] = cols[part]
        matrix = laid.reshape(-1, groups, depth, length)
        product = xp.matmul(rows[part], xp.swapaxes(matrix, 2, 3))
        result += xp.add.reduce(product, axis=0) if len(product) > 1 else product[0]
    return result


def _depthwise_weight(
    xp: Any,
    x: Any,
    ct: Any,
    kernel_size: Shape,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
) -> Any:
    array = padded(xp, x, padding, 0)
    result = xp.empty((ct.shape[1], 1, *kernel_size), ct.dtype)
    axes = (0, *range(2, ct.ndim))
    for place, index in places(kernel_size, stride, dilation, ct.shape[2:]):
        product = array[index] * ct
        result[(slice(None), 0, *place)] = xp.add.reduce(product, axis=axes)
    return result


def _conv_weight_kernel(
    xp: Any,
    input: Any,
    grad_output: Any,
    kernel_size: Shape,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> Any:
    x, c = _wide(xp, input, grad_output)
    batch, out = c.shape[:2]
    counts = c.shape[2:]
    each = x.shape[1] // groups
    if each == 1 and out == groups:
        geometry = (kernel_size, stride, padding, dilation)
        result = _depthwise_weight(xp, x, c, *geometry)
        return convert(xp, result, from_numpy_dtype(input.dtype))
    cols = _columns(xp, x, kernel_size, counts, stride, padding, dilation, groups)
    depth, length = each * math.prod(kernel_size), math.prod(counts)
    rows = c.reshape(batch, groups, out // groups, length)
    by_chunks = batch * out * depth <= _SMALL or length >= _LONG
    products = _products_by_chunks if by_chunks else _summed_products
    result = products(xp, rows, cols, depth).reshape(out, each, *kernel_size)
    return convert(xp, result, from_numpy_dtype(input.dtype))


# -- abstract eval ------------------------------------------------------------------


def _conv_abstract(
    input: TensorSpec,
    weight: TensorSpec,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> TensorSpec:
    check_one_dtype("conv", input, weight)
    if input.ndim != weight.ndim or input.ndim < 3:
        raise ShapeError(
            f"conv: input {shape_text(input.shape)} and weight "
            f"{shape_text(weight.shape)} must have the same number of dimensions"
        )
    check_positive("conv", stride=stride, dilation=dilation, groups=(groups,))
    _check_channels(input, weight, groups)
    kernel = weight.shape[2:]
    counts = window_counts(input.shape[2:], kernel, stride, padding, dilation)
    if any(isinstance(n, int) and n < 1 for n in counts):
        raise ShapeError(
            f"conv: a kernel of {shape_text(kernel)} with dilation "
            f"{shape_text(dilation)} does not fit into "
            f"{shape_text(input.shape[2:])} with padding {padding}"
        )
    shape = (input.shape[0], weight.shape[0], *counts)
    return TensorSpec(input.dtype, shape, (), input.device)


def _check_channels(input: TensorSpec, weight: TensorSpec, groups: int) -> None:
    out: Any = weight.shape[0]
    each = weight.shape[1]
    if input.shape[1] != each * groups:
        raise ShapeError(
            f"conv: the weight {shape_text(weight.shape)} with {groups} groups wants "
            f"{each * groups} input channels, the input {shape_text(input.shape)} has "
            f"{input.shape[1]}"
        )
    if out % groups:
        raise ShapeError(
            f"conv: {out} output channels do not split into {groups} groups"
        )


def _conv_input_abstract(
    input: TensorSpec,
    weight: TensorSpec,
    size: Shape,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> TensorSpec:
    check_one_dtype("conv_transpose", input, weight)
    check_positive("conv_transpose", stride=stride, dilation=dilation, groups=(groups,))
    channels: Any = weight.shape[0]
    if input.shape[1] != channels or channels % groups:
        raise ShapeError(
            f"conv_transpose: the weight {shape_text(weight.shape)} with {groups} "
            f"groups does not fit an input of shape {shape_text(input.shape)}"
        )
    shape = (input.shape[0], weight.shape[1] * groups, *size)
    if any(isinstance(n, int) and n < 1 for n in size):
        raise ShapeError(
            f"conv_transpose: the result would have shape {shape_text(shape)}"
        )
    return TensorSpec(input.dtype, shape, (), input.device)


def _conv_weight_abstract(
    input: TensorSpec,
    grad_output: TensorSpec,
    kernel_size: Shape,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> TensorSpec:
    shape = (grad_output.shape[1], input.shape[1] // groups, *kernel_size)
    return TensorSpec(input.dtype, shape, (), input.device)


# -- the three primitives -----------------------------------------------------------


def _examples(
    first: tuple[int, ...], second: tuple[int, ...], **attributes: Any
) -> Any:
    def examples(rng: np.random.Generator) -> list[tuple[Any, Any]]:
        operands = (rng.normal(size=first), rng.normal(size=second))
        geometry = {
            "stride": (2, 1),
            "padding": ((1, 1), (0, 1)),
            "dilation": (1, 2),
            "groups": 2,
        }
        return [(operands, attributes | geometry)]

    return examples


@primitive(
    "contraction",
    abstract=_conv_abstract,
    kernel=_conv_kernel,
    linear_in=("input", "weight"),
    method=False,
    public=False,
    examples=_examples((2, 4, 5, 4), (6, 2, 3, 2)),
)
def conv(
    input: Tensor,
    weight: Tensor,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> Tensor:
    """Cross-correlation of (batch, channels, …) with (out, channels / groups, …)."""


@primitive(
    "contraction",
    abstract=_conv_input_abstract,
    kernel=_conv_input_kernel,
    linear_in=("input", "weight"),
    method=False,
    public=False,
    examples=_examples((2, 6, 3, 3), (6, 2, 3, 2), size=(5, 4)),
)
def conv_transpose(
    input: Tensor,
    weight: Tensor,
    size: Shape,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> Tensor:
    """The transpose of `conv` in its input; `size` says what that input's was."""


@primitive(
    "contraction",
    abstract=_conv_weight_abstract,
    kernel=_conv_weight_kernel,
    linear_in=("input", "grad_output"),
    method=False,
    public=False,
    examples=_examples((2, 4, 5, 4), (2, 6, 3, 3), kernel_size=(3, 2)),
)
def conv_weight(
    input: Tensor,
    grad_output: Tensor,
    kernel_size: Shape,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
) -> Tensor:
    """The transpose of `conv` in its weight; `kernel_size` says what its size was."""


conv.vjp(
    input=lambda ct, weight, input_spec, stride, padding, dilation, groups: (
        conv_transpose(
            ct,
            conjugated(weight),
            input_spec[0][2:],
            stride,
            padding,
            dilation,
            groups,
        )
    ),
    weight=lambda ct, input, weight_spec, stride, padding, dilation, groups: (
        conv_weight(
            conjugated(input), ct, weight_spec[0][2:], stride, padding, dilation, groups
        )
    ),
)


def _cropped(x: Tensor, sizes: Shape) -> Tensor:
    """Return the windows that `conv_transpose` had: fewer may be asked than fit."""
    for dim, size in enumerate(sizes, 2):
        if x._array.shape[dim] != size:
            x = slice_(x, dim, 0, size, 1)
    return x


conv_transpose.vjp(
    input=lambda ct, weight, input_spec, stride, padding, dilation, groups: _cropped(
        conv(ct, conjugated(weight), stride, padding, dilation, groups),
        input_spec[0][2:],
    ),
    weight=lambda ct, input, weight_spec, stride, padding, dilation, groups: (
        conv_weight(
            ct, conjugated(input), weight_spec[0][2:], stride, padding, dilation, groups
        )
    ),
)
conv_weight.vjp(
    input=lambda ct, grad_output, input_spec, stride, padding, dilation, groups: (
        conv_transpose(
            conjugated(grad_output),
            ct,
            input_spec[0][2:],
            stride,
            padding,
            dilation,
            groups,
        )
    ),
    grad_output=lambda ct, input, grad_output_spec, stride, padding, dilation, groups: (
        _cropped(
            conv(conjugated(input), ct, stride, padding, dilation, groups),
            grad_output_spec[0][2:],
        )
    ),
)
