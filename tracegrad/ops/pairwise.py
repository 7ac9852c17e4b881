"""Distances and covariances of all pairs, and matrices made of blocks."""

from __future__ import annotations

import itertools
from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentValueError, ShapeError
from tracegrad.ops.arithmetic import sub
from tracegrad.ops.casts import cast
from tracegrad.ops.contraction import matmul
from tracegrad.ops.joining import cat
from tracegrad.ops.norms import norm
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.views import reshape, unsqueeze
from tracegrad.sizes import shape_text


@public_function(method=False)
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Return the distances of each row of `x1` from each row of `x2`.

    Parameters
    ----------
    x1 : Tensor, shape (..., n, d)
    x2 : Tensor, shape (..., m, d)
    p : float
        The order of the norm.
    compute_mode : str, optional
        Accepted for PyTorch's sake: differences are taken always, which is exact.

    Raises
    ------
    ShapeError
        If the rows are not of one size.
    """
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(
            f"cdist: rows of one size, not {shape_text(x1.shape)} and "
            f"{shape_text(x2.shape)}"
        )
    if p < 0:
        raise ArgumentValueError(f"cdist: p must not be negative, not {p}")
    difference = sub(unsqueeze(x1, -2), unsqueeze(x2, -3))
    if difference._array.shape[-1] == 0:
        return sum_(difference, -1)  # type: ignore[no-any-return]
    return norm(difference, p, -1)  # type: ignore[no-any-return]


@public_function()
def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariances of the rows, which are variables.

    Parameters
    ----------
    input : Tensor, shape (n,) or (m, n)
    correction : int
        What is taken from the number of observations.
    fweights, aweights : Tensor, shape (n,), optional
        How often each observation counts, and how much.

    Source: the estimator of ``numpy.cov``.
    """
    if input.ndim > 2:
        raise ShapeError(f"cov takes up to 2 dimensions, not {input.ndim}")
    rows = reshape(input, 1, -1) if input.ndim < 2 else input
    weights = fweights
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    total, weighted = _weighted(rows, weights)
    taken: Any = correction
    if aweights is not None:
        taken = correction * sum_(weights * aweights) / total  # type: ignore[operator]
    centred = rows - weighted / total
    scaled = centred if weights is None else centred * weights
    turned = centred.mH if centred.is_complex() else centred.mT
    found = matmul(cast(scaled, turned.dtype), turned) / _positive(total - taken)
    return reshape(found) if rows._array.shape[0] == 1 else found  # type: ignore[no-any-return]


def _weighted(rows: Tensor, weights: Tensor | None) -> tuple[Any, Tensor]:
    """Return the sum of the weights, and of the weighted observations."""
    if weights is None:
        return rows._array.shape[1], sum_(rows, 1, True)
    return sum_(weights), sum_(rows * weights, 1, True)


def _positive(divisor: Any) -> Any:
    return divisor.clamp(min=0) if isinstance(divisor, Tensor) else max(divisor, 0)


@public_function()
def corrcoef(input: Tensor) -> Tensor:
    """Return the correlations of the rows, which are variables.

    Source: Pearson's coefficient, clipped to [-1, 1] as ``numpy.corrcoef``.
    """
    covariance = cov(input)
    if covariance.ndim == 0:
        return covariance / covariance  # type: ignore[no-any-return]
    spread = covariance.diagonal()  # type: ignore[attr-defined]
    spread = (spread.real if spread.is_complex() else spread).sqrt()
    found = covariance / unsqueeze(spread, 1) / unsqueeze(spread, 0)
    if not found.is_complex():
        return found.clamp(-1, 1)  # type: ignore[attr-defined, no-any-return]
    parts = [found.real.clamp(-1, 1), found.imag.clamp(-1, 1)]  # type: ignore[attr-defined]
    return parts[0] + parts[1] * 1j  # type: ignore[no-any-return]


@public_function(method=False)
def block_diag(*tensors: Any) -> Tensor:
    """Return a matrix with the given ones along its diagonal, zeros elsewhere.

    Raises
    ------
    ShapeError
        If one has more than 2 dimensions.
    """
    blocks = []
    for tensor in tensors:
        if tensor.ndim > 2:
            raise ShapeError(f"block_diag takes matrices, not {tensor.ndim} dimensions")
        blocks.append(tensor if tensor.ndim == 2 else reshape(tensor, 1, -1))
    width = sum(b._array.shape[1] for b in blocks)
    rows, before = [], 0
    for block in blocks:
        height, own = block._array.shape
        left = block.new_zeros((height, before))
        right = block.new_zeros((height, width - before - own))
        rows.append(cat((left, block, right), 1))
        before += own
    return cat(rows, 0)  # type: ignore[no-any-return]


@public_function()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return the combinations of `r` elements of a vector, one in each row."""
    if input.ndim != 1:
        raise ShapeError(f"combinations takes a vector, not {input.ndim} dimensions")
    if r < 0:
        raise ArgumentValueError(f"combinations: r must not be negative, not {r}")
    if r == 0:
        return input.new_empty((0,))  # type: ignore[attr-defined, no-any-return]
    size = input._array.shape[0]
    chosen = (
        itertools.combinations_with_replacement(range(size), r)
        if with_replacement
        else itertools.combinations(range(size), r)
    )
    places = [place for row in chosen for place in row]
    index = input.new_tensor(places).long()  # type: ignore[attr-defined]
    return reshape(input.index_select(0, index), -1, r)  # type: ignore[attr-defined, no-any-return]
