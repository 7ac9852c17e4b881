"""Transposed convolution and adaptive pooling over three dimensions."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._examples import normals
from tracegrad.ops._families import composite
from tracegrad.ops.convolution import _conv_transpose_nd
from tracegrad.ops.max_pooling import _adaptive_max
from tracegrad.ops.pooling import _adaptive_mean


@composite(
    method=False,
    examples=normals((1, 2, 2, 3, 2), (2, 2, 2, 2, 2), (2,), stride=2, padding=1),
)
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    output_padding: int | tuple[int, ...] = 0,
    groups: int = 1,
    dilation: int | tuple[int, ...] = 1,
) -> Tensor:
    """The transpose of `conv3d` in its input, as `conv_transpose2d`."""
    geometry: tuple[Any, ...] = (stride, padding, output_padding, groups, dilation)
    return _conv_transpose_nd(3, input, weight, bias, *geometry)


@composite(method=False, examples=normals((1, 2, 4, 5, 3), output_size=(2, 3, None)))
def adaptive_avg_pool3d(
    input: Tensor, output_size: int | tuple[int | None, ...] | None
) -> Tensor:
    """Mean of as many windows as asked over three dimensions."""
    return _adaptive_mean(3, input, output_size)


@composite(method=False, examples=normals((1, 2, 4, 5, 3), output_size=2))
def adaptive_max_pool3d(
    input: Tensor,
    output_size: int | tuple[int | None, ...],
    return_indices: bool = False,
) -> Tensor:
    """Largest element of as many windows as asked over three dimensions."""
    return _adaptive_max(3, input, output_size, return_indices)  # type: ignore[no-any-return]
