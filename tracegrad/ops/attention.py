"""Attention weights applied to values: a composite with a kernel pair."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops import _attention_heads
from tracegrad.ops._families import composite
from tracegrad.ops.contraction import matmul
from tracegrad.ops.normalizing import softmax
from tracegrad.ops.selection import where


def attention_weights(query: Any, key: Any, mask: Any, scale: float) -> Any:
    """Return the softmax of scores; a row of -inf in the mask sees nothing: zeros."""
    scores: Any = matmul(query * scale, key.transpose(-2, -1))
    if mask is None:
        return softmax(scores, -1)
    nothing = (mask == -math.inf).all(-1, True)
    seen = where(nothing, 0.0, mask)
    return where(nothing, 0.0, softmax(scores + seen, -1))


def _examples(rng: Any) -> list[tuple[Any, Any]]:
    q, k, v = (rng.normal(size=(2, 3, n, f)) for n, f in ((5, 4), (6, 4), (6, 3)))
    flat = rng.normal(size=(5, 6))
    flat[1, 2:], flat[3] = -math.inf, -math.inf
    turned = _turned(rng.normal(size=(2, 5, 3, 4)))
    return [
        ((q, k, v, None), {"scale": 0.5}),
        ((q, k, v, flat), {"scale": 0.5}),
        ((q, k, v, rng.normal(size=(2, 1, 5, 6))), {"scale": 0.5}),
        ((turned, k, v, rng.normal(size=6)), {"scale": -1.0}),
        ((q[0, 0], k[0, 0], v[0, 0], None), {"scale": 1.0}),
    ]


def _turned(array: Any) -> Any:
    """Return heads as layers make them: a view whose heads are no block of memory."""
    return array.swapaxes(1, 2)


@composite(public=False, method=False, examples=_examples)
def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float
) -> Tensor:
    """Means of values, weighted by the softmax of scaled, masked scores.

    A query whose row of the mask is -inf sees nothing, and gets zeros.

    Source: Vaswani et al., "Attention Is All You Need" (2017), equation 1.
    """
    return matmul(attention_weights(query, key, mask, scale), value)  # type: ignore[no-any-return]


attention.kernels(
    forward=_attention_heads.run,
    backward=_attention_heads.back,
    serves=_attention_heads.serves,
    reads=("key", "value"),
    any_layout=True,
)
