"""Functions of several operators against what they are defined as; no PyTorch."""

import math

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.errors import ArgumentError, NotSupportedError, ShapeError

F = tg.nn.functional


def _normals(*shape, seed=0):
    return tg.tensor(np.random.default_rng(seed).normal(size=shape))


def test_attention_is_a_mean_weighted_by_a_softmax():
    q, k, v = _normals(3, 4), _normals(5, 4, seed=1), _normals(5, 2, seed=2)
    scores = q.numpy() @ k.numpy().T / math.sqrt(4)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    found = F.scaled_dot_product_attention(q, k, v)
    np.testing.assert_allclose(found.numpy(), weights @ v.numpy(), rtol=1e-12)


def test_a_query_that_sees_nothing_gets_zeros_and_no_gradient():
    q, k, v = (_normals(2, 3, seed=s).requires_grad_() for s in range(3))
    mask = tg.tensor([[True, True], [False, False]])
    found = F.scaled_dot_product_attention(q, k, v, mask)
    assert found[1].tolist() == [0.0, 0.0, 0.0]
    found.sum().backward()
    assert q.grad[1].tolist() == [0.0, 0.0, 0.0]
    assert not bool(k.grad.isnan().any())


def test_nearest_repeats_elements_and_linear_keeps_a_line():
    x = tg.arange(4.0).reshape(1, 1, 4)
    twice = F.interpolate(x, scale_factor=2)
    assert twice.flatten().tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    line = F.interpolate(x, 7, mode="linear", align_corners=True)
    assert line.flatten().tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]


def test_infinity_stays_where_it_is_when_resized():
    x = tg.tensor([[[math.inf, 1.0, 1.0, 1.0, 1.0, 1.0]]])
    found = F.interpolate(x, scale_factor=2, mode="linear")
    assert found.flatten().tolist()[4:] == [1.0] * 8


def test_the_identity_grid_reads_the_image():
    image = _normals(1, 2, 4, 5)
    theta = tg.tensor([[[1.0, 0, 0], [0, 1.0, 0]]]).double()
    for aligned in (True, False):
        grid = F.affine_grid(theta, (1, 2, 4, 5), aligned)
        found = F.grid_sample(image, grid, align_corners=aligned)
        np.testing.assert_allclose(found.numpy(), image.numpy(), atol=1e-12)


def test_unshuffle_undoes_shuffle():
    x = _normals(2, 8, 3, 5)
    back = F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2)
    np.testing.assert_array_equal(back.numpy(), x.numpy())
    dealt = F.channel_shuffle(tg.arange(6).reshape(1, 6, 1), 2)
    assert dealt.flatten().tolist() == [0, 3, 1, 4, 2, 5]


def test_unpooling_puts_maxima_back():
    x = _normals(1, 1, 4, 4)
    values, places = F.max_pool2d(x, 2, return_indices=True)
    back = F.max_unpool2d(values, places, 2)
    assert back.shape == x.shape
    kept = back.numpy() != 0
    assert kept.sum() == 4
    np.testing.assert_array_equal(back.numpy()[kept], x.numpy()[kept])


def test_packing_keeps_each_sequence():
    rnn = tg.nn.utils.rnn
    rows = [_normals(n, 2, seed=n) for n in (2, 4, 1)]
    packed = rnn.pack_sequence(rows, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2]
    for row, back in zip(rows, rnn.unpack_sequence(packed), strict=True):
        np.testing.assert_array_equal(row.numpy(), back.numpy())


def test_orthogonal_rows():
    tg.manual_seed(0)
    weight = tg.nn.init.orthogonal_(tg.empty(3, 2, 4))
    flat = weight.reshape(3, 8)
    np.testing.assert_allclose((flat @ flat.T).numpy(), np.eye(3), atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.interpolate(tg.ones(1, 1, 2)), ArgumentError),
        (lambda: F.interpolate(tg.ones(1, 1, 2), 3, mode="x"), NotSupportedError),
        (lambda: F.pixel_shuffle(tg.ones(1, 3, 2, 2), 2), ShapeError),
        (lambda: F.channel_shuffle(tg.ones(1, 3, 2), 2), ShapeError),
        (lambda: F.grid_sample(tg.ones(1, 1, 2), tg.ones(1, 2, 1)), ShapeError),
        (lambda: tg.nn.RNN(2, 3, nonlinearity="x"), ArgumentError),
        (lambda: tg.nn.MultiheadAttention(0, 1), ArgumentError),
    ],
)
def test_mistakes_are_named(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("mask", ["none", "causal", "nobody", "heads"])
def test_attention_is_what_its_operators_say(mask):
    seen = tg.ones(5, 5, dtype=tg.bool).tril()
    options = {
        "none": {},
        "causal": {"is_causal": True},
        "nobody": {"attn_mask": seen & (tg.arange(5) != 0)},
        "heads": {"attn_mask": _normals(2, 1, 5, 5, seed=9)},
    }[mask]
    q, k, v = (_normals(2, 3, 5, 4, seed=s) for s in range(3))
    found = F.scaled_dot_product_attention(q, k, v, **options, scale=0.3)
    scores = q @ k.transpose(-2, -1) * 0.3
    if mask == "heads":
        scores = scores + options["attn_mask"]
    elif mask != "none":
        hidden = ~options.get("attn_mask", seen)
        scores = scores.masked_fill(hidden, -math.inf)
    weights = tg.softmax(scores, -1).nan_to_num()
    np.testing.assert_allclose(found.numpy(), (weights @ v).numpy(), rtol=1e-9)


def test_skipping_the_draws_leaves_the_generator_where_it_stood():
    tg.manual_seed(3)
    wanted = tg.rand(2)
    tg.manual_seed(3)
    layer = tg.nn.utils.skip_init(tg.nn.Linear, 2, 3, device="cpu")
    assert layer.weight.shape == (3, 2)
    assert tg.rand(2).tolist() == wanted.tolist()


def test_old_names_of_init_warn():
    with pytest.warns(FutureWarning, match="constant_"):
        assert tg.nn.init.constant(tg.empty(2), 3.0).tolist() == [3.0, 3.0]


def test_maxima_with_where_they_are():
    values, places = F.max_pool1d_with_indices(tg.tensor([[[1.0, 3, 2, 5]]]), 2)
    assert values.tolist() == [[[3.0, 5.0]]]
    assert places.tolist() == [[[1, 3]]]
