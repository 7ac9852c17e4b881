"""Attention: weighted means of values, weighted by how queries and keys agree."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_
from tracegrad.errors import ArgumentValueError, DTypeError, ShapeError
from tracegrad.ops.attention import attention, attention_weights
from tracegrad.ops.contraction import matmul
from tracegrad.ops.creation import ones, zeros
from tracegrad.ops.dropout import dropout
from tracegrad.ops.movement import tril
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


def _added(mask: Any, like: Any) -> Any:
    """Return a mask that is added to the scores."""
    if mask.dtype is bool_:
        nothing = zeros(dtype=like.dtype, device=like.device)
        return where(mask, nothing, -math.inf)
    return mask


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
    mask = attn_mask
    if is_causal:
        mask = causal_mask(query.shape[-2], key.shape[-2], query)
    if mask is not None:
        mask = _added(mask, query)

    if dropout_p > 0.0:
        weights = dropout(attention_weights(query, key, mask, factor), dropout_p)
        return matmul(weights, value)  # type: ignore[no-any-return]
    return attention(query, key, value, mask, factor)  # type: ignore[no-any-return]
