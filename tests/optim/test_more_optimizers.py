"""Optimizers beyond the basic ones: settings that are refused, hooks, LBFGS."""

import copy

import pytest

import tracegrad as tg
from tracegrad import nn, optim
from tracegrad.errors import ArgumentError, ArgumentTypeError, ArgumentValueError

MISTAKES = [
    lambda p: optim.NAdam(p, lr=-1),
    lambda p: optim.NAdam(p, momentum_decay=-1),
    lambda p: optim.RAdam(p, betas=(1.0, 0.9)),
    lambda p: optim.Adamax(p, eps=-1),
    lambda p: optim.Adadelta(p, rho=1.5),
    lambda p: optim.Rprop(p, etas=(1.5, 2.0)),
    lambda p: optim.ASGD(p, weight_decay=-1),
    lambda p: optim.Adafactor(p, beta2_decay=0.5),
    lambda p: optim.Adafactor(p, d=0.5),
    lambda p: optim.Adafactor(p, eps=(-1.0, 1e-3)),
    lambda p: optim.Muon(p),
    lambda p: optim.LBFGS([{"params": p}, {"params": [nn.Parameter(tg.ones(1))]}]),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_settings_out_of_range(number):
    with pytest.raises(ArgumentError):
        MISTAKES[number]([nn.Parameter(tg.ones(1))])


def test_muon_settings():
    matrix = [nn.Parameter(tg.ones(2, 2))]
    with pytest.raises(ArgumentError, match="adjust_lr_fn"):
        optim.Muon(matrix, adjust_lr_fn="other")
    optimizer = optim.Muon(matrix, ns_steps=100)
    matrix[0].grad = tg.ones(2, 2)
    with pytest.raises(ArgumentError, match="ns_steps"):
        optimizer.step()


def test_lbfgs_needs_a_closure_and_a_line_search_it_knows():
    parameter = nn.Parameter(tg.ones(1))
    with pytest.raises(ArgumentTypeError, match="closure"):
        optim.LBFGS([parameter]).step()
    with pytest.raises(ArgumentValueError, match="strong_wolfe"):
        optim.LBFGS([parameter], line_search_fn="other").step(lambda: tg.ones(1))


def test_lbfgs_finds_the_minimum_of_a_parabola():
    x = nn.Parameter(tg.tensor([3.0, -2.0]))
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = ((x - tg.tensor([1.0, 2.0])) ** 2 * tg.tensor([1.0, 10.0])).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == pytest.approx(164.0)
    assert x.tolist() == pytest.approx([1.0, 2.0], abs=1e-4)
    # At the minimum there is nothing to do but to look.
    before = optimizer.state[x]["func_evals"]
    optimizer.step(closure)
    assert optimizer.state[x]["func_evals"] <= before + 2


def test_a_step_hook_may_replace_the_closure():
    parameter = nn.Parameter(tg.ones(1))
    optimizer = optim.SGD([parameter], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((lambda: 7,), {}))
    assert optimizer.step(lambda: 3) == 7


def test_hooks_around_states():
    parameter = nn.Parameter(tg.ones(1))
    optimizer = optim.SGD([parameter], lr=0.1)
    calls = []
    handles = [
        optimizer.register_state_dict_pre_hook(lambda o: calls.append("saving")),
        optimizer.register_state_dict_post_hook(lambda o, s: {**s, "extra": 1}),
        optimizer.register_load_state_dict_pre_hook(
            lambda o, s: calls.append(sorted(s))
        ),
        optimizer.register_load_state_dict_post_hook(lambda o: calls.append("loaded")),
        optimizer.register_load_state_dict_post_hook(
            lambda o: calls.append("first"), prepend=True
        ),
    ]
    state = optimizer.state_dict()
    assert state["extra"] == 1
    optimizer.load_state_dict(state)
    names = ["extra", "param_groups", "state"]
    assert calls == ["saving", names, "first", "loaded"]
    for handle in handles:
        handle.remove()
    assert "extra" not in optimizer.state_dict()
    assert len(calls) == 4


def test_an_optimizer_is_copied_with_its_parameters():
    parameter = nn.Parameter(tg.ones(2))
    optimizer = optim.Adam([parameter], lr=0.1)
    parameter.grad = tg.ones(2)
    optimizer.step()
    twin = copy.deepcopy(optimizer)
    own = twin.param_groups[0]["params"][0]
    own.grad = tg.ones(2)
    twin.step()
    assert parameter.tolist() != own.tolist()
    assert twin.state[own]["step"].item() == 2
    assert optimizer.state[parameter]["step"].item() == 1
