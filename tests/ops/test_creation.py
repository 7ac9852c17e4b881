"""New tensors: dtypes that follow from data, devices, layouts, shared memory."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (True, tg.bool),
        (3, tg.int64),
        (2.5, tg.float32),
        (1j, tg.complex64),
        ([True, 2], tg.int64),
        ([1, 2.5], tg.float32),
        ([], tg.float32),
        (np.float64(1), tg.float64),
        (np.arange(3, dtype="i2"), tg.int16),
        ([np.float64(1.0)], tg.float64),
    ],
)
def test_dtypes_follow_from_data(data: object, dtype: tg.dtype) -> None:
    assert tg.tensor(data).dtype is dtype


def test_what_no_tensor_is_made_of() -> None:
    with pytest.raises(ArgumentTypeError):
        tg.tensor("text")
    with pytest.raises(ArgumentError, match="equal lengths"):
        tg.tensor([[1], [2, 3]])
    with pytest.raises(DTypeError):
        tg.tensor(300, dtype=tg.uint8)
    with pytest.raises(ShapeError):
        tg.zeros(-1)


def test_copies_and_shared_memory() -> None:
    array = np.zeros(2, "f4")
    copied, shared, as_it_is = (
        tg.tensor(array),
        tg.from_numpy(array),
        tg.as_tensor(array),
    )
    array[0] = 5
    assert copied.tolist() == [0, 0]
    assert shared.tolist() == as_it_is.tolist() == [5, 0]
    assert tg.as_tensor(shared) is shared


def test_negative_strides_are_taken() -> None:
    x = tg.from_numpy(np.arange(3.0)[::-1])
    x[0] = 7
    assert x.tolist() == [7, 1, 0]


def test_requires_grad_and_device() -> None:
    for make in (tg.zeros, tg.ones, tg.empty):
        assert make(2, requires_grad=True).requires_grad
        assert make(2, device="meta").is_meta
    assert tg.eye(2, requires_grad=True).is_leaf
    assert tg.arange(3.0, device="meta").is_meta
    assert tg.tensor([1.0], device="meta").is_meta


def test_likeness() -> None:
    x = tg.zeros(2, 3, 4, dtype=tg.float64).permute(2, 0, 1)
    for like in (tg.zeros_like(x), tg.ones_like(x), tg.full_like(x, 3)):
        assert like.stride() == x.stride()
        assert like.dtype is tg.float64
    gaps = tg.zeros(4, 4)[::2, ::2]
    assert tg.zeros_like(gaps).is_contiguous()


def test_constructor() -> None:
    assert tg.Tensor([1, 2]).dtype is tg.float32
    assert tuple(tg.Tensor(2, 3).shape) == (2, 3)
    assert tg.Tensor().numel() == 0


def test_sizes_may_be_any_index() -> None:
    assert tuple(tg.zeros(np.int64(2), tg.tensor(3)).shape) == (2, 3)
    with pytest.raises(ArgumentTypeError):
        tg.zeros(2.5)
