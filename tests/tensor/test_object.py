"""A Tensor as a Python object: copies, pickles, addresses, other libraries."""

import copy
import pickle
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.errors import DeviceError, ScalarError, ShapeError, TracegradError


def restored(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize(
    "make",
    [
        lambda: tg.tensor([[1.0, 2.0], [3.0, 4.0]]),
        lambda: tg.tensor(3),
        lambda: tg.ones(0, 3),
        lambda: tg.tensor([True, False]),
        lambda: tg.tensor([1 + 2j]),
        lambda: tg.arange(6.0).reshape(2, 3).t(),
        lambda: tg.arange(6.0)[1:5:2],
        lambda: tg.arange(6.0)[::-1],
        lambda: tg.arange(24.0).reshape(2, 3, 4).permute(1, 2, 0).clone(),
        lambda: tg.ones(1).expand(3),
        lambda: tg.ones(2, 3, device="meta"),
    ],
)
@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, restored])
def test_a_copy_is_equal(make: Any, copier: Any) -> None:
    x = make()
    y = copier(x)
    assert y is not x
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
    if not x.is_meta:
        assert y.tolist() == x.tolist()
        shared = copier is copy.copy and x.numel() > 0
        assert np.shares_memory(x.numpy(), y.numpy()) == shared
    if copier is not restored:
        assert y.stride() == x.stride() or x.numel() <= 1


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, restored])
def test_parameters_and_attributes_survive(copier: Any) -> None:
    p = tg.Parameter(tg.tensor([1.0, 2.0]))
    p.note = ["mine"]
    q = copier(p)
    assert type(q) is tg.Parameter
    assert q.requires_grad
    assert q.is_leaf
    assert q.note == ["mine"]
    (q * 2).sum().backward()
    assert p.grad is None
    assert not copier(tg.Parameter(tg.ones(1), requires_grad=False)).requires_grad


def test_pickle_drops_the_tape() -> None:
    y = restored(tg.ones(2, requires_grad=True) * 2)
    assert y.is_leaf
    assert y.requires_grad


def test_copy_shares_the_version() -> None:
    x = tg.ones(2)
    copy.copy(x).add_(1)
    assert x.tolist() == [2.0, 2.0]


def test_pickle_and_deepcopy_keep_overlapping_slices() -> None:
    base = tg.arange(8.0)
    for copier in (restored, copy.deepcopy):
        a, b = copier([base[:4], base[2:6]])
        a.mul_(10)
        assert b.tolist() == [20.0, 30.0, 4.0, 5.0]
    assert base.tolist() == list(range(8))


def test_weak_references_and_hash() -> None:
    x = tg.ones(1)
    reference = weakref.ref(x)
    assert {x: 1}[x] == 1
    assert reference() is x
    del x
    assert reference() is None


def test_addresses() -> None:
    x = tg.arange(6.0).reshape(2, 3)
    row = x[1]
    assert row.storage_offset() == 3
    assert row.data_ptr() == x.data_ptr() + 3 * 4
    assert row.untyped_storage() == x.untyped_storage()
    assert row.untyped_storage().data_ptr() == x.data_ptr()
    assert row.untyped_storage().nbytes() == 24
    assert x.nbytes == 24
    assert x.view(2, 3).is_set_to(x)
    assert not row.is_set_to(x)
    assert not x.clone().is_set_to(x)
    assert x.is_same_size(tg.ones(2, 3))
    assert tg.ones(0).data_ptr() == 0
    with pytest.raises(ShapeError, match="meta"):
        tg.ones(1, device="meta").untyped_storage()


def test_array_protocol() -> None:
    x = tg.tensor([1.0, 2.0])
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(x, copy=True), x.numpy())
    assert np.add(x.numpy(), 1).tolist() == [2.0, 3.0]


def test_dlpack_shares_memory_both_ways() -> None:
    x = tg.arange(6.0).reshape(2, 3).t()
    array = np.from_dlpack(x)
    again = tg.from_dlpack(array)
    array[0, 0] = 9
    assert x[0, 0].item() == 9.0
    assert again.tolist() == x.tolist()
    assert x.__dlpack_device__() == (1, 0)
    assert tg.from_dlpack(x).data_ptr() == x.data_ptr()


def test_dlpack_copies_negative_strides() -> None:
    x = tg.arange(3.0)[::-1]
    array = np.from_dlpack(x)
    assert array.tolist() == [2.0, 1.0, 0.0]
    assert array.strides[0] > 0
    assert not np.shares_memory(array, x.numpy())


def test_dlpack_refuses() -> None:
    with pytest.raises(BufferError, match="requires grad"):
        tg.ones(1, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="meta"):
        tg.ones(1, device="meta").__dlpack__()
    with pytest.raises(BufferError, match="bfloat16"):
        tg.ones(1, dtype=tg.bfloat16).__dlpack__()
    with pytest.raises(TypeError, match="__dlpack__"):
        tg.from_dlpack([1.0])


def test_cuda_without_cupy_says_what_to_install(monkeypatch: Any) -> None:
    # `tracegrad.device` is the function; this is its module.
    monkeypatch.setattr(sys.modules["tracegrad.device"], "find_spec", lambda name: None)
    for call in (lambda: tg.ones(1).cuda(), lambda: tg.ones(1).to("cuda")):
        with pytest.raises(DeviceError, match="CuPy"):
            call()
    x = tg.ones(1)
    assert x.cpu() is x


def test_an_error_names_operator_shapes_and_line() -> None:
    with pytest.raises(ShapeError, match=r"add: shapes \[2\] and \[3\]") as info:
        tg.ones(2) + tg.ones(3)
    assert info.value.__notes__ == [f"called at {info.value.location}"]
    assert info.value.location.file == "test_object.py"
    assert info.value.location.line == info.traceback[0].lineno + 1
    with pytest.raises(ScalarError, match="one element"):
        tg.ones(2).item()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: x + "text",
        lambda x: x @ tg.ones(5),
        lambda x: x.view(7),
        lambda x: x[9],
        lambda x: x.sum(3),
        lambda x: x.add_(tg.ones(9)),
        lambda x: x.exp(1, 2, 3),
        lambda x: tg.cat([x, "text"]),
        lambda x: x.to("nowhere"),
        lambda x: x.backward(),
        lambda x: tg.autograd.grad(x, 3),
        lambda x: x.requires_grad_().register_post_accumulate_grad_hook(3)(1),
        lambda x: x.copy_([1]),
        lambda x: x.fill_("text"),
        lambda x: x.fill_(tg.ones(2)),
        lambda x: tg.from_numpy([1]),
        lambda x: tg.tensor(["text"]),
        lambda x: tg.tensor([[1], [1, 2]]),
        lambda x: tg.set_printoptions(profile="wide"),
    ],
)
def test_bad_input_raises_an_error_of_ours_or_pythons_type_error(wrong: Any) -> None:
    with pytest.raises((TracegradError, TypeError)):
        wrong(tg.ones(3))
