"""Layers: the numbers that people get wrong, containers, dropout; what raises."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn
from tracegrad.errors import (
    ArgumentError,
    IndexRangeError,
    NotSupportedError,
    ShapeError,
)


def test_batch_norm_normalizes_biased_and_keeps_unbiased():
    layer = nn.BatchNorm1d(1)
    found = layer(tg.tensor([[1.0], [3.0]]))
    np.testing.assert_allclose(found.detach().numpy(), [[-1], [1]], atol=1e-5)
    np.testing.assert_allclose(layer.running_mean.numpy(), [0.2], rtol=1e-6)
    np.testing.assert_allclose(layer.running_var.numpy(), [1.1], rtol=1e-6)
    assert layer.num_batches_tracked.item() == 1
    layer.eval()(tg.tensor([[9.0]]))
    assert layer.num_batches_tracked.item() == 1
    layer.reset_running_stats()
    assert layer.running_var.item() == 1.0


def test_batch_norm_refuses():
    with pytest.raises(ValueError, match="more than one value per channel"):
        nn.BatchNorm1d(2)(tg.ones(1, 2))
    with pytest.raises(ValueError, match="expected 2D or 3D input"):
        nn.BatchNorm1d(2)(tg.ones(1, 2, 3, 4))
    with pytest.raises(ShapeError, match=r"running_mean must have shape \[2\]"):
        nn.BatchNorm1d(3)(tg.ones(4, 2))
    with pytest.raises(ShapeError, match="evaluation"):
        nn.functional.batch_norm(tg.ones(4, 2), None, None)


def test_running_statistics_move_off_the_tape():
    layer = nn.BatchNorm1d(2)
    x = tg.rand(4, 2, requires_grad=True)
    layer(x).sum().backward()
    assert not layer.running_mean.requires_grad
    assert layer.running_mean._version == tg.zeros(1)._version + 1


def test_layer_norm_is_biased_and_refuses():
    found = nn.LayerNorm(2, eps=0.0)(tg.tensor([[1.0, 3.0]]))
    assert found.tolist() == [[-1.0, 1.0]]
    with pytest.raises(ShapeError, match="last dimensions"):
        nn.LayerNorm(3)(tg.ones(2, 2))
    with pytest.raises(ArgumentError, match="divisible"):
        nn.GroupNorm(2, 3)


def test_dropout():
    x = tg.ones(1000)
    layer = nn.Dropout(0.25)
    values = sorted(set(layer(x).tolist()))
    assert values == pytest.approx([0.0, 1 / 0.75])
    assert layer.eval()(x) is x
    assert nn.functional.dropout(x, 0.0) is x
    infinite = tg.tensor([float("inf")])
    assert np.isnan(nn.functional.dropout(infinite, 1.0).item())
    written = nn.Dropout(0.5, inplace=True)(x)
    assert written is x
    for wrong in (-0.1, 1.5):
        with pytest.raises(ValueError, match="between 0 and 1"):
            nn.Dropout(wrong)


def test_convolution_is_cross_correlation():
    found = nn.functional.conv1d(tg.tensor([[[1, 2, 3]]]), tg.tensor([[[1, 10]]]))
    assert found.tolist() == [[[21, 32]]]
    same = nn.functional.conv1d(
        tg.tensor([[[1.0, 2.0, 3.0]]]), tg.tensor([[[1.0, 10.0]]]), padding="same"
    )
    assert same.tolist() == [[[21.0, 32.0, 3.0]]]


def test_pooling_of_padding():
    x = tg.full((1, 1, 2, 2), -1.0)
    assert nn.AvgPool2d(2, 2, 1)(x).tolist() == [[[[-0.25] * 2] * 2]]
    assert nn.MaxPool2d(2, 2, 1)(x).tolist() == [[[[-1.0] * 2] * 2]]


def test_max_pool_sends_a_tie_to_the_first():
    x = tg.ones(1, 1, 2, 2, requires_grad=True)
    nn.MaxPool2d(2)(x).sum().backward()
    assert x.grad.tolist() == [[[[1.0, 0.0], [0.0, 0.0]]]]


def test_convolution_refuses():
    for settings in ({"groups": 0}, {"groups": 3}, {"padding_mode": "odd"}):
        with pytest.raises(ValueError, match=r"groups|padding_mode"):
            nn.Conv2d(4, 4, 3, **settings)
    with pytest.raises(ArgumentError, match="'same', 'valid' or numbers"):
        nn.functional.conv1d(tg.ones(1, 1, 3), tg.ones(1, 1, 2), padding="odd")
    with pytest.raises(ShapeError, match="wants 4 input channels"):
        nn.Conv2d(4, 4, 3)(tg.ones(1, 3, 5, 5))


def test_embedding():
    layer = nn.Embedding(4, 2, padding_idx=1)
    assert layer.weight[1].tolist() == [0.0, 0.0]
    layer(tg.tensor([0, 1, 1, 3, 3])).sum().backward()
    assert layer.weight.grad.tolist() == [[1, 1], [0, 0], [0, 0], [2, 2]]
    with pytest.raises(IndexRangeError):
        layer(tg.tensor([4]))
    with pytest.raises(ArgumentError, match="padding_idx"):
        nn.Embedding(4, 2, padding_idx=4)
    with pytest.raises(NotSupportedError, match="max_norm"):
        nn.Embedding(4, 2, max_norm=1.0)
    frozen = nn.Embedding.from_pretrained(tg.ones(3, 2))
    assert not frozen.weight.requires_grad


def test_sequential_is_a_list():
    a, b, c = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    net = nn.Sequential(a, b)
    assert net.append(c) is net
    assert len(net) == 3
    assert list(net) == [a, b, c]
    assert net[-1] is c
    assert list(net[1:]) == [b, c]
    assert net.pop(0) is a
    assert list(net) == [b, c]
    net.insert(1, a)
    assert [name for name, _ in net.named_children()] == ["0", "1", "2"]
    assert list(net) == [b, a, c]
    del net[0]
    net[0] = b
    assert list(net + nn.Sequential(a)) == [b, c, a]
    with pytest.raises(IndexRangeError):
        net[5]
    named = nn.Sequential({"one": a, "two": b})
    assert named.two is b
    assert list(named[:1].named_children()) == [("one", a)]


def test_lists_and_dictionaries_of_modules():
    listed = nn.ModuleList([nn.ReLU()])
    listed += [nn.Tanh()]
    listed.extend([nn.Sigmoid()])
    assert [type(m).__name__ for m in listed] == ["ReLU", "Tanh", "Sigmoid"]
    assert isinstance(listed[1:], nn.ModuleList)
    assert len(listed + nn.ModuleList([nn.ReLU()])) == 4
    chosen = nn.ModuleDict({"a": nn.ReLU()})
    chosen["b"] = nn.Tanh()
    chosen.update([("c", nn.Sigmoid())])
    assert list(chosen) == ["a", "b", "c"]
    assert "b" in chosen
    assert type(chosen.pop("b")).__name__ == "Tanh"
    del chosen["a"]
    assert [name for name, _ in chosen.items()] == ["c"]
    chosen.clear()
    assert len(chosen) == 0


def test_lists_and_dictionaries_of_parameters():
    listed = nn.ParameterList([tg.ones(1), nn.Parameter(tg.ones(2))])
    listed.append(tg.ones(3))
    listed[0] = tg.zeros(1)
    assert len(list(listed.parameters())) == len(listed) == 3
    assert listed[-1].requires_grad
    assert len(listed[:2]) == 2
    named = nn.ParameterDict({"a": tg.ones(1)})
    named["b"] = tg.ones(2)
    assert list(named.keys()) == ["a", "b"]
    assert named.pop("a").shape == (1,)
    assert named.get("nothing", 5) == 5
    assert sorted(dict(named.items())) == ["b"]


def test_layers_in_place():
    x = tg.tensor([-1.0, 2.0])
    for layer in (nn.ReLU(inplace=True), nn.LeakyReLU(0.5, inplace=True)):
        given = x.clone()
        assert layer(given) is given
    assert nn.functional.relu_(x) is x
    assert x.tolist() == [0.0, 2.0]


def test_losses_warn_of_old_names():
    with pytest.warns(UserWarning, match="old names"):
        assert nn.MSELoss(size_average=False).reduction == "sum"


def test_clipping():
    parameter = nn.Parameter(tg.zeros(2))
    assert nn.utils.clip_grad_norm_([parameter], 1.0).item() == 0.0
    parameter.grad = tg.tensor([3.0, 4.0])
    assert nn.utils.clip_grad_norm_(parameter, 1.0).item() == 5.0
    np.testing.assert_allclose(parameter.grad.numpy(), [0.6, 0.8], rtol=1e-5)
    parameter.grad = tg.tensor([float("inf"), 1.0])
    with pytest.raises(RuntimeError, match="not finite"):
        nn.utils.clip_grad_norm_(parameter, 1.0, error_if_nonfinite=True)


def test_parameters_as_a_vector():
    layer = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (9,)
    nn.utils.vector_to_parameters(tg.arange(9.0), layer.parameters())
    assert layer.weight.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert layer.bias.tolist() == [6, 7, 8]
    with pytest.raises(ShapeError, match="too few"):
        nn.utils.vector_to_parameters(tg.ones(3), layer.parameters())
