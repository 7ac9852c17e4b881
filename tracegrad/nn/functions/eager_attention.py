"""Attention in eager mode: one node of the tape, a few heads at a time.

The values are those of `attention.by_operators`, which says what is computed, and which
serves under capture, under transforms, with dropout and for second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tracegrad as tg
from tracegrad.dispatch.state import runs_plainly
from tracegrad.dtypes import float32, float64
from tracegrad.ops.conversion import from_numpy

# Scores that are worked on at a time: about what a core's cache holds.
_CHUNK = 2**16


def serves(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Return whether attention can run as one node: eager, on the CPU, not half."""
    if not runs_plainly() or query.dtype not in (float32, float64):
        return False
    given = (query, key, value) if mask is None else (query, key, value, mask)
    if any(x._array.__class__ is not np.ndarray or not x.numel() for x in given):
        return False
    if mask is not None and (mask.requires_grad or mask.dtype is not query.dtype):
        return False
    front = query._array.shape[:-2]
    return bool(front == key._array.shape[:-2] == value._array.shape[:-2])


def _matrices(array: Any) -> Any:
    """Return an array with all dimensions but the last two as one."""
    return array.reshape(-1, *array.shape[-2:])


def _parts(count: int, each: int) -> Iterator[slice]:
    size = max(1, _CHUNK // max(each, 1))
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def _softmax_in(scores: Any) -> None:
    """Overwrite scores by their softmax; by zeros where all are -inf."""
    highest = np.maximum.reduce(scores, -1, keepdims=True)
    highest[highest == -np.inf] = 0
    scores -= highest
    np.exp(scores, out=scores)
    total = np.add.reduce(scores, -1, keepdims=True)
    total[total == 0] = 1
    scores /= total


class _Heads:
    """Attention over arrays; keeps from `run` what `back` needs."""

    def __init__(self, q: Any, k: Any, v: Any, mask: Any, scale: float) -> None:
        self.shapes = (q.shape, k.shape, v.shape)
        self.q = _matrices(q) * q.dtype.type(scale)
        self.k, self.v = _matrices(k), _matrices(v)
        self.scale = q.dtype.type(scale)
        self.mask = mask
        if mask is not None and mask.ndim > 2:
            wide = (*q.shape[:-1], k.shape[-2])
            self.mask = _matrices(np.broadcast_to(mask, wide))

    def run(self) -> Any:
        """Return the weighted means."""
        count, queries, _ = self.q.shape
        keys = self.k.shape[1]
        self.weights = np.empty((count, queries, keys), self.q.dtype)
        self.means = np.empty((count, queries, self.v.shape[2]), self.q.dtype)
        turned = np.swapaxes(self.k, 1, 2)
        mask = self.mask
        for part in _parts(count, queries * keys):
            scores = self.weights[part]
            np.matmul(self.q[part], turned[part], out=scores)
            if mask is not None:
                scores += mask[part] if mask.ndim > 2 else mask
            _softmax_in(scores)
            np.matmul(scores, self.v[part], out=self.means[part])
        shape = (*self.shapes[0][:-1], self.shapes[2][-1])
        return self.means.reshape(shape).copy()

    def back(self, ct: Any) -> tuple[Any, Any, Any]:
        """Return the gradients of queries, keys and values."""
        ct = _matrices(ct)
        of_q, of_k, of_v = (
            np.empty(x.shape, x.dtype) for x in (self.q, self.k, self.v)
        )
        turned = np.swapaxes(self.v, 1, 2)
        _, queries, keys = self.weights.shape
        for part in _parts(len(ct), queries * keys):
            weights, given = self.weights[part], ct[part]
            np.matmul(np.swapaxes(weights, 1, 2), given, out=of_v[part])
            scores = given @ turned[part]
            scores -= np.add.reduce(given * self.means[part], -1, keepdims=True)
            scores *= weights
            np.matmul(scores, self.k[part], out=of_q[part])
            np.matmul(np.swapaxes(scores, 1, 2), self.q[part], out=of_k[part])
        of_q *= self.scale
        found = zip((of_q, of_k, of_v), self.shapes, strict=True)
        q, k, v = (array.reshape(shape) for array, shape in found)
        return q, k, v


class _Attention(tg.autograd.Function):
    """Attention as one node."""

    @staticmethod
    def forward(
        ctx: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, again: Any
    ) -> Any:
        """Return the weighted means."""
        hidden = None if mask is None else mask._array
        heads = _Heads(query._array, key._array, value._array, hidden, scale)
        ctx.save_for_backward(query, key, value)
        ctx.heads = heads
        ctx.again = again
        return from_numpy(heads.run())

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """Return the gradients, by arrays or, to be differentiated, by operators."""
        given = ctx.saved_tensors
        if not tg.is_grad_enabled():
            found = ctx.heads.back(grad_output._array)
            return (*map(from_numpy, found), None, None, None)
        wanted = [x for x in given if x.requires_grad]
        result = ctx.again(*given)
        by_place = iter(
            tg.autograd.grad(result, wanted, grad_output, create_graph=True)
        )
        gradients = [next(by_place) if x.requires_grad else None for x in given]
        return (*gradients, None, None, None)


def attend(
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    scale: float,
    again: Callable[..., Any],
) -> Any:
    """Return attention; `again` computes it from query, key and value by operators."""
    return _Attention.apply(query, key, value, mask, scale, again)
