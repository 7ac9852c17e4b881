"""Encoder and decoder layers of a transformer, and stacks of them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ShapeError
from tracegrad.nn import functional, init
from tracegrad.nn.functions.attention import causal_mask
from tracegrad.nn.functions.heads import as_added_mask
from tracegrad.nn.modules.attention import MultiheadAttention
from tracegrad.nn.modules.container import ModuleList
from tracegrad.nn.modules.dropout import Dropout
from tracegrad.nn.modules.linear import Linear
from tracegrad.nn.modules.module import Module
from tracegrad.nn.modules.normalization import LayerNorm
from tracegrad.ops.creation import zeros
from tracegrad.ops.selection import where

Activation = str | Callable[[Tensor], Tensor]


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    """Return the function that a name means.

    Raises
    ------
    ShapeError
        If the name is neither relu nor gelu; PyTorch's class is RuntimeError.
    """
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise ShapeError(f"activation should be relu/gelu, not {activation}")
    found: Callable[[Tensor], Tensor] = getattr(functional, activation)
    return found


class _Layer(Module):
    """What encoder and decoder layers share: a feed-forward part, and norms."""

    norm_count: int

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = {"device": device, "dtype": dtype}
        for name in ("self_attn", "multihead_attn")[: self.norm_count - 1]:
            part = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, **options
            )
            setattr(self, name, part)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **options)
        self.norm_first = norm_first
        for i in range(1, self.norm_count + 1):
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
            setattr(self, f"norm{i}", norm)
        for i in range(1, self.norm_count + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def _attended(
        self,
        attention: Any,
        dropout: Any,
        x: Tensor,
        memory: Tensor | None,
        mask: Any,
        padding: Any,
        is_causal: bool,
    ) -> Any:
        source = x if memory is None else memory
        result, _ = attention(
            x,
            source,
            source,
            key_padding_mask=padding,
            need_weights=False,
            attn_mask=mask,
            is_causal=is_causal,
        )
        return dropout(result)

    def _fed_forward(self, x: Tensor, dropout: Any) -> Any:
        wide = self.dropout(self.activation(self.linear1(x)))
        return dropout(self.linear2(wide))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward part, each with a norm and a shortcut.

    Parameters
    ----------
    d_model, nhead, dim_feedforward : int
        Features, heads, and features between the two linear maps.
    dropout : float
    activation : str or callable
        ``"relu"``, ``"gelu"`` or a function.
    layer_norm_eps : float
    batch_first : bool
    norm_first : bool
        Whether the norms come before the parts, not after.
    bias : bool
    device : Device or str, optional
    dtype : DType, optional

    Notes
    -----
    Source: Vaswani et al., "Attention Is All You Need" (2017).
    """

    norm_count = 2

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the layer's result, of `src`'s shape."""
        padding = as_added_mask(src_key_padding_mask, "src_key_padding_mask", src)
        mask = as_added_mask(src_mask, "src_mask", src)
        around = (self.self_attn, self.dropout1)
        how = (None, mask, padding, is_causal)
        x: Any = src
        if self.norm_first:
            x = x + self._attended(*around, self.norm1(x), *how)
            return x + self._fed_forward(self.norm2(x), self.dropout2)  # type: ignore[no-any-return]
        x = self.norm1(x + self._attended(*around, x, *how))
        return self.norm2(x + self._fed_forward(x, self.dropout2))  # type: ignore[no-any-return]


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, and a feed-forward part.

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first
        As for `TransformerEncoderLayer`.
    norm_first, bias, device, dtype
        As for `TransformerEncoderLayer`.
    """

    norm_count = 3

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the layer's result, of `tgt`'s shape."""
        own = (self.self_attn, self.dropout1)
        other = (self.multihead_attn, self.dropout2)
        to_own: tuple[Any, ...] = (None, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        to_other: tuple[Any, ...] = (
            memory,
            memory_mask,
            memory_key_padding_mask,
            memory_is_causal,
        )
        x: Any = tgt
        if self.norm_first:
            x = x + self._attended(*own, self.norm1(x), *to_own)
            x = x + self._attended(*other, self.norm2(x), *to_other)
            return x + self._fed_forward(self.norm3(x), self.dropout3)  # type: ignore[no-any-return]
        x = self.norm1(x + self._attended(*own, x, *to_own))
        x = self.norm2(x + self._attended(*other, x, *to_other))
        return self.norm3(x + self._fed_forward(x, self.dropout3))  # type: ignore[no-any-return]


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


def _is_causal(mask: Any, told: bool | None) -> bool:
    """Return what was told; it is a hint only, and the mask is what counts."""
    return bool(told) and mask is not None


class TransformerEncoder(Module):
    """A stack of encoder layers, copies of one.

    Parameters
    ----------
    encoder_layer : Module
    num_layers : int
    norm : Module, optional
        Applied at the end.
    enable_nested_tensor, mask_check : bool
        Accepted; they change nothing here.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Return the last layer's result, of `src`'s shape."""
        padding = as_added_mask(src_key_padding_mask, "src_key_padding_mask", src)
        mask = as_added_mask(mask, "mask", src)
        x = src
        for layer in self.layers:
            x = layer(
                x,
                src_mask=mask,
                is_causal=_is_causal(mask, is_causal),
                src_key_padding_mask=padding,
            )
        return x if self.norm is None else self.norm(x)  # type: ignore[no-any-return]


class TransformerDecoder(Module):
    """A stack of decoder layers, copies of one.

    Parameters
    ----------
    decoder_layer : Module
    num_layers : int
    norm : Module, optional
        Applied at the end.
    """

    def __init__(
        self, decoder_layer: Module, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the last layer's result, of `tgt`'s shape."""
        x = tgt
        for layer in self.layers:
            x = layer(
                x,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=_is_causal(tgt_mask, tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return x if self.norm is None else self.norm(x)  # type: ignore[no-any-return]


class Transformer(Module):
    """An encoder and a decoder that attends to its result.

    Parameters
    ----------
    d_model, nhead, num_encoder_layers, num_decoder_layers, dim_feedforward : int
    dropout : float
    activation : str or callable
    custom_encoder, custom_decoder : Module, optional
        In place of the stacks made here.
    layer_norm_eps : float
    batch_first, norm_first, bias : bool
        As for `TransformerEncoderLayer`.
    device : Device or str, optional
    dtype : DType, optional

    Notes
    -----
    Source: Vaswani et al., "Attention Is All You Need" (2017).
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        layout: tuple[Any, ...] = (batch_first, norm_first, bias, device, dtype)

        def final_norm() -> LayerNorm:
            return LayerNorm(
                d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype
            )

        if custom_encoder is None:
            layer: Module = TransformerEncoderLayer(*sizes, *layout)
            self.encoder: Any = TransformerEncoder(
                layer, num_encoder_layers, final_norm()
            )
        else:
            self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*sizes, *layout)
            self.decoder: Any = TransformerDecoder(
                layer, num_decoder_layers, final_norm()
            )
        else:
            self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the decoder's result, of `tgt`'s shape.

        Raises
        ------
        ShapeError
            If the batches or the features differ.
        """
        self._check(src, tgt)
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        return self.decoder(  # type: ignore[no-any-return]
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    def _check(self, src: Tensor, tgt: Tensor) -> None:
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise ShapeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ShapeError(
                "the feature number of src and tgt must be equal to d_model "
                f"({self.d_model})"
            )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Any = None, dtype: Any = None
    ) -> Tensor:
        """Return the mask that hides what comes later: -inf there, 0 elsewhere."""
        nothing: Any = zeros(sz, sz, device=device, dtype=dtype)
        return where(causal_mask(sz, sz, nothing), nothing, -math.inf)  # type: ignore[no-any-return]

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
