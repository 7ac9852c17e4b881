"""Kernels that work on a part of the batch at a time: the parts make the whole."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.ops import _attention_heads, _indices, correlation

F = tg.nn.functional


def _normals(*shape, seed=0):
    data = np.random.default_rng(seed).normal(size=shape)
    return tg.tensor(data, requires_grad=True)


def _convolved(groups, transposed):
    x, weight = _normals(5, 4, 7, 6), _normals(4, 4 // groups, 3, 2, seed=1)
    convolution = F.conv_transpose2d if transposed else F.conv2d
    result = convolution(x, weight, stride=2, padding=1, groups=groups)
    (result * result.cos()).sum().backward()
    return [result.detach(), x.grad, weight.grad]


def _attended():
    q, k, v = (_normals(3, 2, 5, 4, seed=s) for s in range(3))
    result = F.scaled_dot_product_attention(q, k, v, _normals(3, 2, 5, 5).detach())
    (result * result.cos()).sum().backward()
    return [result.detach(), q.grad, k.grad, v.grad]


def _same(found, wanted):
    for f, w in zip(found, wanted, strict=True):
        np.testing.assert_allclose(f.numpy(), w.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("chunk", [1, 1200])
def test_convolution(monkeypatch, groups, transposed, chunk):
    whole = _convolved(groups, transposed)
    monkeypatch.setattr(correlation, "_CHUNK", chunk)
    _same(_convolved(groups, transposed), whole)


def test_weight_gradients_in_one_product(monkeypatch):
    by_chunks = _convolved(2, False)
    monkeypatch.setattr(correlation, "_SMALL", 0)
    _same(_convolved(2, False), by_chunks)


@pytest.mark.parametrize("chunk", [1, 60])
def test_attention(monkeypatch, chunk):
    whole = _attended()
    monkeypatch.setattr(_attention_heads, "_CHUNK", chunk)
    _same(_attended(), whole)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_rows_added_slice_by_slice(monkeypatch, dim):
    places = tg.tensor([2, 0, 2, 1])
    into, given = _normals(9, 4, 40), _normals(9, 4, 40, seed=1)
    source = given.index_select(dim, tg.tensor([0, 1, 2, 0]))
    by_slices = into.index_add(dim, places, source)
    monkeypatch.setattr(_indices, "_LONG_SLICE", 10**6)
    _same([by_slices.detach()], [into.index_add(dim, places, source).detach()])
