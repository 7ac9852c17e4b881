"""Tensors go to PyTorch and back without copies."""

import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool"])
def test_both_ways_share_memory(dtype: str) -> None:
    ours = tg.arange(6).reshape(2, 3).to(getattr(tg, dtype)).t()
    theirs = torch.from_dlpack(ours)
    assert theirs.data_ptr() == ours.data_ptr()
    assert theirs.tolist() == ours.tolist()
    assert theirs.stride() == tuple(ours.stride())
    again = tg.from_dlpack(theirs)
    again.fill_(1)
    assert ours.tolist() == again.tolist()


def test_negative_strides_do_not_end_the_process() -> None:
    assert torch.from_dlpack(tg.arange(3)[::-1]).tolist() == [2, 1, 0]


def test_what_pytorch_refuses_to_give() -> None:
    with pytest.raises(BufferError):
        tg.from_dlpack(torch.ones(1, requires_grad=True))
    with pytest.raises((TypeError, RuntimeError)):
        tg.from_dlpack(torch.ones(1, dtype=torch.bfloat16))
