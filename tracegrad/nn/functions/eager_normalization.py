"""Layer and group normalization in eager mode: one node of the tape.

The values are those of the operators of the same names, which say what is computed, and
which serve under capture, under transforms, for half types and second derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tracegrad as tg
from tracegrad.dispatch.state import runs_plainly
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32, float64
from tracegrad.ops.conversion import from_numpy
from tracegrad.ops.normalization import group_norm as group_operator
from tracegrad.ops.normalization import layer_norm as layer_operator

# (examples, groups, channels of a group, elements of a channel)
Layout = tuple[int, int, int, int]


def _serves(input: Any, shape: Any, weight: Any, bias: Any) -> bool:
    """Return whether one node can serve: eager, on the CPU, not half, shapes right."""
    if not runs_plainly() or not isinstance(input, Tensor):
        return False
    if input.dtype not in (float32, float64) or not input.numel():
        return False
    given = [x for x in (weight, bias) if x is not None]
    return input._array.__class__ is np.ndarray and all(
        isinstance(x, Tensor)
        and x.dtype is input.dtype
        and x._array.__class__ is np.ndarray
        and x._array.shape == shape
        for x in given
    )


class _Rows:
    """Normalization over arrays; keeps from `run` what `back` needs."""

    def __init__(self, layout: Layout, eps: float) -> None:
        self.layout = layout
        self.eps = eps

    def _means(self, x: Any) -> Any:
        """Return the mean of each group, shape (examples, groups, 1, 1)."""
        examples, groups, channels, each = self.layout
        rows = np.add.reduce(x.reshape(examples, groups, channels * each), -1)
        rows /= channels * each
        return rows.reshape(examples, groups, 1, 1)

    def _along_channels(self, parameter: Any) -> Any:
        _, groups, channels, _ = self.layout
        return parameter.reshape(1, groups, channels, 1)

    def run(self, x: Any, weight: Any, bias: Any) -> Any:
        """Return the normalized array."""
        shape = x.shape
        x = x.reshape(self.layout)
        self.normal = x - self._means(x)
        self.scale = 1 / np.sqrt(self._means(self.normal * self.normal) + self.eps)
        self.scale = self.scale.astype(x.dtype, copy=False)
        self.normal *= self.scale
        self.weight = None if weight is None else self._along_channels(weight)
        result = self.normal.copy() if weight is None else self.normal * self.weight
        if bias is not None:
            result += self._along_channels(bias)
        return result.reshape(shape)

    def back(self, ct: Any, wanted: tuple[bool, ...]) -> list[Any]:
        """Return the gradients of input, weight and bias, of those that are wanted."""
        shape = ct.shape
        ct = ct.reshape(self.layout)
        found: list[Any] = [None, None, None]
        if wanted[0]:
            arrived = ct if self.weight is None else ct * self.weight
            along = self._means(arrived * self.normal)
            left = arrived - self._means(arrived)
            left -= self.normal * along
            left *= self.scale
            found[0] = left.reshape(shape)
        if wanted[1]:
            found[1] = self._summed(ct * self.normal)
        if wanted[2]:
            found[2] = self._summed(ct)
        return found

    def _summed(self, x: Any) -> Any:
        """Return the sum for each channel."""
        examples, groups, channels, each = self.layout
        if each > 1:
            x = np.add.reduce(x, -1)
        return np.add.reduce(x.reshape(examples, groups * channels), 0)


class _Normalization(tg.autograd.Function):
    """Normalization as one node."""

    @staticmethod
    def forward(
        ctx: Any, input: Any, weight: Any, bias: Any, rows: _Rows, again: Any
    ) -> Any:
        """Return the normalized tensor."""
        ctx.save_for_backward(input, weight, bias)
        ctx.rows = rows
        ctx.again = again
        arrays = [None if x is None else x._array for x in (input, weight, bias)]
        return from_numpy(rows.run(*arrays))

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """Return the gradients, by arrays or, to be differentiated, by operators."""
        given = ctx.saved_tensors
        wanted = tuple(ctx.needs_input_grad[:3])
        if not tg.is_grad_enabled():
            found = ctx.rows.back(grad_output._array, wanted)
            shapes = [None if x is None else x.shape for x in given]
            gradients = [
                None if array is None else from_numpy(array.reshape(shape))
                for array, shape in zip(found, shapes, strict=True)
            ]
            return (*gradients, None, None)
        chosen = [x for x, is_wanted in zip(given, wanted, strict=True) if is_wanted]
        result = ctx.again(*given)
        found = tg.autograd.grad(result, chosen, grad_output, create_graph=True)
        by_place = iter(found)
        gradients = [next(by_place) if is_wanted else None for is_wanted in wanted]
        return (*gradients, None, None)


def _applied(
    input: Any,
    weight: Any,
    bias: Any,
    layout: Layout,
    eps: float,
    again: Callable[..., Any],
) -> Any:
    return _Normalization.apply(input, weight, bias, _Rows(layout, eps), again)


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Return each example less its mean, over its standard deviation.

    Parameters
    ----------
    input : Tensor, shape (..., *normalized_shape), floating dtype
    normalized_shape : int or tuple of int
        The last sizes, over which mean and biased variance are taken.
    weight, bias : Tensor, shape (*normalized_shape), optional
        Scale and shift of the result.
    eps : float
        Added to the variance.

    Raises
    ------
    ShapeError
        If the last sizes differ.

    Notes
    -----
    Source: Ba, Kiros, Hinton, "Layer Normalization" (2016).
    """

    def again(input: Any, weight: Any, bias: Any) -> Any:
        return layer_operator(input, normalized_shape, weight, bias, eps)

    one = isinstance(normalized_shape, int)
    shape = (normalized_shape,) if one else tuple(normalized_shape)
    if not shape or not _serves(input, shape, weight, bias):
        return again(input, weight, bias)  # type: ignore[no-any-return]
    have = input._array.shape
    if have[len(have) - len(shape) :] != shape:
        return again(input, weight, bias)  # type: ignore[no-any-return]
    width = math.prod(shape)
    layout = (input.numel() // width, 1, width, 1)
    return _applied(input, weight, bias, layout, eps, again)  # type: ignore[no-any-return]


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Return each group of channels less its mean, over its standard deviation.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, ...), floating dtype
    num_groups : int
        Into how many groups the channels are split.
    weight, bias : Tensor, shape (channels,), optional
        Scale and shift of the result.
    eps : float
        Added to the biased variance.

    Raises
    ------
    ShapeError
        If the groups do not divide the channels.

    Notes
    -----
    Source: Wu, He, "Group Normalization" (2018).
    """

    def again(input: Any, weight: Any, bias: Any) -> Any:
        return group_operator(input, num_groups, weight, bias, eps)

    given: Any = input
    have: Any = given._array.shape if isinstance(given, Tensor) else ()
    fits = len(have) >= 2 and num_groups > 0 and have[1] % num_groups == 0
    if not fits or not _serves(input, have[1:2], weight, bias):
        return again(input, weight, bias)  # type: ignore[no-any-return]
    each = math.prod(have[2:])
    layout = (have[0], num_groups, have[1] // num_groups, each)
    return _applied(input, weight, bias, layout, eps, again)  # type: ignore[no-any-return]
