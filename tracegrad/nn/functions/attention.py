"""Attention: weighted means of values, weighted by how queries and keys agree."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_
from tracegrad.errors import ArgumentValueError, DTypeError, ShapeError
from tracegrad.ops.contraction import matmul
from tracegrad.ops.creation import ones
from tracegrad.ops.dropout import dropout
from tracegrad.ops.movement import tril
from tracegrad.ops.normalizing import softmax
from tracegrad.ops.selection import where


def causal_mask(queries: int, keys: int, like: Tensor) -> Any:
    """Return which keys each query may see: those not after it, bool."""
    return tril(ones(queries, keys, dtype=bool_, device=like.device))


def _checked(query: Tensor, key: Tensor, value: Tensor) -> None:
    if len({query.dtype, key.dtype, value.dtype}) > 1:
        raise DTypeError(
            "scaled_dot_product_attention: query, key and value must have one dtype, "
            f"not {query.dtype}, {key.dtype} and {value.dtype}"
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise ShapeError(
            "scaled_dot_product_attention: query, key and value need at least two "
            f"dimensions, not {query.ndim}, {key.ndim} and {value.ndim}"
        )


def _shared_heads(query: Tensor, key: Any, value: Any) -> tuple[Any, Any]:
    """Repeat the heads of keys and values, each for its group of query heads."""
    heads = query.shape[-3]
    if heads % key.shape[-3] or heads % value.shape[-3]:
        raise ShapeError(
            "scaled_dot_product_attention: the query's heads must be a multiple of the "
            f"key's and value's, not {heads}, {key.shape[-3]} and {value.shape[-3]}"
        )
    return (
        key.repeat_interleave(heads // key.shape[-3], -3),
        value.repeat_interleave(heads // value.shape[-3], -3),
    )


def _masked(scores: Any, mask: Any) -> tuple[Any, Any]:
    """Return the scores with the mask applied, and which queries may see nothing."""
    if mask.dtype is bool_:
        nothing = ~mask.any(-1, True)
        return where(mask | nothing, scores, -math.inf), nothing
    nothing = (mask == -math.inf).all(-1, True)
    return scores + where(nothing, 0.0, mask), nothing


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return the means of `value`, weighted by the softmax of ``query @ key.T``.

    Parameters
    ----------
    query : Tensor, shape (..., heads, queries, features)
    key : Tensor, shape (..., heads, keys, features)
    value : Tensor, shape (..., heads, keys, value features)
    attn_mask : Tensor, shape broadcast to (..., queries, keys), optional
        Bool: which keys each query sees. Floating: added to the scores.
    dropout_p : float
        With what probability a weight is set to zero; also in evaluation, so give 0.
    is_causal : bool
        Whether a query sees no key after its own position.
    scale : float, optional
        What the scores are multiplied with; ``1 / sqrt(features)`` if not given.
    enable_gqa : bool
        Whether several query heads share a head of keys and values.

    Returns
    -------
    Tensor, shape (..., heads, queries, value features)
        Zeros for a query that sees no key.

    Raises
    ------
    ArgumentValueError
        If both a mask and `is_causal` are given.
    DTypeError
        If the dtypes differ.

    Notes
    -----
    Source: Vaswani et al., "Attention Is All You Need" (2017).
    """
    _checked(query, key, value)
    if attn_mask is not None and is_causal:
        raise ArgumentValueError(
            "scaled_dot_product_attention: give attn_mask or is_causal, not both"
        )
    if enable_gqa:
        key, value = _shared_heads(query, key, value)
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores: Any = matmul(query * factor, key.transpose(-2, -1))  # type: ignore[operator, attr-defined]
    nothing = None
    if is_causal:
        seen = causal_mask(query.shape[-2], key.shape[-2], query)
        scores = where(seen, scores, -math.inf)
    elif attn_mask is not None:
        scores, nothing = _masked(scores, attn_mask)
    weights: Any = softmax(scores, -1)
    if nothing is not None:
        weights = where(nothing, 0.0, weights)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return matmul(weights, value)
