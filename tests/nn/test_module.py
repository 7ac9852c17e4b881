"""Module: attributes, state, modes, conversion, hooks; what raises."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn
from tracegrad.errors import ArgumentTypeError, NotSupportedError, StateError


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.norm = nn.BatchNorm1d(3)
        self.scale = nn.Parameter(tg.ones(1))
        self.register_buffer("shift", tg.zeros(3))
        self.register_buffer("hidden", tg.zeros(3), persistent=False)
        self.name = "net"

    def forward(self, x):
        return self.norm(self.first(x)) * self.scale + self.shift


def test_attributes_are_found_where_they_were_put():
    net = Net()
    assert net.scale is net._parameters["scale"]
    assert net.shift is net._buffers["shift"]
    assert net.first is net._modules["first"]
    assert net.name == "net"
    assert {"scale", "shift", "first", "forward"} <= set(dir(net))
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nothing'"):
        _ = net.nothing


def test_a_plain_tensor_is_no_parameter():
    net = Net()
    with pytest.raises(TypeError, match="scale"):
        net.scale = tg.ones(1)
    with pytest.raises(TypeError, match="first"):
        net.first = tg.ones(1)
    with pytest.raises(TypeError, match="shift"):
        net.shift = 3
    net.shift = tg.ones(3)
    assert net.state_dict()["shift"].tolist() == [1.0, 1.0, 1.0]
    net.scale = None
    assert net.scale is None
    assert "scale" not in net.state_dict()


def test_names_move_between_kinds():
    net = Net()
    net.name = nn.Parameter(tg.ones(1))
    assert "name" not in net.__dict__
    net.shift = nn.Parameter(tg.ones(1))
    assert "shift" not in net._buffers
    del net.shift
    assert not hasattr(net, "shift")
    net.shift = "a string"
    assert net.__dict__["shift"] == "a string"


def test_before_init_nothing_can_be_assigned():
    class Early(nn.Module):
        def __init__(self, value):
            self.value = value
            super().__init__()

    for value in (nn.Linear(1, 1), nn.Parameter(tg.ones(1))):
        with pytest.raises(AttributeError, match=r"before Module\.__init__\(\) call"):
            Early(value)
    assert Early(3).value == 3


def test_registering_refuses():
    net = Net()
    with pytest.raises(KeyError, match="already exists"):
        net.register_buffer("name", tg.ones(1))
    with pytest.raises(KeyError, match="dot"):
        net.register_parameter("a.b", nn.Parameter(tg.ones(1)))
    with pytest.raises(KeyError, match="empty"):
        net.add_module("", nn.ReLU())
    with pytest.raises(ArgumentTypeError, match="Parameter"):
        net.register_parameter("new", tg.ones(1))
    with pytest.raises(ArgumentTypeError, match="Tensor"):
        net.register_buffer("new", 3)
    with pytest.raises(ArgumentTypeError, match="Module"):
        net.add_module("new", 3)
    with pytest.raises(NotSupportedError, match="forward"):
        nn.Module()(1)


def test_state_shares_memory_and_leaves_out_what_is_not_persistent():
    net = Net()
    state = net.state_dict()
    assert "hidden" not in state
    assert "norm.num_batches_tracked" in state
    assert not state["scale"].requires_grad
    state["scale"].fill_(5)
    assert net.scale.item() == 5.0
    assert net.state_dict(keep_vars=True)["scale"] is net.scale
    assert next(iter(net.state_dict(prefix="a."))).startswith("a.")


def test_loading_copies_into_the_same_parameters():
    source, target = Net(), Net()
    before = target.first.weight
    keys = target.load_state_dict(source.state_dict())
    assert str(keys) == "<All keys matched successfully>"
    assert target.first.weight is before
    np.testing.assert_array_equal(
        target.first.weight.detach().numpy(), source.first.weight.detach().numpy()
    )
    target.load_state_dict(source.state_dict(), assign=True)
    assert isinstance(target.first.weight, nn.Parameter)
    assert target.first.weight.requires_grad
    assert target.first.weight is not before


def test_loading_says_what_does_not_fit():
    net = Net()
    state = net.state_dict()
    del state["scale"]
    state["more"] = tg.ones(1)
    state["shift"] = tg.ones(4)
    with pytest.raises(StateError) as error:
        net.load_state_dict(state)
    for part in ('"scale"', '"more"', "shift", "[4]", "[3]", "Net"):
        assert part in str(error.value)
    with pytest.raises(StateError, match="size mismatch"):
        net.load_state_dict(state, strict=False)
    with pytest.raises(ArgumentTypeError, match="mapping"):
        net.load_state_dict([1])


def test_extra_state_travels():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0

        def get_extra_state(self):
            return self.count

        def set_extra_state(self, state):
            self.count = state

    source, target = Counting(), Counting()
    source.count = 3
    target.load_state_dict(source.state_dict())
    assert target.count == 3


def test_state_hooks_run():
    net = nn.Linear(1, 1)
    seen = []
    net.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append("save_pre"))
    net.register_state_dict_post_hook(lambda m, state, prefix, _: seen.append("save"))
    net.register_load_state_dict_pre_hook(lambda *_: seen.append("load_pre"))
    handle = net.register_load_state_dict_post_hook(lambda m, keys: seen.append("load"))
    net.load_state_dict(net.state_dict())
    assert seen == ["save_pre", "save", "load_pre", "load"]
    handle.remove()
    handle.remove()
    net.load_state_dict(net.state_dict())
    assert seen[-1] == "load_pre"


def test_training_reaches_all_modules():
    net = nn.Sequential(nn.Dropout(), nn.Sequential(nn.BatchNorm1d(2)))
    assert net.eval() is net
    assert not any(m.training for m in net.modules())
    net.train()
    assert all(m.training for m in net.modules())
    with pytest.raises(ValueError, match="boolean"):
        net.train(1)


def test_conversion_keeps_identity_and_integers():
    net = Net()
    weight = net.first.weight
    net(tg.ones(4, 2)).sum().backward()
    assert net.double() is net
    assert net.first.weight is weight
    assert weight.dtype is tg.float64
    assert weight.grad.dtype is tg.float64
    assert net.norm.running_mean.dtype is tg.float64
    assert net.norm.num_batches_tracked.dtype is tg.int64
    net.to(tg.float16)
    assert weight.dtype is tg.float16
    net.to(tg.ones(1))
    assert weight.dtype is tg.float32
    net.to("cpu", tg.float64)
    assert weight.dtype is tg.float64
    with pytest.raises(ArgumentTypeError, match="floating"):
        net.to(tg.int64)
    with pytest.raises(ArgumentTypeError, match="to"):
        net.to(3.5)


def test_on_the_meta_device():
    net = nn.Linear(2, 3, device="meta")
    assert net(tg.ones(4, 2, device="meta")).shape == (4, 3)


def test_zero_grad_and_requires_grad():
    net = Net()
    net(tg.ones(4, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.first.weight.grad.abs().sum().item() == 0
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net.requires_grad_(False)
    assert not net(tg.ones(4, 2)).requires_grad


def test_apply_goes_from_the_leaves_up():
    seen = []
    net = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh()))
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["ReLU", "Tanh", "Sequential", "Sequential"]


def test_lookups_by_dotted_name():
    net = nn.Sequential(Net())
    assert net.get_parameter("0.first.weight") is net[0].first.weight
    assert net.get_buffer("0.shift") is net[0].shift
    assert net.get_submodule("0.norm") is net[0].norm
    assert net.get_submodule("") is net
    for look_up, name in (
        (net.get_parameter, "0.nothing"),
        (net.get_buffer, "0.scale"),
        (net.get_submodule, "1.first"),
    ):
        with pytest.raises(AttributeError, match=name.split(".")[-1] + "|'1'"):
            look_up(name)


def test_hooks_change_what_goes_in_and_out():
    layer = nn.Identity()
    first = layer.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    layer.register_forward_hook(lambda m, args, out: out * 10)
    assert layer(tg.tensor(1.0)).item() == 20.0
    with first:
        pass
    assert layer(tg.tensor(1.0)).item() == 10.0
    order = []
    layer.register_forward_pre_hook(lambda m, args: order.append("late"))
    layer.register_forward_pre_hook(lambda m, args: order.append("early"), prepend=True)
    layer(tg.tensor(1.0))
    assert order == ["early", "late"]


def test_hooks_see_keyword_arguments():
    class Scaled(nn.Module):
        def forward(self, x, *, by):
            return x * by

    layer, seen = Scaled(), []
    layer.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    layer.register_forward_hook(
        lambda m, args, kwargs, out: seen.append(kwargs), with_kwargs=True
    )
    assert layer(tg.tensor(2.0), by=3).item() == 8.0
    assert seen == [{"by": 4}]


def test_backward_hooks_leave_gradients_alone():
    plain, hooked = nn.Linear(2, 2), nn.Linear(2, 2)
    hooked.load_state_dict(plain.state_dict())
    hooked.register_full_backward_hook(lambda m, given, out: None)
    results = []
    for layer in (plain, hooked):
        x = tg.ones(3, 2, requires_grad=True)
        layer(x).cos().sum().backward()
        results.append((x.grad.tolist(), layer.weight.grad.tolist()))
    assert results[0] == results[1]


def test_an_input_that_forward_ignores_has_no_gradient():
    class First(nn.Module):
        def forward(self, a, b):
            return a * 2

    layer, seen = First(), []
    layer.register_full_backward_hook(lambda m, given, out: seen.append(given))
    a, b = tg.ones(1, requires_grad=True), tg.ones(1, requires_grad=True)
    layer(a, b).backward()
    assert seen[0][0].tolist() == [2.0]
    assert seen[0][1] is None
    assert b.grad is None


def test_copies_and_pickles():
    net = Net()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.scale is not net.scale
        np.testing.assert_array_equal(
            other(tg.ones(4, 2)).detach().numpy(), net(tg.ones(4, 2)).detach().numpy()
        )
        assert isinstance(other.scale, nn.Parameter)


def test_modules_are_freed_without_the_collector():
    gc.disable()
    try:
        net = Net()
        gone = weakref.ref(net.first.weight)
        net(tg.ones(4, 2)).sum().backward()
        del net
        assert gone() is None
    finally:
        gc.enable()
