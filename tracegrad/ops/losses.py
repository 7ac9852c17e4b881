"""Losses between a prediction and a target of the same shape: composites."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.state import spoil
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ArgumentValueError
from tracegrad.location import warn
from tracegrad.ops import _loss_kernels
from tracegrad.ops._families import composite
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import arithmetic
from tracegrad.ops.activations import logsigmoid
from tracegrad.ops.comparison import le, lt
from tracegrad.ops.exponential import exp, log, log1p, xlogy
from tracegrad.ops.powers import square
from tracegrad.ops.reductions import mean
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.selection import clamp_min, where
from tracegrad.ops.views import unsqueeze


def reduced(name: str, loss: Tensor, reduction: str) -> Tensor:
    """Return a loss per element as it is, its mean or its sum.

    Raises
    ------
    ArgumentError
        If the reduction is unknown.
    """
    if reduction == "none":
        return loss
    if reduction == "mean":
        return mean(loss)  # type: ignore[no-any-return]
    if reduction == "sum":
        return sum_(loss)  # type: ignore[no-any-return]
    raise ArgumentError(
        f"{name}: reduction must be 'none', 'mean' or 'sum', not {reduction!r}"
    )


def _warn_of_shapes(name: str, input: Tensor, target: Tensor) -> None:
    if input._array.shape != target._array.shape:
        spoil()
        warn(
            f"{name}: the target's shape {list(target.shape)} differs from the input's "
            f"{list(input.shape)}; they are broadcast, which is rarely meant",
        )


def _check_shapes(name: str, input: Tensor, target: Tensor) -> None:
    if input._array.shape != target._array.shape:
        raise ArgumentValueError(
            f"{name}: input and target must have one shape, not {list(input.shape)} "
            f"and {list(target.shape)}"
        )


def _pair(rng: Any) -> Any:
    return [
        ((rng.normal(size=(3, 4)), rng.normal(size=(3, 4))), {"reduction": r})
        for r in ("none", "mean", "sum")
    ]


def _weighted(loss: Any, weight: Tensor | None) -> Any:
    return loss if weight is None else loss * weight


# -- distances ----------------------------------------------------------------------


@composite(method=False, examples=_pair)
def mse_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Mean of the squared differences."""
    _warn_of_shapes("mse_loss", input, target)
    loss = _weighted(square(input - target), weight)  # type: ignore[operator]
    return reduced("mse_loss", loss, reduction)


mse_loss.kernels(
    forward=_loss_kernels.run_square,
    backward=_loss_kernels.back_square,
    serves=_loss_kernels.serves,
)


@composite(method=False, examples=_pair)
def l1_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Mean of the differences' magnitudes; the derivative at 0 is 0."""
    _warn_of_shapes("l1_loss", input, target)
    loss = _weighted(abs(input - target), weight)  # type: ignore[operator]
    return reduced("l1_loss", loss, reduction)


@composite(method=False, examples=_pair)
def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Mean of the differences' magnitudes, of their squares where below `beta`.

    Source: Girshick, "Fast R-CNN" (2015), equation 3.
    """
    if beta < 0:
        raise _negative("smooth_l1_loss", "beta", beta)
    _warn_of_shapes("smooth_l1_loss", input, target)
    distance = abs(input - target)  # type: ignore[operator]
    if beta == 0:
        return reduced("smooth_l1_loss", distance, reduction)
    near = distance * distance * (0.5 / beta)
    loss = where(lt(distance, beta), near, distance - 0.5 * beta)
    return reduced("smooth_l1_loss", loss, reduction)


@composite(method=False, examples=_pair)
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Mean of the differences' squares, of their magnitudes where above `delta`.

    Source: Huber, "Robust Estimation of a Location Parameter" (1964).
    """
    if delta <= 0:
        raise _negative("huber_loss", "delta", delta)
    _warn_of_shapes("huber_loss", input, target)
    distance = abs(input - target)  # type: ignore[operator]
    far = (distance - 0.5 * delta) * delta
    loss = where(lt(distance, delta), distance * distance * 0.5, far)
    return reduced("huber_loss", _weighted(loss, weight), reduction)


def _negative(name: str, what: str, value: float) -> ArgumentValueError:
    return ArgumentValueError(f"{name}: {what} must be positive, not {value}")


# -- probabilities ------------------------------------------------------------------


@pointwise(
    numpy={
        "float": (
            "np.subtract(np.multiply(np.subtract({target}, 1), "
            "np.maximum(np.log1p(np.negative({input})), -100)), "
            "np.multiply({target}, np.maximum(np.log({input}), -100)))"
        )
    },
    c={
        "float": (
            "({target} - 1) * tg_maximum_{t}(log1p{f}(-{input}), -100) "
            "- {target} * tg_maximum_{t}(log{f}({input}), -100)"
        )
    },
    promote=arithmetic,
    # Also where it is NaN.
    fails={"float": "(({input} >= 0) & ({input} <= 1)) == 0"},
    refusal=(ArgumentValueError, "the probabilities must be between 0 and 1"),
    domain=(0.1, 0.9),
    reference=lambda input, target: (
        -target * math.log(input) - (1 - target) * math.log(1 - input)
    ),
    public=False,
    method=False,
    inplace=False,
)
def bernoulli_entropy(input: Tensor, target: Tensor) -> Tensor:
    """Cross entropy of two probabilities, logarithms cut at -100."""


# The bound keeps 0 / 0 from a probability of 0 or 1 that was right.
bernoulli_entropy.derivative(
    input=times(
        lambda input, target: (input - target) / clamp_min(input * (1 - input), 1e-12)
    ),
    target=times(
        lambda input: clamp_min(log1p(-input), -100) - clamp_min(log(input), -100)
    ),
)


@composite(
    method=False,
    examples=lambda rng: [
        ((rng.uniform(0.1, 0.9, (3, 4)), rng.uniform(0, 1, (3, 4))), {"reduction": r})
        for r in ("none", "mean", "sum")
    ],
)
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of probabilities; a logarithm is cut at -100.

    A probability outside of [0, 1] raises an ArgumentError.
    """
    _check_shapes("binary_cross_entropy", input, target)
    loss = _weighted(bernoulli_entropy(input, target), weight)
    return reduced("binary_cross_entropy", loss, reduction)


@composite(method=False, examples=_pair)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Cross entropy of probabilities given as logits, exact for large ones.

    `pos_weight` multiplies the part of the positive class.
    """
    name = "binary_cross_entropy_with_logits"
    _check_shapes(name, input, target)
    logs: Any = logsigmoid(input)
    if pos_weight is not None:
        logs = logs * ((pos_weight - 1) * target + 1)  # type: ignore[operator]
    loss = (1 - target) * input - logs  # type: ignore[operator]
    return reduced(name, _weighted(loss, weight), reduction)


binary_cross_entropy_with_logits.kernels(
    forward=_loss_kernels.run_logits,
    backward=_loss_kernels.back_logits,
    serves=_loss_kernels.serves,
    reads=("input", "target"),
)


@composite(
    method=False,
    examples=lambda rng: [
        (
            (rng.normal(size=(3, 4)), rng.uniform(0.1, 1, (3, 4))),
            {"reduction": r, "log_target": log_target},
        )
        for r in ("none", "mean", "sum", "batchmean")
        for log_target in (False, True)
    ],
)
def kl_div(
    input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """Kullback-Leibler divergence; `input` holds logarithms.

    The reduction ``batchmean`` divides the sum by the first size, as the mathematical
    definition has it.

    Source: Kullback, Leibler, "On Information and Sufficiency" (1951).
    """
    x: Any = input
    if log_target:
        loss = exp(target) * (target - x)
    else:
        loss = xlogy(target, target) - target * x
    if reduction != "batchmean":
        return reduced("kl_div", loss, reduction)
    return sum_(loss) / max(x._array.shape[:1], default=1)  # type: ignore[no-any-return]


@composite(method=False, examples=_pair)
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """Negative logarithm of the Poisson probability of the target.

    `full` adds Stirling's approximation of the part without `input`.
    """
    x: Any = input
    loss = exp(x) - target * x if log_input else x - target * log(x + eps)
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)  # type: ignore[operator]
        loss = loss + where(le(target, 1), 0, stirling)
    return reduced("poisson_nll_loss", loss, reduction)


@composite(
    method=False,
    examples=lambda rng: [
        (
            (
                rng.normal(size=(3, 4)),
                rng.normal(size=(3, 4)),
                rng.uniform(0.5, 2, (3, 4)),
            ),
            {"full": full},
        )
        for full in (False, True)
    ],
)
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Negative logarithm of the normal density of the target.

    Source: Nix, Weigend, "Estimating the Mean and Variance of the Target Probability
    Distribution" (1994).
    """
    x: Any = input
    if var.shape == input.shape[:-1]:
        # One variance for each row.
        var = unsqueeze(var, -1)
    width = clamp_min(var, eps)
    loss = (log(width) + square(x - target) / width) * 0.5
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced("gaussian_nll_loss", loss, reduction)
