"""Attention with several heads: projections around `scaled_dot_product_attention`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_
from tracegrad.errors import ArgumentError, DTypeError, ShapeError
from tracegrad.nn.functions.attention import scaled_dot_product_attention
from tracegrad.ops.contraction import linear, matmul
from tracegrad.ops.creation import full_like, zeros
from tracegrad.ops.dropout import dropout
from tracegrad.ops.joining import cat
from tracegrad.ops.normalizing import softmax
from tracegrad.ops.padding import pad
from tracegrad.ops.selection import where


def as_added_mask(mask: Any, name: str, like: Tensor) -> Any:
    """Return a mask that is added to scores; a bool one marks what is hidden.

    Raises
    ------
    DTypeError
        If it is neither bool nor floating.
    """
    if mask is None:
        return None
    if mask.dtype is bool_:
        hidden = full_like(mask, -math.inf, dtype=like.dtype)
        return where(mask, hidden, 0.0)
    if mask.dtype.kind != "float":
        raise DTypeError(f"{name} must be bool or floating, not {mask.dtype}")
    return mask


@final
@dataclass(frozen=True, slots=True)
class Projection:
    """The matrices through which queries, keys and values go, and their shifts.

    Attributes
    ----------
    packed : Tensor, shape (3 * features, features), or None
    separate : tuple of three Tensors or None
        In place of `packed`.
    bias : Tensor, shape (3 * features,), or None
    """

    packed: Any
    separate: tuple[Any, Any, Any] | None
    bias: Any

    def __call__(self, query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
        """Return the projected queries, keys and values."""
        if self.separate is None and query is key and key is value:
            joint: Any = linear(query, self.packed, self.bias)
            first, second, third = joint.chunk(3, -1)
            return first, second, third
        matrices = self.packed.chunk(3) if self.separate is None else self.separate
        shifts = (None,) * 3 if self.bias is None else self.bias.chunk(3)
        q, k, v = (
            linear(given, matrix, shift)
            for given, matrix, shift in zip(
                (query, key, value), matrices, shifts, strict=True
            )
        )
        return q, k, v


def _checked_ranks(query: Any, key: Any, value: Any) -> bool:
    """Return whether there is a batch dimension."""
    if query.ndim not in (2, 3):
        raise ShapeError(
            "multi_head_attention_forward: the query must have 2 or 3 dimensions, not "
            f"{query.ndim}"
        )
    if key.ndim != query.ndim or value.ndim != query.ndim:
        raise ShapeError(
            "multi_head_attention_forward: query, key and value must have as many "
            f"dimensions, not {query.ndim}, {key.ndim} and {value.ndim}"
        )
    return bool(query.ndim == 3)


def _wide_mask(mask: Any, heads: int, batch: int, queries: int, keys: int) -> Any:
    """Return an added mask of shape (1 or batch, 1 or heads, queries, keys)."""
    if mask is None:
        return None
    wanted = {2: (queries, keys), 3: (batch * heads, queries, keys)}.get(mask.ndim)
    if wanted is None or tuple(mask.shape) != wanted:
        raise ShapeError(
            f"the shape of attn_mask is {list(mask.shape)}; ({queries}, {keys}) or "
            f"({batch * heads}, {queries}, {keys}) is wanted"
        )
    if mask.ndim == 2:
        return mask.reshape(1, 1, queries, keys)
    return mask.reshape(batch, heads, queries, keys)


def _weighted(q: Any, k: Any, v: Any, mask: Any, dropout_p: float) -> tuple[Any, Any]:
    """Return weighted means of the values, and the weights."""
    scores: Any = matmul(q * (1.0 / math.sqrt(q.shape[-1])), k.transpose(-2, -1))
    if mask is not None:
        scores = scores + mask
    weights = softmax(scores, -1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return matmul(weights, v), weights


def _with_extra(
    k: Any, v: Any, mask: Any, padding: Any, bias_k: Any, bias_v: Any, zero: bool
) -> tuple[Any, Any, Any, Any]:
    """Append a learned key and value, and ones of zeros, where asked."""
    batch = k.shape[1]
    extra = []
    if bias_k is not None:
        shape = (1, batch, k.shape[2])
        extra.append((bias_k.expand(*shape), bias_v.expand(*shape)))
    if zero:
        nothing = zeros(1, batch, k.shape[2], dtype=k.dtype, device=k.device)
        extra.append((nothing, nothing))
    for key, value in extra:
        k, v = cat([k, key], 0), cat([v, value], 0)
        mask = None if mask is None else pad(mask, (0, 1))
        padding = None if padding is None else pad(padding, (0, 1))
    return k, v, mask, padding


def _split(x: Any, heads: int) -> Any:
    """Return (length, batch, features) as (batch, heads, length, head features)."""
    length, batch, features = x.shape
    return x.reshape(length, batch, heads, features // heads).permute(1, 2, 0, 3)


def attend(
    query: Any,
    key: Any,
    value: Any,
    heads: int,
    projection: Projection,
    extra: tuple[Any, Any, bool],
    dropout_p: float,
    masks: tuple[Any, Any],
    need_weights: bool,
) -> tuple[Any, Any]:
    """Return what the heads see, side by side, and their weights if asked.

    Parameters
    ----------
    query, key, value : Tensor, shape (length, batch, features)
    heads : int
    projection : Projection
    extra : tuple
        A learned key and value or None, and whether a key of zeros is added.
    dropout_p : float
    masks : tuple of Tensor or None
        Added to all scores, and to those of (batch, keys).
    need_weights : bool

    Returns
    -------
    tuple
        Shapes (length, batch, features) and (batch, heads, queries, keys).
    """
    q, k, v = projection(query, key, value)
    k, v, mask, padding = _with_extra(k, v, *masks, *extra)
    queries, batch, features = q.shape
    keys = k.shape[0]
    mask = _wide_mask(mask, heads, batch, queries, keys)
    if padding is not None:
        hidden = padding.reshape(batch, 1, 1, keys)
        mask = hidden if mask is None else mask + hidden
    parts = _split(q, heads), _split(k, heads), _split(v, heads)
    if need_weights:
        result, weights = _weighted(*parts, mask, dropout_p)
    else:
        weights = None
        result = scaled_dot_product_attention(*parts, mask, dropout_p)
    return result.permute(2, 0, 1, 3).reshape(queries, batch, features), weights


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return attention with several heads, and the weights if asked.

    Parameters
    ----------
    query, key, value : Tensor, shape (length, batch, features) or (length, features)
    embed_dim_to_check, num_heads : int
    in_proj_weight, in_proj_bias : Tensor or None
        The projections of queries, keys and values, one below the other.
    bias_k, bias_v : Tensor or None
        A key and a value more, which are learned.
    add_zero_attn : bool
        Whether a key and a value of zeros are added.
    dropout_p : float
    out_proj_weight, out_proj_bias : Tensor or None
    training : bool
        Whether `dropout_p` holds.
    key_padding_mask : Tensor, shape (batch, keys) or (keys,), optional
        Bool: which keys nobody sees. Floating: added to the scores.
    need_weights, average_attn_weights : bool
        Whether the weights are returned, and as their mean over the heads.
    attn_mask : Tensor, optional
        Of shape (queries, keys) or (batch * heads, queries, keys).
        Bool: which keys a query does not see. Floating: added to the scores.
    use_separate_proj_weight : bool
    q_proj_weight, k_proj_weight, v_proj_weight : Tensor, optional
        In place of `in_proj_weight`.
    static_k, static_v : None
        Not available.
    is_causal : bool
        Says that `attn_mask` is the causal one, which must be given.

    Raises
    ------
    ShapeError, DTypeError
        If a shape does not fit, or a mask is neither bool nor floating.

    Notes
    -----
    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.2.
    """
    if static_k is not None or static_v is not None:
        raise ArgumentError("multi_head_attention_forward: static_k is not available")
    if is_causal and attn_mask is None:
        raise ShapeError("is_causal is a hint: attn_mask must be given with it")
    batched = _checked_ranks(query, key, value)
    _checked_features(query, embed_dim_to_check, num_heads)
    padding = as_added_mask(key_padding_mask, "key_padding_mask", query)
    mask = as_added_mask(attn_mask, "attn_mask", query)
    if not batched:
        query, key, value = _with_batch(query, key, value)
        padding = None if padding is None else padding.unsqueeze(0)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    projection = Projection(
        in_proj_weight, separate if use_separate_proj_weight else None, in_proj_bias
    )
    seen, weights = attend(
        query,
        key,
        value,
        num_heads,
        projection,
        (bias_k, bias_v, add_zero_attn),
        dropout_p if training else 0.0,
        (mask, padding),
        need_weights,
    )
    result: Any = linear(seen, out_proj_weight, out_proj_bias)
    if weights is not None and average_attn_weights:
        weights = weights.mean(1)
    if batched:
        return result, weights
    return result.squeeze(1), None if weights is None else weights.squeeze(0)


def _with_batch(*tensors: Any) -> tuple[Any, ...]:
    """Add a batch of one, the same tensor staying the same."""
    wide = {id(x): x.unsqueeze(1) for x in tensors}
    return tuple(wide[id(x)] for x in tensors)


def _checked_features(query: Any, features: int, heads: int) -> None:
    if query.shape[-1] != features:
        raise ShapeError(
            f"was expecting embedding dimension of {features}, but got "
            f"{query.shape[-1]}"
        )
    if features % heads:
        raise ShapeError(f"embed_dim {features} not divisible by num_heads {heads}")
