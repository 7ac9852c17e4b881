"""Attention with several heads as a layer."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentError
from tracegrad.nn import functional, init
from tracegrad.nn.modules.linear import Linear, empty_parameter
from tracegrad.nn.modules.module import Module


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear`, under the name that it has within attention."""


class MultiheadAttention(Module):
    """Attention with several heads.

    Parameters
    ----------
    embed_dim, num_heads : int
        Features in all, and into how many heads they are split.
    dropout : float
        On the weights, in training.
    bias, add_bias_kv, add_zero_attn : bool
        Whether projections have shifts; whether a learned key and value, and ones of
        zeros, are added.
    kdim, vdim : int, optional
        Features of keys and of values, if others.
    batch_first : bool
        Whether the batch comes first.
    device : Device or str, optional
    dtype : DType, optional

    Raises
    ------
    ArgumentError
        If the heads do not divide the features.
    """

    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ArgumentError(
                f"embed_dim and num_heads must be greater than 0, not {embed_dim} and "
                f"{num_heads}"
            )
        super().__init__()
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.add_zero_attn = add_zero_attn
        self._make_parameters(bias, add_bias_kv, {"device": device, "dtype": dtype})
        self._reset_parameters()

    def _make_parameters(self, bias: bool, extra: bool, options: Any) -> None:
        size = self.embed_dim
        separate = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = empty_parameter((3 * size, size), **options)
            for name in separate:
                self.register_parameter(name, None)
        else:
            for name, width in zip(separate, (size, self.kdim, self.vdim), strict=True):
                setattr(self, name, empty_parameter((size, width), **options))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = empty_parameter((3 * size,), **options)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(size, size, bias, **options)
        if extra:
            self.bias_k = empty_parameter((1, 1, size), **options)
            self.bias_v = empty_parameter((1, 1, size), **options)
        else:
            self.bias_k = self.bias_v = None

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return what the heads see, and the weights if `need_weights`.

        Parameters
        ----------
        query, key, value : Tensor
            Of shape (length, batch, features), (batch, length, features) with
            `batch_first`, or (length, features).
        key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
            As `functional.multi_head_attention_forward` has them.
        """
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = _turned(query, key, value)
        result, weights = functional.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        if turned:
            back: Any = result
            return back.transpose(0, 1), weights
        return result, weights


def _turned(*tensors: Any) -> tuple[Any, ...]:
    """Swap batch and length; the same tensor stays the same."""
    turned: dict[int, Any] = {}
    for x in tensors:
        if id(x) not in turned:
            turned[id(x)] = x.transpose(0, 1)
    return tuple(turned[id(x)] for x in tensors)
