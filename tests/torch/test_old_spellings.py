"""Old spellings, honest answers about accelerators, and limits of dtypes."""

import math

import pytest

import tracegrad as tg
import tracegrad.torch as torch
from tracegrad.errors import DeviceError, GradientError, NotSupportedError

NO_GPU = not tg.cuda.is_available()


def test_typed_constructors():
    assert torch.FloatTensor([1, 2]).dtype is tg.float32
    assert torch.LongTensor(2, 3).shape == (2, 3)
    assert torch.LongTensor([2, 3]).tolist() == [2, 3]
    assert torch.ByteTensor(range(3)).tolist() == [0, 1, 2]
    assert isinstance(tg.zeros(1), torch.FloatTensor)
    assert not isinstance(tg.zeros(1), torch.DoubleTensor)
    assert tg.zeros(1).type(torch.DoubleTensor).dtype is tg.float64
    assert tg.zeros(1).type() == "torch.FloatTensor"


def test_default_tensor_type():
    torch.set_default_tensor_type(torch.DoubleTensor)
    try:
        assert tg.tensor(1.0).dtype is tg.float64
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
    assert tg.tensor(1.0).dtype is tg.float32
    with pytest.raises(TypeError, match="FloatTensor"):
        torch.set_default_tensor_type(3)


def test_variable_is_a_tensor():
    x = tg.ones(2)
    v = torch.autograd.Variable(x, requires_grad=True)
    assert isinstance(v, torch.autograd.Variable)
    assert v.requires_grad
    assert v.data_ptr() == x.data_ptr()


def test_new_and_resize():
    x = tg.arange(6)
    assert x.new(2, 3).shape == (2, 3)
    assert x.new([1, 2]).dtype is tg.int64
    start = x.data_ptr()
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.data_ptr() == start
    assert x.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert x.resize_(8)[:6].tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(GradientError, match="resize_"):
        tg.ones(2, requires_grad=True).resize_(3)


def test_set_and_storage():
    x, y = tg.zeros(2), tg.ones(3)
    assert x.set_(y).data_ptr() == y.data_ptr()
    assert x.storage() == y.storage()


def test_what_is_not_here_is_answered_with_no():
    x = tg.zeros(2)
    assert not any((x.is_sparse, x.is_quantized, x.is_mps, x.is_nested))
    assert (x.is_cuda, x.is_cpu, x.get_device()) == (False, True, -1)
    assert x.layout is torch.strided
    assert x.pin_memory() is x
    assert not x.is_pinned()
    assert x.share_memory_() is x
    with pytest.raises(NotSupportedError, match="sparse"):
        x.to_sparse()


@pytest.mark.skipif(not NO_GPU, reason="a GPU is here: the answers are others")
def test_without_a_gpu():
    assert torch.cuda.device_count() == 0
    assert torch.accelerator.current_accelerator() is None
    assert not torch.backends.mps.is_available()
    assert not torch.cuda.is_bf16_supported()
    assert torch.cuda.memory_allocated() == 0
    torch.cuda.manual_seed_all(3)
    torch.cuda.empty_cache()
    with pytest.raises(DeviceError, match=r"cuda\.synchronize\(\): .*CuPy"):
        torch.cuda.synchronize()
    with pytest.raises(DeviceError, match=r"accelerator\.synchronize\(\)"):
        torch.accelerator.synchronize()
    with pytest.raises(DeviceError, match="CuPy"):
        torch.cuda.get_device_name()


def test_switches_may_be_set():
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    with pytest.raises(ValueError, match="highest"):
        torch.set_float32_matmul_precision("low")
    with torch.backends.cuda.sdp_kernel(enable_flash=False):
        pass


def test_limits():
    assert tg.finfo(tg.float32).eps == 2.0**-23
    assert tg.finfo(tg.bfloat16).max == float.fromhex("0x1.fep127")
    assert tg.finfo(tg.complex64).bits == 32
    assert tg.iinfo(tg.uint8).max == 255
    with pytest.raises(TypeError, match="iinfo"):
        tg.finfo(tg.int32)


def test_constants():
    assert (torch.pi, torch.e, torch.inf) == (math.pi, math.e, math.inf)
    assert math.isnan(torch.nan)
    assert torch.newaxis is None


def test_options_of_creation_that_choose_nothing():
    x = tg.zeros(2, layout=tg.strided, pin_memory=True)
    assert tg.ones_like(x, memory_format=tg.preserve_format).tolist() == [1, 1]
    assert tg.empty(1, 2, 3, 4, memory_format=tg.channels_last).stride(1) == 1
    with pytest.raises(NotSupportedError, match="strided"):
        tg.zeros(2, layout="sparse")


def test_old_names_of_reduction():
    x, y = tg.zeros(2, 3), tg.ones(2, 3)
    loss = tg.nn.functional.mse_loss
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert loss(x, y, size_average=False).item() == 6
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert loss(x, y, reduce=False).shape == (2, 3)
    with pytest.warns(UserWarning, match="reduction='mean'"):
        assert tg.nn.L1Loss(True)(x, y).item() == 1
    labels = tg.tensor([0, 2])
    places = tg.nn.functional.cross_entropy(x, labels, None, None, -100, None, "sum")
    named = tg.nn.functional.cross_entropy(x, labels, reduction="sum")
    assert places.item() == named.item()


def test_result_types():
    assert torch.result_type(tg.zeros(2, dtype=tg.int64), 1.0) is tg.float32
    assert torch.can_cast(tg.int64, tg.float32)
    assert not torch.can_cast(tg.float32, tg.int64)


def test_modules_change_type_and_are_captured():
    torch.manual_seed(0)
    layer = torch.nn.Linear(2, 3)
    assert layer.type(torch.DoubleTensor).weight.dtype is tg.float64
    assert layer.type(tg.float32).weight.dtype is tg.float32
    assert layer.share_memory() is layer
    x = tg.ones(1, 2)
    expected = layer(x)
    layer.compile()
    assert tg.equal(layer(x), expected)
    assert tg.equal(layer(x), expected)


def test_the_old_check_of_closeness():
    torch.testing.assert_allclose(tg.ones(2), tg.ones(2, dtype=tg.float64))
    with pytest.raises(AssertionError):
        torch.testing.assert_allclose(tg.ones(2), tg.zeros(2))
