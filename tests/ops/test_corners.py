"""Corners that PyTorch's operator database visits: odd ranks, repeats, nothing."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.nn import functional


@pytest.mark.parametrize(
    "loss",
    [
        lambda x: functional.silu(x),
        lambda x: functional.gelu(x),
        lambda x: functional.mse_loss(x, tg.ones_like(x)),
        lambda x: functional.binary_cross_entropy_with_logits(x, tg.ones_like(x)),
    ],
)
def test_what_has_kernel_pairs_takes_tensors_without_dimensions(loss):
    single = tg.tensor(0.5, requires_grad=True)
    vector = tg.tensor([0.5], requires_grad=True)
    loss(single).backward()
    loss(vector).sum().backward()
    assert single.grad.item() == pytest.approx(vector.grad.item())


def test_gradient_takes_none_for_a_spacing_of_one():
    x = tg.tensor([1.0, 4.0, 9.0])
    assert tg.gradient(x, spacing=None)[0].tolist() == [3, 4, 5]


def test_a_number_has_a_row_of_powers():
    assert tg.linalg.vander(tg.tensor(3), N=3).tolist() == [[1, 3, 9]]


def test_the_sum_to_no_dimensions_counts_bools():
    total = tg.tensor(True).sum_to_size(())
    assert (total.item(), total.dtype) == (1, tg.int64)


def test_losses_of_classes_take_tensors_without_dimensions():
    x, zero = tg.tensor(2.0), tg.tensor(0)
    assert functional.multi_margin_loss(x, zero).item() == 0
    assert functional.multilabel_margin_loss(x, zero).item() == 0


def test_prelu_keeps_the_input_without_dimensions():
    found = functional.prelu(tg.tensor(-2.0), tg.tensor([0.5]))
    assert (found.shape, found.item()) == ((), -1)


def test_local_response_norm_of_nothing_is_nothing():
    empty = tg.zeros(0, 1, 2, dtype=tg.int64)
    found = functional.local_response_norm(empty, 1)
    assert (found.shape, found.dtype) == ((0, 1, 2), tg.int64)


def test_cosine_similarity_sees_broadcast_dimensions():
    a, b = tg.tensor([[[1.0], [2.0]]]), tg.tensor([[[3.0]]])
    cosine = 3 / np.sqrt(5 * 2)
    assert functional.cosine_similarity(a, b, dim=-2).item() == pytest.approx(cosine)


def test_cosine_embedding_loss_takes_integers():
    a, b = tg.tensor([[1, 2]]), tg.tensor([[2, 4]])
    found = functional.cosine_embedding_loss(a, b, tg.tensor([1]))
    assert found.item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        ((-3, 4), [3, 3, 3, 3]),
        ((4, -3), [1, 1, 1, 1]),
        ((-1, 2), [2, 3, 3, 3]),
        ((2, -1), [1, 1, 1, 2]),
        ((-1, -1), [2]),
    ],
)
def test_replicate_keeps_an_end_where_all_is_cut(width, expected):
    x = tg.tensor([[1.0, 2.0, 3.0]])
    assert functional.pad(x, width, "replicate").tolist() == [expected]


def test_the_nuclear_norm_is_the_sum_of_singular_values():
    matrix = tg.tensor([[3.0, 0.0], [0.0, -4.0]])
    assert tg.norm(matrix, "nuc").item() == pytest.approx(7)
    assert tg.norm(matrix[None], "nuc", (1, 2), keepdim=True).shape == (1, 1, 1)
    with pytest.raises(tg.errors.ShapeError, match="nuc"):
        tg.norm(matrix[0], "nuc")


def test_hardtanh_of_integers_is_of_integers():
    found = functional.hardtanh(tg.tensor([-3, 0, 3]), -1.5, 1.5)
    assert (found.tolist(), found.dtype) == ([-1, 0, 1], tg.int64)


def test_a_place_that_is_named_twice_is_filled_once():
    value = tg.tensor(2.0, requires_grad=True)
    filled = tg.zeros(3).index_fill(0, tg.tensor([1, 1, -1]), value)
    filled.sum().backward()
    assert (filled.tolist(), value.grad.item()) == ([0, 2, 2], 2)
