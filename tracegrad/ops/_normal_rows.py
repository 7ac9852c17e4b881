"""Layer and group normalization over arrays: the kernel pairs of these operators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# (examples, groups, channels of a group, elements of a channel)
Layout = tuple[int, int, int, int]


class _Rows:
    """Normalization over arrays; keeps from `run` what `back` needs."""

    def __init__(self, layout: Layout, shapes: list[Any], eps: float) -> None:
        self.layout = layout
        self.shapes = shapes
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
            found[1] = self._summed(ct * self.normal, self.shapes[1])
        if wanted[2]:
            found[2] = self._summed(ct, self.shapes[2])
        return found

    def _summed(self, x: Any, shape: Any) -> Any:
        """Return the sum for each channel, in the shape of a parameter."""
        examples, groups, channels, each = self.layout
        if each > 1:
            x = np.add.reduce(x, -1)
        return np.add.reduce(x.reshape(examples, groups * channels), 0).reshape(shape)


def _run(layout: Layout, arrays: Any, eps: float) -> tuple[Any, _Rows]:
    rows = _Rows(layout, [None if a is None else a.shape for a in arrays], eps)
    return rows.run(*arrays), rows


def _fit(shape: Any, *parameters: Any) -> bool:
    return all(p is None or p.shape == shape for p in parameters)


def serves_layer(
    input: Any, weight: Any, bias: Any, normalized_shape: Any, eps: float
) -> bool:
    """Return whether the shapes are right: the operator says what is wrong."""
    shape = _sizes(normalized_shape)
    have = input.shape
    fits = bool(shape) and have[len(have) - len(shape) :] == shape
    return fits and _fit(shape, weight, bias)


def _sizes(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def run_layer(
    input: Any, weight: Any, bias: Any, normalized_shape: Any, eps: float
) -> tuple[Any, _Rows]:
    """Return the normalized array, and what backward needs."""
    width = math.prod(_sizes(normalized_shape))
    layout = (input.size // width, 1, width, 1)
    return _run(layout, (input, weight, bias), eps)


def serves_group(
    input: Any, weight: Any, bias: Any, num_groups: int, eps: float
) -> bool:
    """Return whether the shapes are right: the operator says what is wrong."""
    have = input.shape
    fits = len(have) >= 2 and num_groups > 0 and have[1] % num_groups == 0
    return fits and _fit(have[1:2], weight, bias)


def run_group(
    input: Any, weight: Any, bias: Any, num_groups: int, eps: float
) -> tuple[Any, _Rows]:
    """Return the normalized array, and what backward needs."""
    have = input.shape
    each = math.prod(have[2:])
    layout = (have[0], num_groups, have[1] // num_groups, each)
    return _run(layout, (input, weight, bias), eps)


def back(rows: _Rows, cts: list[Any], wanted: tuple[bool, ...]) -> list[Any]:
    """Return the gradients of input, weight and bias, of those that are wanted."""
    return rows.back(cts[0], wanted)
