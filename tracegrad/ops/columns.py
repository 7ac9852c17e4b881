"""Windows laid out as columns of a matrix, and added back: ``unfold`` and ``fold``."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ShapeError
from tracegrad.ops._examples import normals
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._windows import (
    Padding,
    check_positive,
    inner,
    padded,
    per_dimension,
    places,
    sliding,
    window_counts,
)
from tracegrad.ops.views import squeeze, unsqueeze
from tracegrad.sizes import Shape, shape_text
from tracegrad.spec import TensorSpec

Numbers = tuple[int, ...]


def _im2col_kernel(
    xp: Any,
    input: Any,
    kernel_size: Numbers,
    dilation: Numbers,
    padding: Padding,
    stride: Numbers,
) -> Any:
    counts = window_counts(input.shape[2:], kernel_size, stride, padding, dilation)
    array = padded(xp, input, padding, 0)
    windows = sliding(xp, array, kernel_size, stride, dilation, counts)
    depth = input.shape[1] * math.prod(kernel_size)
    columns = windows.reshape(input.shape[0], depth, math.prod(counts))
    return xp.array(columns, copy=True, order="C")


def _col2im_kernel(
    xp: Any,
    input: Any,
    output_size: Shape,
    kernel_size: Numbers,
    dilation: Numbers,
    padding: Padding,
    stride: Numbers,
) -> Any:
    counts = window_counts(output_size, kernel_size, stride, padding, dilation)
    channels = input.shape[1] // math.prod(kernel_size)
    columns = input.reshape(input.shape[0], channels, *kernel_size, *counts)
    sizes = [s + a + b for s, (a, b) in zip(output_size, padding, strict=True)]
    result = xp.zeros((input.shape[0], channels, *sizes), input.dtype)
    for place, index in places(kernel_size, stride, dilation, counts):
        result[index] += columns[(slice(None), slice(None), *place)]
    return xp.ascontiguousarray(result[inner(padding, output_size)])


def _counts(
    name: str,
    sizes: Shape,
    kernel_size: Numbers,
    dilation: Numbers,
    padding: Padding,
    stride: Numbers,
) -> int:
    check_positive(name, kernel_size=kernel_size, stride=stride, dilation=dilation)
    counts = window_counts(sizes, kernel_size, stride, padding, dilation)
    if any(isinstance(n, int) and n < 1 for n in counts):
        raise ShapeError(
            f"{name}: a kernel of {shape_text(kernel_size)} does not fit into "
            f"{shape_text(sizes)} with padding {padding}"
        )
    return math.prod(counts)


def _im2col_abstract(input: TensorSpec, **geometry: Any) -> TensorSpec:
    count = _counts("unfold", input.shape[2:], **geometry)
    depth = input.shape[1] * math.prod(geometry["kernel_size"])
    return TensorSpec(input.dtype, (input.shape[0], depth, count), (), input.device)


def _col2im_abstract(
    input: TensorSpec, output_size: Shape, **geometry: Any
) -> TensorSpec:
    count = _counts("fold", output_size, **geometry)
    window = math.prod(geometry["kernel_size"])
    if input.shape[1] % window or input.shape[2] != count:
        raise ShapeError(
            f"fold: shape {shape_text(input.shape)} is not (batch, a multiple of "
            f"{window}, {count}), as the windows of {shape_text(output_size)} want"
        )
    shape = (input.shape[0], input.shape[1] // window, *output_size)
    return TensorSpec(input.dtype, shape, (), input.device)


_GEOMETRY: dict[str, Any] = {
    "kernel_size": (2, 3),
    "dilation": (1, 2),
    "padding": ((1, 1), (0, 0)),
    "stride": (2, 1),
}


@primitive(
    "movement",
    abstract=_im2col_abstract,
    kernel=_im2col_kernel,
    linear_in=("input",),
    method=False,
    public=False,
    examples=normals((2, 3, 5, 6), **_GEOMETRY),
)
def im2col(
    input: Tensor,
    kernel_size: Numbers,
    dilation: Numbers,
    padding: Padding,
    stride: Numbers,
) -> Tensor:
    """Windows of (batch, channels, …) as columns: (batch, channels * window, count)."""


@primitive(
    "movement",
    abstract=_col2im_abstract,
    kernel=_col2im_kernel,
    linear_in=("input",),
    method=False,
    public=False,
    examples=normals((2, 18, 6), output_size=(5, 6), **_GEOMETRY),
)
def col2im(
    input: Tensor,
    output_size: Shape,
    kernel_size: Numbers,
    dilation: Numbers,
    padding: Padding,
    stride: Numbers,
) -> Tensor:
    """The transpose of `im2col`: columns added up where their windows are."""


im2col.vjp(
    input=lambda ct, input_spec, kernel_size, dilation, padding, stride: col2im(
        ct, input_spec[0][2:], kernel_size, dilation, padding, stride
    )
)
col2im.vjp(
    input=lambda ct, kernel_size, dilation, padding, stride: im2col(
        ct, kernel_size, dilation, padding, stride
    )
)


def _geometry(
    name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Any, ...]:
    kernel, gaps, around, step = (
        per_dimension(name, what, value, 2)
        for what, value in (
            ("kernel_size", kernel_size),
            ("dilation", dilation),
            ("padding", padding),
            ("stride", stride),
        )
    )
    return kernel, gaps, tuple((n, n) for n in around), step


@composite(
    method=False,
    public=False,
    examples=normals((3, 5, 6), kernel_size=2, padding=1),
)
def unfold_columns(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    dilation: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    stride: int | tuple[int, ...] = 1,
) -> Tensor:
    """Windows over height and width as columns.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, height, width) or (channels, height, width)
    kernel_size, dilation, padding, stride : int or tuple of int
        Of the windows.

    Returns
    -------
    Tensor, shape (batch, channels * window, count)

    Raises
    ------
    ShapeError
        If no window fits.
    """
    if input.ndim not in (3, 4):
        raise ShapeError(
            "unfold: the input must be (batch, channels, height, width) or lack the "
            f"batch, not {shape_text(input._array.shape)}"
        )
    x = unsqueeze(input, 0) if input.ndim == 3 else input
    columns = im2col(x, *_geometry("unfold", kernel_size, dilation, padding, stride))
    return columns if x is input else squeeze(columns, 0)  # type: ignore[no-any-return]


@composite(
    method=False,
    public=False,
    examples=normals((8, 12), output_size=(4, 5), kernel_size=2),
)
def fold_columns(
    input: Tensor,
    output_size: int | tuple[int, ...],
    kernel_size: int | tuple[int, ...],
    dilation: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    stride: int | tuple[int, ...] = 1,
) -> Tensor:
    """Columns added up where their windows are: the transpose of unfold.

    Parameters
    ----------
    input : Tensor, shape (batch, channels * window, count), or without batch
    output_size : int or tuple of int
        Height and width of the result.
    kernel_size, dilation, padding, stride : int or tuple of int
        Of the windows.

    Returns
    -------
    Tensor, shape (batch, channels, height, width)

    Raises
    ------
    ShapeError
        If the columns are not as many, or as long, as the windows.
    """
    if input.ndim not in (2, 3):
        raise ShapeError(
            "fold: the input must be (batch, channels * window, count) or lack the "
            f"batch, not {shape_text(input._array.shape)}"
        )
    x = unsqueeze(input, 0) if input.ndim == 2 else input
    size = per_dimension("fold", "output_size", output_size, 2)
    result = col2im(x, size, *_geometry("fold", kernel_size, dilation, padding, stride))
    return result if x is input else squeeze(result, 0)  # type: ignore[no-any-return]
