"""Indices drawn with given weights: the numbers of PyTorch's ``multinomial``."""

from __future__ import annotations

import numpy as np

from tracegrad import empty, rand
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float64
from tracegrad.errors import DrawError


def draw_weighted(
    weights: Tensor, count: int, replacement: bool, generator: Generator | None
) -> list[int]:
    """Draw `count` indices into a row of float64 weights.

    Raises
    ------
    DrawError
        If a weight is negative, infinite or NaN, or too few are positive.

    Notes
    -----
    Without replacement: the largest of weight over an exponential draw, one draw for
    each weight. Source: Efraimidis, Spirakis, "Weighted random sampling with a
    reservoir" (2006). With replacement: the place of a uniform draw in the sums.
    """
    row = weights.numpy()
    if not np.all(np.isfinite(row)) or np.any(row < 0):
        raise DrawError("weights must be finite and not negative, and one is not")
    if not row.sum() > 0:
        raise DrawError("the weights sum to zero: nothing can be drawn")
    if replacement and count > 1:
        return _with_replacement(row, count, generator)
    if count > row.size or (count > np.count_nonzero(row) and not replacement):
        raise DrawError(
            f"{count} different indices can't be drawn from {row.size} weights, "
            f"{np.count_nonzero(row)} of them positive"
        )
    draws = empty(row.size, dtype=float64).exponential_(1, generator=generator)
    keys = row / draws.numpy()
    # Stable, so that the first of equal keys comes first.
    return [int(index) for index in np.argsort(-keys, kind="stable")[:count]]


def _with_replacement(
    row: np.ndarray, count: int, generator: Generator | None
) -> list[int]:
    sums = np.cumsum(row)
    sums /= sums[-1]
    draws = rand(count, dtype=float64, generator=generator).numpy()
    return [int(index) for index in np.searchsorted(sums, draws, side="left")]
