"""Attention over arrays, a few heads at a time: its kernel pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

# Scores that are worked on at a time: about what a core's cache holds.
_CHUNK = 2**16


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

    def __init__(self, q: Any, k: Any, v: Any, scale: float) -> None:
        self.shapes = (q.shape, k.shape, v.shape)
        self.q = _matrices(q) * q.dtype.type(scale)
        self.k, self.v = _matrices(k), _matrices(v)
        self.scale = q.dtype.type(scale)
        self.mask_shape: Any = None

    def run(self, mask: Any) -> Any:
        """Return the weighted means."""
        if mask is not None:
            self.mask_shape = mask.shape
        if mask is not None and mask.ndim > 2:
            wide = (*self.shapes[0][:-1], self.shapes[1][-2])
            mask = _matrices(np.broadcast_to(mask, wide))
        count, queries, _ = self.q.shape
        keys = self.k.shape[1]
        self.weights = np.empty((count, queries, keys), self.q.dtype)
        self.means = np.empty((count, queries, self.v.shape[2]), self.q.dtype)
        turned = np.swapaxes(self.k, 1, 2)
        for part in _parts(count, queries * keys):
            scores = self.weights[part]
            np.matmul(self.q[part], turned[part], out=scores)
            if mask is not None:
                scores += mask[part] if mask.ndim > 2 else mask
            _softmax_in(scores)
            np.matmul(scores, self.v[part], out=self.means[part])
        shape = (*self.shapes[0][:-1], self.shapes[2][-1])
        return self.means.reshape(shape).copy()

    def back(self, ct: Any, for_mask: bool) -> list[Any]:
        """Return the gradients of queries, keys, values and, if wanted, the mask."""
        ct = _matrices(ct)
        of_q, of_k, of_v = (
            np.empty(x.shape, x.dtype) for x in (self.q, self.k, self.v)
        )
        of_scores = np.empty_like(self.weights) if for_mask else None
        turned = np.swapaxes(self.v, 1, 2)
        _, queries, keys = self.weights.shape
        for part in _parts(len(ct), queries * keys):
            weights, given = self.weights[part], ct[part]
            np.matmul(np.swapaxes(weights, 1, 2), given, out=of_v[part])
            scores = given @ turned[part]
            scores -= np.add.reduce(given * self.means[part], -1, keepdims=True)
            scores *= weights
            if of_scores is not None:
                of_scores[part] = scores
            np.matmul(scores, self.k[part], out=of_q[part])
            np.matmul(np.swapaxes(scores, 1, 2), self.q[part], out=of_k[part])
        of_q *= self.scale
        found = zip((of_q, of_k, of_v), self.shapes, strict=True)
        gradients: list[Any] = [array.reshape(shape) for array, shape in found]
        return [*gradients, None if of_scores is None else self._of_mask(of_scores)]

    def _of_mask(self, of_scores: Any) -> Any:
        """Return the scores' gradient, summed over what the mask was spread over."""
        wide = of_scores.reshape(*self.shapes[0][:-1], self.shapes[1][-2])
        shape = self.mask_shape
        extra = wide.ndim - len(shape)
        if extra:
            wide = np.add.reduce(wide, tuple(range(extra)))
        spread = tuple(d for d, size in enumerate(shape) if size != wide.shape[d])
        return np.add.reduce(wide, spread, keepdims=True) if spread else wide


def serves(query: Any, key: Any, value: Any, mask: Any, scale: float) -> bool:
    """Return whether the shapes are those that the kernels are written for."""
    if min(query.ndim, key.ndim, value.ndim) < 2:
        return False
    front = query.shape[:-2]
    fit = (key.shape[:-1] == value.shape[:-1]) and query.shape[-1] == key.shape[-1]
    if not fit or front != key.shape[:-2]:
        return False
    if mask is None:
        return True
    wide = (*query.shape[:-1], key.shape[-2])
    pairs = zip(reversed(mask.shape), reversed(wide), strict=False)
    return mask.ndim <= len(wide) and all(own in (1, size) for own, size in pairs)


def run(query: Any, key: Any, value: Any, mask: Any, scale: float) -> tuple[Any, Any]:
    """Return the weighted means, and what backward needs."""
    heads = _Heads(query, key, value, scale)
    return heads.run(mask), heads


def back(heads: _Heads, cts: list[Any], wanted: tuple[bool, ...]) -> list[Any]:
    """Return the gradients of query, key, value and mask."""
    return heads.back(cts[0], wanted[3])
