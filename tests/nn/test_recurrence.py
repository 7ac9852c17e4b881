"""Recurrences: as one node and as operators, derivatives of derivatives, states."""

import copy

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.nn.functions import recurrence as directions
from tracegrad.ops import recurrence

KINDS = ["RNN", "LSTM", "GRU"]


def _layer(kind, **options):
    tg.manual_seed(0)
    return getattr(tg.nn, kind)(3, 4, **options).double()


def _input():
    data = np.random.default_rng(1).normal(size=(5, 2, 3))
    return tg.tensor(data, requires_grad=True)


def _gradients(layer, x):
    result, _ = layer(x)
    (result * result.cos()).sum().backward()
    return [result.detach(), x.grad, *[p.grad for p in layer.parameters()]]


def _step_by_step(mode, given, states, weights, reverse):
    results, last = recurrence.run_equal(
        mode, given.unbind(0), states, weights, reverse
    )
    return tg.stack(results), last


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_one_node_is_the_operators(monkeypatch, kind, bidirectional, bias):
    options = {"bidirectional": bidirectional, "bias": bias, "num_layers": 2}
    as_node = _gradients(_layer(kind, **options), _input())
    monkeypatch.setattr(directions, "apply_direction", _step_by_step)
    as_operators = _gradients(_layer(kind, **options), _input())
    for node, operators in zip(as_node, as_operators, strict=True):
        np.testing.assert_allclose(node.numpy(), operators.numpy(), rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives_are_those_of_the_operators(monkeypatch, kind):
    def second(x):
        layer = _layer(kind)
        (first,) = tg.autograd.grad(layer(x)[0].sin().sum(), x, create_graph=True)
        (first * first).sum().backward()
        return [x.grad, *[p.grad for p in layer.parameters()]]

    as_node = second(_input())
    monkeypatch.setattr(directions, "apply_direction", _step_by_step)
    for node, operators in zip(as_node, second(_input()), strict=True):
        np.testing.assert_allclose(node.numpy(), operators.numpy(), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_result_may_be_overwritten(kind):
    layer = _layer(kind)
    x, y = _input(), _input()
    layer(x)[0].sum().backward()
    result, _ = layer(y)
    result.mul_(2.0)
    result.sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), 2 * x.grad.numpy(), rtol=1e-10)


def test_projections_are_run_step_by_step():
    layer = _layer("LSTM", proj_size=2)
    assert layer(_input())[0].shape == (5, 2, 2)


def test_a_lazy_layer_is_an_ordinary_one_after_its_first_input():
    lazy = tg.nn.Sequential(tg.nn.LazyLinear(3), tg.nn.LazyBatchNorm1d())
    other = copy.deepcopy(lazy)
    optimizer = tg.optim.SGD(lazy.parameters(), 0.1)
    lazy(tg.ones(4, 5)).sum().backward()
    optimizer.step()
    assert type(lazy[0]) is tg.nn.Linear
    assert type(lazy[1]) is tg.nn.BatchNorm1d
    assert lazy[0].weight.shape == (3, 5)
    other.load_state_dict(lazy.state_dict())
    assert other[0].weight.shape == (3, 5)
    assert type(other[0]) is tg.nn.LazyLinear
    np.testing.assert_array_equal(
        other(tg.ones(4, 5)).detach().numpy(), lazy(tg.ones(4, 5)).detach().numpy()
    )


def test_a_parametrized_weight_follows_its_original_and_can_be_set():
    class Symmetric(tg.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x):
            return x.triu()

    parametrize = tg.nn.utils.parametrize
    layer = tg.nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert repr(layer).startswith("ParametrizedLinear(")
    assert sorted(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert bool((layer.weight == layer.weight.mT).all())
    layer.weight = tg.ones(3, 3)
    assert bool((layer.weight == 1).all())
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is tg.nn.Linear
    assert isinstance(layer.weight, tg.nn.Parameter)
    assert not parametrize.is_parametrized(layer)


def test_data_parallel_is_the_module_under_another_name():
    layer = tg.nn.Linear(2, 3)
    around = tg.nn.DataParallel(layer)
    x = tg.ones(4, 2)
    np.testing.assert_array_equal(around(x).detach().numpy(), layer(x).detach().numpy())
    assert list(around.state_dict()) == ["module.weight", "module.bias"]
