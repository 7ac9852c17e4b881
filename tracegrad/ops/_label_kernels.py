"""The losses of labels, over arrays: kernel pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.errors import TracegradError
from tracegrad.ops.labels import class_dim, label_error_kernel, picked_kernel, places_of


def _log_softmax(input: Any) -> Any:
    dim = class_dim(input.ndim)
    result = input - np.maximum.reduce(input, dim, keepdims=True)
    result -= np.log(np.add.reduce(np.exp(result), dim, keepdims=True))
    return result


def serves_labels(
    input: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float = 0.0,
) -> bool:
    """Return whether it is the mean loss of labels that fit, without weights."""
    if weight is not None or reduction != "mean" or label_smoothing != 0:
        return False
    if target.dtype.kind not in "iu" or not input.ndim or input.dtype.kind != "f":
        return False
    dim = class_dim(input.ndim)
    return bool(target.shape == input.shape[:dim] + input.shape[dim + 1 :])


def _picked(values: Any, target: Any, ignore_index: int) -> tuple[Any, Any] | None:
    """Return the mean and where the labels are; None if a label is out of range."""
    try:
        placed = places_of(np, target, values.shape, ignore_index)
    except TracegradError:
        # The operator says which.
        return None
    return picked_kernel(np, values, target, *placed, ignore_index), placed


def run_entropy(
    input: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> tuple[Any, Any] | None:
    """Return the mean cross entropy of logits with labels, and what backward needs."""
    logs = _log_softmax(input)
    found = _picked(logs, target, ignore_index)
    return found and (found[0], (logs, target, found[1], ignore_index))


def back_entropy(saved: Any, cts: list[Any], wanted: Any) -> list[Any]:
    """Return the logits' gradient."""
    logs, target, (places, count), ignore_index = saved
    shares = np.exp(logs)
    errors = label_error_kernel(np, shares, target, places, count, ignore_index)
    errors *= cts[0]
    return [errors, None, None]


def run_picks(
    input: Any, target: Any, weight: Any, ignore_index: int, reduction: str
) -> tuple[Any, Any] | None:
    """Return the mean of the labels' elements, negative, and what backward needs."""
    found = _picked(input, target, ignore_index)
    return found and (
        found[0],
        (input.shape, input.dtype, target, found[1], ignore_index),
    )


def back_picks(saved: Any, cts: list[Any], wanted: Any) -> list[Any]:
    """Return the gradient of the log-probabilities."""
    shape, dtype, target, (places, count), ignore_index = saved
    nothing = np.zeros(shape, dtype)
    errors = label_error_kernel(np, nothing, target, places, count, ignore_index)
    errors *= cts[0]
    return [errors, None, None]
