"""Convolution layers' functions: shapes, padding and bias around the primitives."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ShapeError
from tracegrad.ops._examples import normals, several
from tracegrad.ops._families import composite
from tracegrad.ops._windows import Padding, check_positive, per_dimension, reach
from tracegrad.ops.arithmetic import add
from tracegrad.ops.contraction import check_one_dtype
from tracegrad.ops.correlation import conv, conv_transpose
from tracegrad.ops.views import reshape, squeeze, unsqueeze
from tracegrad.sizes import Shape, shape_text

Numbers = tuple[int, ...]


def _paddings(
    name: str, value: Any, kernel: Shape, stride: Numbers, dilation: Numbers
) -> Padding:
    """Return the padding before and after, per spatial dimension."""
    rank = len(kernel)
    if value == "valid":
        return ((0, 0),) * rank
    if value == "same":
        if any(step != 1 for step in stride):
            raise ShapeError(f"{name}: padding='same' needs stride 1, not {stride}")
        spans = [reach(k, d) - 1 for k, d in zip(kernel, dilation, strict=True)]
        # An even kernel pads one more on the right.
        return tuple((span // 2, span - span // 2) for span in spans)
    if isinstance(value, str):
        raise ArgumentError(
            f"{name}: padding must be 'same', 'valid' or numbers, not {value!r}"
        )
    numbers = per_dimension(name, "padding", value, rank)
    if any(n < 0 for n in numbers):
        raise ShapeError(f"{name}: padding can't be negative: {shape_text(numbers)}")
    return tuple((n, n) for n in numbers)


def _batched(name: str, input: Tensor, rank: int) -> Tensor:
    """Return `input` with a batch dimension, added if it lacks one."""
    if input.ndim == rank + 2:
        return input
    if input.ndim == rank + 1:
        return unsqueeze(input, 0)  # type: ignore[no-any-return]
    raise ShapeError(
        f"{name}: the input must have {rank + 2} dimensions (batch, channels, …) or "
        f"{rank + 1} (channels, …), not shape {shape_text(input._array.shape)}"
    )


def _with_bias(name: str, result: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return result
    check_one_dtype(name, result, bias)
    channels = result._array.shape[1]
    if bias._array.shape != (channels,):
        raise ShapeError(
            f"{name}: bias must have shape [{channels}], not "
            f"{shape_text(bias._array.shape)}"
        )
    return add(result, reshape(bias, channels, *(1,) * (result.ndim - 2)))  # type: ignore[no-any-return]


def _conv_nd(
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    name = f"conv{rank}d"
    x = _batched(name, input, rank)
    if weight.ndim != rank + 2:
        raise ShapeError(
            f"{name}: the weight must have {rank + 2} dimensions, not shape "
            f"{shape_text(weight._array.shape)}"
        )
    stride = per_dimension(name, "stride", stride, rank)
    dilation = per_dimension(name, "dilation", dilation, rank)
    check_positive(name, stride=stride, dilation=dilation)
    around = _paddings(name, padding, weight._array.shape[2:], stride, dilation)
    result = _with_bias(name, conv(x, weight, stride, around, dilation, groups), bias)
    return result if x is input else squeeze(result, 0)


@composite(
    method=False, examples=normals((2, 2, 5), (3, 2, 2), (3,), stride=2, padding=1)
)
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | str | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation over one dimension, as `conv2d`."""
    return _conv_nd(1, input, weight, bias, stride, padding, dilation, groups)


@composite(
    method=False,
    examples=several(
        normals((2, 4, 5, 4), (2, 2, 3, 2), (2,), padding="same", groups=2),
        normals((2, 5, 4), (3, 2, 2, 2), stride=(2, 1), dilation=(1, 2)),
    ),
)
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | str | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation over two dimensions.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, height, width) or (channels, height, width)
    weight : Tensor, shape (out, channels / groups, kernel height, kernel width)
    bias : Tensor, shape (out,), optional
    stride, dilation : int or tuple of int
        Steps between windows, and between elements of one window.
    padding : int, tuple of int, "same" or "valid"
        Zeros around the input. "same" keeps the size; for an even kernel the extra
        one goes to the right.
    groups : int
        Into how many independent groups the channels are split.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other, or the kernel is larger than the input.
    DTypeError
        If the dtypes differ.

    Notes
    -----
    The kernel copies the windows into the columns of a matrix per image, and
    multiplies.

    Source: Chellapilla, Puri, Simard, "High Performance Convolutional Neural Networks
    for Document Processing" (2006).
    """
    return _conv_nd(2, input, weight, bias, stride, padding, dilation, groups)


@composite(method=False, examples=normals((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), (2,)))
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | str | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation over three dimensions, as `conv2d`."""
    return _conv_nd(3, input, weight, bias, stride, padding, dilation, groups)


def _conv_transpose_nd(
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
    name = f"conv_transpose{rank}d"
    x = _batched(name, input, rank)
    stride = per_dimension(name, "stride", stride, rank)
    dilation = per_dimension(name, "dilation", dilation, rank)
    extra = per_dimension(name, "output_padding", output_padding, rank)
    numbers = per_dimension(name, "padding", padding, rank)
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise ShapeError(
            f"{name}: output_padding {shape_text(extra)} must be smaller than the "
            f"stride {shape_text(stride)} or the dilation {shape_text(dilation)}"
        )
    kernel = weight._array.shape[2:]
    size = tuple(
        (n - 1) * s - 2 * p + reach(k, d) + e
        for n, s, p, k, d, e in zip(
            x._array.shape[2:], stride, numbers, kernel, dilation, extra, strict=True
        )
    )
    around = tuple((p, p) for p in numbers)
    result = conv_transpose(x, weight, size, stride, around, dilation, groups)
    result = _with_bias(name, result, bias)
    return result if x is input else squeeze(result, 0)


@composite(
    method=False,
    examples=normals((2, 3, 4), (3, 2, 2), (2,), stride=2, output_padding=1),
)
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    output_padding: int | tuple[int, ...] = 0,
    groups: int = 1,
    dilation: int | tuple[int, ...] = 1,
) -> Tensor:
    """The transpose of `conv1d` in its input, as `conv_transpose2d`."""
    return _conv_transpose_nd(
        1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@composite(
    method=False,
    examples=normals((2, 4, 3, 3), (4, 2, 3, 2), (4,), stride=2, padding=1, groups=2),
)
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    output_padding: int | tuple[int, ...] = 0,
    groups: int = 1,
    dilation: int | tuple[int, ...] = 1,
) -> Tensor:
    """The transpose of `conv2d` in its input ("deconvolution").

    Parameters
    ----------
    input : Tensor, shape (batch, channels, height, width) or (channels, height, width)
    weight : Tensor, shape (channels, out / groups, kernel height, kernel width)
    bias : Tensor, shape (out,), optional
    stride, padding, dilation : int or tuple of int
        Of the convolution that is transposed.
    output_padding : int or tuple of int
        Added to the result's size, which the stride leaves open.
    groups : int

    Raises
    ------
    ShapeError
        If the shapes do not fit each other.
    DTypeError
        If the dtypes differ.
    """
    return _conv_transpose_nd(
        2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )
