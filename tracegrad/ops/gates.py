"""Activations made of other operators: shrinking ones, gates, learned slopes."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ShapeError
from tracegrad.ops._families import composite
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.comparison import gt, le, lt, ne
from tracegrad.ops.hyperbolic import tanh
from tracegrad.ops.logistic import sigmoid
from tracegrad.ops.selection import where
from tracegrad.ops.splitting import split_with_sizes
from tracegrad.ops.views import reshape


def _one(rng: Any) -> Any:
    return [((rng.uniform(0.6, 2.0, (3, 4)),), {})]


@composite(examples=_one, reference=lambda input: input if abs(input) > 0.5 else 0.0)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Each element, or 0 where it is within `lambd` of 0."""
    return where(le(abs(input), lambd), 0, input)  # type: ignore[arg-type, no-any-return]


@composite(
    examples=_one,
    method=False,
    reference=lambda input: max(input - 0.5, 0) + min(input + 0.5, 0),
)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Each element brought nearer to 0 by `lambd`, 0 where it is within."""
    x: Any = input
    inner = where(lt(x, -lambd), x + lambd, where(ne(x, x), x, 0))
    return where(gt(x, lambd), x - lambd, inner)  # type: ignore[no-any-return]


@composite(
    examples=_one, method=False, reference=lambda input: input - math.tanh(input)
)
def tanhshrink(input: Tensor) -> Tensor:
    """Each element less its hyperbolic tangent."""
    return input - tanh(input)  # type: ignore[no-any-return, operator]


@composite(
    examples=_one, method=False, reference=lambda input: input / (1 + abs(input))
)
def softsign(input: Tensor) -> Tensor:
    """Each element over 1 plus its distance from 0."""
    return input / (abs(input) + 1)  # type: ignore[no-any-return, operator, arg-type]


@composite(
    method=False, examples=lambda rng: [((rng.normal(size=(3, 4)),), {"dim": 1})]
)
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """First half along a dimension times the logistic function of the second.

    Source: Dauphin et al., "Language Modeling with Gated Convolutional Networks"
    (2017), equation 1.
    """
    shape = input._array.shape
    if not shape:
        raise ShapeError("glu: a 0-dim tensor has no dimension to halve")
    axis = canonical_dim("glu", dim, len(shape))
    if shape[axis] % 2:
        raise ShapeError(f"glu: size {shape[axis]} of dimension {axis} is odd")
    half = shape[axis] // 2
    value, gate = split_with_sizes(input, (half, half), axis)
    return value * sigmoid(gate)  # type: ignore[no-any-return]


@composite(
    examples=lambda rng: [
        ((rng.normal(size=(2, 3, 2)), rng.uniform(0.1, 0.5, 3)), {}),
        ((rng.normal(size=(2, 3)), rng.uniform(0.1, 0.5, 1)), {}),
    ]
)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Each element, times a learned slope where it is not positive.

    There is one slope, or one per channel (dimension 1).

    Source: He et al., "Delving Deep into Rectifiers" (2015), equation 1.
    """
    ndim, count = input.ndim, weight.numel()
    channels = input._array.shape[1] if ndim > 1 else 1
    if weight.ndim > 1 or count not in (1, channels):
        raise ShapeError(
            f"prelu: {count} slopes (shape {list(weight.shape)}) do not fit "
            f"{channels} channels of shape {list(input.shape)}"
        )
    shape = (1, count, *(1,) * (ndim - 2)) if ndim > 1 else (1,) * ndim
    slope = reshape(weight, *shape)
    return where(gt(input, 0), input, slope * input)  # type: ignore[no-any-return, operator]
