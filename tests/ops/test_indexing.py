"""Indices: what they mean, what they refuse, and that a refusal changes nothing."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.errors import (
    DTypeError,
    ElementIndexError,
    IndexRangeError,
    NotSupportedError,
)


def test_neighbouring_and_separate_index_tensors() -> None:
    x = tg.zeros(2, 3, 4)
    assert tuple(x[[0, 1], :, [0, 1]].shape) == (2, 3)
    assert tuple(x[:, [0, 1], [0, 1]].shape) == (2, 2)
    assert tuple(x[0, :, [0, 1]].shape) == (3, 2)


def test_bools_add_a_dimension() -> None:
    x = tg.zeros(2)
    assert tuple(x[True].shape) == (1, 2)
    assert tuple(x[False].shape) == (0, 2)
    assert tuple(x[np.True_].shape) == (1, 2)


def test_a_bare_nested_list_is_a_tuple() -> None:
    x = tg.arange(9).reshape(3, 3)
    with pytest.warns(UserWarning, match="taken as a tuple"):
        found = x[[[0, 1], [1, 2]]]
    assert found.tolist() == [1, 5]


@pytest.mark.parametrize("key", [(tg.tensor([0, 9]),), (9,), (0, 0, 0), 1.5])
def test_a_refused_index_writes_nothing(key: object) -> None:
    x = tg.zeros(3, 2)
    with pytest.raises(IndexRangeError):
        x[key] = 1
    assert x.sum().item() == 0


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.scatter_(0, tg.tensor([0, 7]), 1.0),
        lambda x: x.index_put_((tg.tensor([0, 7]),), tg.ones(2)),
        lambda x: x.index_add_(0, tg.tensor([0, 7]), tg.ones(2)),
        lambda x: x.index_copy_(0, tg.tensor([0, 7]), tg.ones(2)),
        lambda x: x.index_fill_(0, tg.tensor([0, 7]), 1.0),
        lambda x: x.put_(tg.tensor([0, 7]), tg.ones(2)),
        lambda x: x.masked_scatter_(tg.tensor([True, True, True]), tg.ones(2)),
    ],
)
def test_a_refused_write_in_place_changes_nothing(write: object) -> None:
    x = tg.zeros(3)
    with pytest.raises((IndexError, RuntimeError)):
        write(x)  # type: ignore[operator]
    assert x.tolist() == [0, 0, 0]
    assert x._version == 0


def test_in_place_forms() -> None:
    x = tg.zeros(3)
    assert x.index_fill_(0, tg.tensor([-1]), 2.0) is x
    x.scatter_(0, tg.tensor([0]), 5.0).masked_fill_(tg.tensor([False, True, False]), 1)
    assert x.tolist() == [5, 1, 2]


def test_gather_and_index_select_reject_negative_indices() -> None:
    x, minus = tg.arange(3.0), tg.tensor([-1])
    with pytest.raises(ElementIndexError):
        x.gather(0, minus)
    with pytest.raises(IndexRangeError):
        x.index_select(0, minus)
    assert x.take(minus).tolist() == [2]


def test_adding_at_duplicates_once_or_each() -> None:
    x = tg.zeros(3)
    x[[0, 0]] += 1
    assert x.tolist() == [1, 0, 0]
    x.index_put_((tg.tensor([0, 0]),), tg.ones(2), accumulate=True)
    assert x.tolist() == [3, 0, 0]


def test_duplicates_accumulate_gradients() -> None:
    x = tg.zeros(3, requires_grad=True)
    x[[0, 0, 2]].sum().backward()
    assert x.grad.tolist() == [2, 0, 1]


def test_half_precision_gradients_are_summed_in_single() -> None:
    x = tg.zeros(1, dtype=tg.float16, requires_grad=True)
    x[tg.zeros(4096, dtype=tg.int64)].sum().backward()
    assert x.grad.tolist() == [4096]


def test_numbers_that_do_not_fit_are_refused() -> None:
    x = tg.zeros(3, dtype=tg.uint8)
    with pytest.raises(DTypeError):
        x[0] = 300
    with pytest.raises(DTypeError):
        x[0] = float("nan")
    x[0] = 2.7
    x[1] = -1
    assert x.tolist() == [2, 255, 0]


def test_writing_a_slice_of_nothing() -> None:
    x = tg.ones(3)
    x[:0] = 2
    x[3:] = 5
    assert x.tolist() == [1, 1, 1]


def test_writing_tracked_values_element_by_element() -> None:
    p = tg.tensor([[1.0, 2.0], [5.0, 7.0], [7.0, 11.0]], requires_grad=True)
    filled = tg.zeros(3)
    for row in range(3):
        filled[row] = (p[row] * p[0]).sum()
    filled.sum().backward()
    assert p.grad.tolist() == [[14, 22], [1, 2], [1, 2]]


def test_no_size_is_known_on_the_meta_device() -> None:
    x = tg.zeros(3, device="meta")
    assert tuple(x[[0, 1]].shape) == (2,)
    with pytest.raises(NotSupportedError, match="depends on the data"):
        x.nonzero()


def test_padding_gets_no_gradient() -> None:
    weight = tg.ones(3, 2, requires_grad=True)
    tg.embedding(weight, tg.tensor([0, 1, 1]), 1).sum().backward()
    assert weight.grad.tolist() == [[1, 1], [0, 0], [0, 0]]
