"""Losses of similarity and of margins: composites."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import get_default_dtype, promote_types
from tracegrad.errors import DTypeError
from tracegrad.ops._families import composite
from tracegrad.ops.activations import soft_plus
from tracegrad.ops.casts import cast
from tracegrad.ops.comparison import eq
from tracegrad.ops.losses import reduced
from tracegrad.ops.powers import sqrt, square
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.selection import clamp_min, minimum, where
from tracegrad.ops.views import expand
from tracegrad.sizes import broadcast_shapes


def _length(x: Tensor, dim: int, keepdim: bool) -> Tensor:
    """Return the Euclidean norm along a dimension, with derivative 0 at 0."""
    squared = sum_(square(x), dim, keepdim)
    nowhere = eq(squared, 0)
    return where(nowhere, 0, sqrt(where(nowhere, 1, squared)))  # type: ignore[no-any-return]


def _two(rng: Any) -> Any:
    return [((rng.normal(size=(3, 4)), rng.normal(size=(3, 4))), {})]


@composite(method=False, examples=_two)
def cosine_similarity(
    x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8
) -> Tensor:
    """Cosine of the angle between vectors along a dimension.

    A length below `eps` is taken as `eps`, without a derivative of its own.
    """
    # A dimension that is broadcast counts in the length as often as it is seen.
    shape = broadcast_shapes(x1._array.shape, x2._array.shape)
    a: Any = expand(x1, *shape)
    b: Any = expand(x2, *shape)
    if promote_types(a.dtype, b.dtype).kind not in ("float", "complex"):
        raise DTypeError(
            f"cosine_similarity takes floating tensors, not {a.dtype.name} and "
            f"{b.dtype.name}"
        )
    left = a / _bounded(a, dim, eps)
    right = b / _bounded(b, dim, eps)
    return sum_(left * right, dim)  # type: ignore[no-any-return]


def _bounded(x: Tensor, dim: int, eps: float) -> Any:
    length = _length(x, dim, True)
    return where(length < eps, eps, length)  # type: ignore[operator]


@composite(method=False, examples=_two)
def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    eps: float = 1e-6,
    keepdim: bool = False,
) -> Tensor:
    """p-norm of the differences of vectors along the last dimension."""
    difference: Any = x1 - x2 + eps  # type: ignore[operator]
    if p == 2:
        return _length(difference, -1, keepdim)
    return sum_(abs(difference) ** p, -1, keepdim) ** (1 / p)  # type: ignore[no-any-return]


def _signs(rng: Any) -> Any:
    return rng.integers(0, 2, 3) * 2.0 - 1.0


@composite(
    method=False,
    examples=lambda rng: [((rng.normal(size=3), rng.normal(size=3), _signs(rng)), {})],
)
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """How far the first of two is from leading by the margin (target 1) or trailing."""
    lead: Any = input1 - input2  # type: ignore[operator]
    return reduced(
        "margin_ranking_loss", clamp_min(margin - target * lead, 0), reduction
    )


@composite(
    method=False, examples=lambda rng: [((rng.uniform(0.1, 0.9, 3), _signs(rng)), {})]
)
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """The input where the target is 1; what it lacks to the margin where -1."""
    x: Any = input
    apart = where(target != 1, clamp_min(margin - x, 0), 0)
    alike = where(target != -1, x, 0)
    return reduced("hinge_embedding_loss", apart + alike, reduction)


@composite(method=False, examples=lambda rng: [((rng.normal(size=3), _signs(rng)), {})])
def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input))."""
    loss = soft_plus(-target * input, 1.0, 1e300)  # type: ignore[operator]
    return reduced("soft_margin_loss", loss, reduction)


@composite(
    method=False,
    examples=lambda rng: [
        ((rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), _signs(rng)), {})
    ],
)
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """1 less the cosine where the target is 1, the cosine above the margin where -1."""
    default = get_default_dtype()
    first, second = (
        x if x.dtype.kind in ("float", "complex") else cast(x, default)
        for x in (input1, input2)
    )
    cosine: Any = cosine_similarity(first, second, -1)
    alike = where(eq(target, 1), 1 - cosine, 0)
    apart = where(eq(target, -1), clamp_min(cosine - margin, 0), 0)
    return reduced("cosine_embedding_loss", alike + apart, reduction)


@composite(
    method=False,
    examples=lambda rng: [(tuple(rng.normal(size=(3, 3, 4))), {"margin": 5.0})],
)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """How far the negative is from being farther off than the positive by the margin.

    Source: Balntas et al., "Learning Local Feature Descriptors with Triplets" (2016).
    """
    near: Any = pairwise_distance(anchor, positive, p, eps)
    far: Any = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    loss = clamp_min(near - far + margin, 0)
    return reduced("triplet_margin_loss", loss, reduction)
