"""Losses of several classes by margins, and distances of all pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ShapeError
from tracegrad.ops.activations import logsigmoid
from tracegrad.ops.creation import arange, zeros_like
from tracegrad.ops.losses import reduced
from tracegrad.ops.margin_losses import pairwise_distance
from tracegrad.ops.selection import clamp_min, minimum, where


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return how far the right class is from leading all others by the margin.

    Parameters
    ----------
    input : Tensor, shape (batch, classes) or (classes,)
    target : Tensor, shape (batch,) or (), int64
    p : int
        1 or 2: the power of what is missing.
    margin : float
    weight : Tensor, shape (classes,), optional
    size_average, reduce : None
        Old names of `reduction`.
    reduction : str

    Raises
    ------
    ArgumentError
        If `p` is neither 1 nor 2.
    """
    if p not in (1, 2):
        raise ArgumentError("multi_margin_loss: only p == 1 and p == 2 are supported")
    single = input.ndim < 2
    x: Any = input.reshape(1, -1) if single else input  # type: ignore[attr-defined]
    place: Any = target.reshape(-1, 1)  # type: ignore[attr-defined]
    if x.ndim != 2 or place.shape[0] != x.shape[0]:
        raise ShapeError(
            f"multi_margin_loss: input {list(input.shape)} and target "
            f"{list(target.shape)} do not fit"
        )
    lacking = clamp_min(margin - x.gather(1, place) + x, 0)
    if p == 2:
        lacking = lacking * lacking
    if weight is not None:
        lacking = lacking * weight[place]  # type: ignore[index]
    others = arange(x.shape[1], device=x.device) != place
    loss = where(others, lacking, 0.0).sum(1) / x.shape[1]
    return reduced("multi_margin_loss", loss[0] if single else loss, reduction)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return how far the right classes are from leading the others by 1.

    Parameters
    ----------
    input : Tensor, shape (batch, classes) or (classes,)
    target : Tensor, of the same shape, int64
        Classes, up to the first -1.
    size_average, reduce : None
        Old names of `reduction`.
    reduction : str

    Raises
    ------
    ShapeError
        If the shapes differ.
    """
    if tuple(input.shape) != tuple(target.shape):
        raise ShapeError(
            f"multilabel_margin_loss: input {list(input.shape)} and target "
            f"{list(target.shape)} must have one shape"
        )
    single = input.ndim < 2
    x: Any = input.reshape(1, -1) if single else input  # type: ignore[attr-defined]
    labels: Any = target.reshape(1, -1) if single else target  # type: ignore[attr-defined]
    named = (labels < 0).cumsum(1) == 0
    places = where(named, labels, 0)
    counts = zeros_like(labels).scatter_add(1, places, named.long())
    apart = (1.0 - x.gather(1, places)).unsqueeze(2) + x.unsqueeze(1)
    counted = named.unsqueeze(2) & (counts == 0).unsqueeze(1)
    total = where(counted, clamp_min(apart, 0), 0.0).sum((1, 2)) / x.shape[1]
    loss = total[0] if single else total
    return reduced("multilabel_margin_loss", loss, reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over classes of the entropy of independent labels.

    Parameters
    ----------
    input : Tensor, shape (batch, classes) or (classes,)
        Logits.
    target : Tensor, of the same shape
        0 or 1.
    weight : Tensor, shape (classes,), optional
    size_average, reduce : None
        Old names of `reduction`.
    reduction : str
    """
    x: Any = input
    y: Any = target
    loss: Any = -(y * logsigmoid(x) + (1 - y) * logsigmoid(-x))
    if weight is not None:
        loss = loss * weight
    return reduced("multilabel_soft_margin_loss", loss.mean(-1), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[..., Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return `triplet_margin_loss` with a distance of one's own.

    Raises
    ------
    ArgumentError
        If the margin is not positive.
    """
    if margin <= 0:
        raise ArgumentError(f"margin must be greater than 0, not {margin}")
    distance: Any = (
        pairwise_distance if distance_function is None else distance_function
    )
    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    loss = clamp_min(near - far + margin, 0)
    return reduced("triplet_margin_with_distance_loss", loss, reduction)
