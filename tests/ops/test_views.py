"""What views share, and what writes through them do."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.errors import InplaceError, ShapeError


def test_a_number_of_a_vector_is_a_view() -> None:
    x = tg.zeros(3)
    x[0].add_(5)
    assert x.tolist() == [5, 0, 0]


def test_rows_are_views() -> None:
    x = tg.zeros(2, 2)
    for row in x:
        row += 1
    assert x.tolist() == [[1, 1], [1, 1]]


def test_negative_steps_are_views() -> None:
    x = tg.arange(5.0)
    x[::-2][0] = 9
    assert x.tolist() == [0, 1, 2, 3, 9]
    assert x[::-1].stride() == (-1,)
    assert x[3:0:-1].tolist() == [3, 2, 1]


def test_gradient_through_a_negative_step() -> None:
    x = tg.arange(4.0, requires_grad=True)
    (x[::-1] * tg.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [4, 3, 2, 1]


def test_as_strided_is_of_the_storage() -> None:
    tail = tg.arange(6.0)[3:]
    assert tail.as_strided((6,), (1,), 0).tolist() == [0, 1, 2, 3, 4, 5]
    assert tail.as_strided((2,), (1,)).tolist() == [3, 4]


def test_as_strided_of_another_order() -> None:
    x = tg.arange(6.0).reshape(2, 3).t().clone()
    assert x.as_strided((6,), (1,), 0).tolist() == [0, 1, 2, 3, 4, 5]


def test_overlapping_strides_add_their_gradients() -> None:
    x = tg.zeros(4, requires_grad=True)
    (x * 1).as_strided((3, 2), (1, 1)).sum().backward()
    assert x.grad.tolist() == [1, 2, 2, 1]


def test_writes_through_windows_keep_what_no_window_covers() -> None:
    x = tg.arange(5.0, requires_grad=True)
    y = x * 1
    y.unfold(0, 1, 2).mul_(10)
    y.sum().backward()
    assert y.tolist() == [0, 1, 20, 3, 40]
    assert x.grad.tolist() == [10, 1, 10, 1, 10]


def test_writes_through_a_turned_and_flattened_view() -> None:
    x = tg.arange(6.0).reshape(2, 3).requires_grad_()
    y = (x * 1).t().contiguous().t()
    y.t().view(-1)[1:3].mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [[1, 10, 1], [10, 1, 1]]


def test_a_diagonal_can_be_written() -> None:
    x = tg.zeros(2, 3)
    x.diagonal(1)[:] = tg.tensor([1.0, 2.0])
    assert x.tolist() == [[0, 1, 0], [0, 0, 2]]


@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(wrap: bool) -> None:
    wanted = np.zeros((7, 3), "f4")
    np.fill_diagonal(wanted, 4, wrap)
    assert tg.zeros(7, 3).fill_diagonal_(4, wrap).tolist() == wanted.tolist()


def test_fill_diagonal_of_a_cube() -> None:
    wanted = np.zeros((2, 2, 2), "f4")
    np.fill_diagonal(wanted, 1)
    assert tg.zeros(2, 2, 2).fill_diagonal_(1).tolist() == wanted.tolist()


def test_expanded_memory_is_not_written() -> None:
    with pytest.raises(InplaceError, match="share one place"):
        tg.zeros(1).expand(3).add_(1)


def test_partial_overlap_is_not_written() -> None:
    x = tg.arange(4.0)
    with pytest.raises(InplaceError, match="overlap"):
        x[1:] = x[:-1]
    with pytest.raises(InplaceError, match="overlap"):
        x[1:].add_(x[:-1])
    assert x.tolist() == [0, 1, 2, 3]


def test_parts_of_a_split_are_not_written_under_grad() -> None:
    x = tg.ones(4, requires_grad=True)
    for parts in ((x * 1).split(2), (x * 1).chunk(2), (x * 1).unbind()):
        with pytest.raises(InplaceError):
            parts[0].mul_(2)


def test_parts_of_a_split_are_written_without_grad() -> None:
    x = tg.ones(4)
    x.split(2)[0].mul_(3)
    assert x.tolist() == [3, 3, 1, 1]


def test_reshape_shares_where_it_can() -> None:
    x = tg.zeros(2, 3)
    x.reshape(6)[0] = 1
    assert x[0, 0].item() == 1
    turned = x.t()
    turned.reshape(6)[1] = 5
    assert 5 not in x.flatten().tolist()
    with pytest.raises(ShapeError, match="use reshape"):
        turned.view(6)


def test_the_same_object_where_nothing_changes() -> None:
    x = tg.zeros(2, 3)
    assert x.contiguous() is x
    assert x.flatten(1) is x
    assert x.view(2, 3) is not x


def test_view_write_of_the_right_shape_only() -> None:
    x = tg.zeros(2, 3)
    with pytest.raises(ShapeError):
        x[0] = tg.ones(4)
    assert x.sum().item() == 0
