"""Losses of classification: composites that pick the label's element."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentValueError, DTypeError, ShapeError
from tracegrad.ops import _label_kernels
from tracegrad.ops._families import composite
from tracegrad.ops.arithmetic import mul, neg
from tracegrad.ops.comparison import eq, ne
from tracegrad.ops.gathering import gather
from tracegrad.ops.labels import class_dim, mean_label_entropy, mean_pick
from tracegrad.ops.losses import reduced
from tracegrad.ops.normalizing import log_softmax
from tracegrad.ops.picking import take
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.selection import where
from tracegrad.ops.views import reshape, squeeze, unsqueeze


def _check_classes(name: str, input: Tensor, target: Tensor) -> None:
    shape, wanted = input._array.shape, target._array.shape
    if not shape:
        raise ShapeError(f"{name}: the input needs a dimension of classes")
    dim = class_dim(input.ndim)
    expected = shape[:dim] + shape[dim + 1 :]
    if wanted != expected:
        raise ArgumentValueError(
            f"{name}: for input of shape {list(input.shape)} the target must have "
            f"shape {list(expected)}, not {list(target.shape)}"
        )
    if target.dtype.kind != "int":
        raise DTypeError(f"{name}: labels must be integers, not {target.dtype.name}")


def _check_weight(name: str, input: Tensor, weight: Tensor | None) -> None:
    count = input._array.shape[class_dim(input.ndim)]
    if weight is not None and weight._array.shape != (count,):
        raise ShapeError(
            f"{name}: weight must hold one number for each of {count} classes, not "
            f"shape {list(weight.shape)}"
        )


def _labels(rng: Any) -> Any:
    return rng.integers(0, 4, 3)


def _examples(rng: Any) -> Any:
    scores = rng.normal(size=(3, 4))
    return [
        ((scores, _labels(rng)), {}),
        ((scores, _labels(rng), rng.uniform(0.5, 2, 4)), {}),
        ((scores, np_labels(rng)), {"ignore_index": 1, "reduction": "sum"}),
        (
            (rng.normal(size=(2, 4, 3)), rng.integers(0, 4, (2, 3))),
            {"reduction": "none"},
        ),
    ]


def np_labels(rng: Any) -> Any:
    """Return labels of which the second is 1."""
    labels = _labels(rng)
    labels[1] = 1
    return labels


def _negated_picks(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int
) -> tuple[Any, Any]:
    """Return the loss of each label, 0 for ignored ones, and the labels' weights."""
    dim = class_dim(input.ndim)
    kept = ne(target, ignore_index)
    # Any label in range stands for an ignored one; its loss is not used.
    label = where(kept, target, 0)
    loss = neg(squeeze(gather(input, dim, unsqueeze(label, dim)), dim))
    if weight is None:
        return where(kept, loss, 0), kept.to(input.dtype)
    weights = take(weight, label)
    return where(kept, loss * weights, 0), where(kept, weights, 0).to(input.dtype)


def _averaged(name: str, loss: Tensor, weights: Any, reduction: str) -> Tensor:
    """Reduce a loss; the mean is over the weights of the labels."""
    if reduction != "mean":
        return reduced(name, loss, reduction)
    return sum_(loss) / sum_(weights)  # type: ignore[no-any-return]


@composite(method=False, examples=_examples)
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Negative of the label's element, of log-probabilities in dimension 1.

    The mean divides by the sum of the labels' weights; if all labels are ignored it
    is NaN. A label out of range raises an IndexRangeError.
    """
    _check_classes("nll_loss", input, target)
    _check_weight("nll_loss", input, weight)
    if weight is None and reduction == "mean":
        return mean_pick(input, target, ignore_index)  # type: ignore[no-any-return]
    loss, weights = _negated_picks(input, target, weight, ignore_index)
    return _averaged("nll_loss", loss, weights, reduction)


nll_loss.kernels(
    forward=_label_kernels.run_picks,
    backward=_label_kernels.back_picks,
    serves=_label_kernels.serves_labels,
    reads=("target",),
)


@composite(
    method=False,
    examples=lambda rng: [
        *_examples(rng),
        ((rng.normal(size=(3, 4)), _labels(rng)), {"label_smoothing": 0.1}),
        (
            (rng.normal(size=(3, 4)), np_labels(rng), rng.uniform(0.5, 2, 4)),
            {"label_smoothing": 0.1, "ignore_index": 1},
        ),
        ((rng.normal(size=(3, 4)), rng.uniform(0, 1, (3, 4))), {}),
        (
            (
                rng.normal(size=(3, 4)),
                rng.uniform(0, 1, (3, 4)),
                rng.uniform(0.5, 2, 4),
            ),
            {"label_smoothing": 0.1},
        ),
    ],
)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of logits in dimension 1 with labels, or with probabilities.

    The mean divides by the sum of the labels' weights, or by the number of rows for
    probabilities; if all labels are ignored it is NaN. A label out of range raises an
    IndexRangeError.

    Source: label smoothing: Szegedy et al., "Rethinking the Inception Architecture"
    (2016), section 7.
    """
    if not 0.0 <= label_smoothing <= 1.0:
        raise ArgumentValueError(
            "cross_entropy: label_smoothing must be between 0 and 1, not "
            f"{label_smoothing}"
        )
    if target.dtype.kind == "float" and target._array.shape == input._array.shape:
        return _with_probabilities(input, target, weight, reduction, label_smoothing)
    _check_classes("cross_entropy", input, target)
    _check_weight("cross_entropy", input, weight)
    if weight is None and reduction == "mean" and label_smoothing == 0:
        return mean_label_entropy(input, target, ignore_index)[1]  # type: ignore[no-any-return]
    logs = log_softmax(input, class_dim(input.ndim))
    loss, weights = _negated_picks(logs, target, weight, ignore_index)
    if label_smoothing == 0:
        return _averaged("cross_entropy", loss, weights, reduction)
    return _smoothed(
        logs, target, weight, ignore_index, reduction, label_smoothing, loss, weights
    )


cross_entropy.kernels(
    forward=_label_kernels.run_entropy,
    backward=_label_kernels.back_entropy,
    serves=_label_kernels.serves_labels,
    reads=("target",),
)


def _smoothed(
    logs: Any,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    smoothing: float,
    loss: Any,
    weights: Any,
) -> Tensor:
    dim = class_dim(logs.ndim)
    spread = sum_(neg(_per_class(logs, weight)), dim)
    spread = where(eq(target, ignore_index), 0, spread)
    share = smoothing / logs._array.shape[dim]
    mixed = loss * (1 - smoothing) + spread * share
    return _averaged("cross_entropy", mixed, weights, reduction)


def _per_class(logs: Any, weight: Tensor | None) -> Any:
    """Return log-probabilities times the weights of their classes."""
    if weight is None:
        return logs
    behind = (1,) * (logs.ndim - 1 - class_dim(logs.ndim))
    return mul(logs, reshape(weight, -1, *behind))


def _with_probabilities(
    input: Tensor,
    target: Any,
    weight: Tensor | None,
    reduction: str,
    smoothing: float,
) -> Tensor:
    _check_weight("cross_entropy", input, weight)
    dim = class_dim(input.ndim)
    count = input._array.shape[dim]
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / count
    logs = _per_class(log_softmax(input, dim), weight)
    loss = neg(sum_(mul(logs, target), dim))
    if reduction != "mean":
        return reduced("cross_entropy", loss, reduction)
    rows = math.prod(s for i, s in enumerate(input._array.shape) if i != dim)
    return sum_(loss) / rows  # type: ignore[no-any-return]
