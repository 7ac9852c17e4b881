"""Losses of two arrays of one shape, over arrays: kernel pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

_REDUCTIONS = frozenset({"none", "mean", "sum"})


def serves(
    input: Any,
    target: Any,
    *weights: Any,
    reduction: str,
) -> bool:
    """Return whether the loss is one of equal shapes, without weights."""
    plain = all(w is None for w in weights) and reduction in _REDUCTIONS
    same = input.__class__ is target.__class__ and input.shape == target.shape
    return plain and same and target.dtype == input.dtype


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    total = np.add.reduce(loss, None)
    return total / loss.dtype.type(loss.size) if reduction == "mean" else total


def _spread(ct: Any, like: Any, reduction: str) -> Any:
    """Return the loss's cotangent for each element; a number after a reduction."""
    return ct / like.dtype.type(like.size) if reduction == "mean" else ct


def run_square(
    input: Any, target: Any, weight: Any, reduction: str
) -> tuple[Any, tuple[Any, str]]:
    """Return the squared differences, reduced, and what backward needs."""
    left = input - target
    return _reduced(np.square(left), reduction), (left, reduction)


def back_square(
    saved: Any, cts: list[Any], wanted: tuple[bool, ...]
) -> tuple[Any, Any, None]:
    """Return the gradients of both operands."""
    left, reduction = saved
    ct = _spread(cts[0], left, reduction)
    of_input = left * (ct + ct)
    return of_input, np.negative(of_input) if wanted[1] else None, None


def run_logits(
    input: Any, target: Any, weight: Any, pos_weight: Any, reduction: str
) -> tuple[Any, tuple[Any, Any, str]]:
    """Return the cross entropy of logits, reduced, and what backward needs."""
    logs = np.abs(input)
    np.negative(logs, out=logs)
    np.exp(logs, out=logs)
    np.log1p(logs, out=logs)
    np.subtract(np.minimum(input, 0), logs, out=logs)
    loss = np.subtract(1, target)
    loss *= input
    loss -= logs
    return _reduced(loss, reduction), (input, target, reduction)


def back_logits(
    saved: Any, cts: list[Any], wanted: tuple[bool, ...]
) -> tuple[Any, Any, None, None]:
    """Return the gradients of both operands."""
    input, target, reduction = saved
    ct = _spread(cts[0], input, reduction)
    of_input = of_target = None
    if wanted[0]:
        # What is left of 1 - target without the logistic function of -input.
        of_input = np.exp(input)
        of_input += 1
        np.reciprocal(of_input, out=of_input)
        of_input += target
        np.subtract(1, of_input, out=of_input)
        of_input *= ct
    if wanted[1]:
        of_target = np.negative(input)
        of_target *= ct
    return of_input, of_target, None, None
