"""Graphs of calls: traced, shown, changed, run."""

import copy
import operator

import pytest

import tracegrad as tg
import tracegrad.torch as torch
from tracegrad.torch import fx, nn
from tracegrad.torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 5)
        self.scale = nn.Parameter(torch.ones(5))
        self.tail = nn.Sequential(nn.ReLU(), nn.Linear(5, 2))

    def forward(self, x, bias=0.5):
        y = F.relu(self.linear(x)) * self.scale
        y = torch.cat([y, y], dim=-1).view(-1, 2, 5).sum(dim=1) + bias
        return self.tail(y[:, :5]).clamp(min=0.0)


def helper(x, n):
    return x * n if n > 1 else x


fx.wrap("helper")


@pytest.fixture
def traced():
    torch.manual_seed(0)
    module = Net()
    return module, fx.symbolic_trace(module)


def test_it_computes_the_same(traced):
    module, gm = traced
    x = torch.randn(3, 4)
    assert torch.equal(gm(x), module(x))
    assert torch.equal(fx.Interpreter(gm).run(x), module(x))
    assert torch.equal(copy.deepcopy(gm)(x), module(x))
    assert dict(gm.named_parameters()).keys() == dict(module.named_parameters()).keys()


def test_nodes_are_what_the_program_does(traced):
    _, gm = traced
    kinds = [(node.op, node.target) for node in gm.graph.nodes]
    assert kinds[:5] == [
        ("placeholder", "x"),
        ("placeholder", "bias"),
        ("call_module", "linear"),
        ("call_function", F.relu),
        ("get_attr", "scale"),
    ]
    assert ("call_function", torch.cat) in kinds
    assert ("call_module", "tail.1") in kinds
    assert ("call_method", "clamp") in kinds
    assert kinds[-1] == ("output", "output")
    gm.graph.lint()
    assert "call_module[target=linear](%x)" in str(gm.graph)
    assert "relu = tracegrad__relu(linear)" in gm.code


def test_functions_are_as_before_after_tracing(traced):
    assert F.relu(torch.tensor([-1.0])).item() == 0
    assert F.relu is torch.nn.functional.relu
    fx.symbolic_trace(lambda x: torch.logaddexp(x, x))
    assert torch.logaddexp is tg.logaddexp


def test_replacing_an_operator():
    def f(x, y):
        return torch.sin(x) + y

    gm = fx.symbolic_trace(f)
    for node in gm.graph.nodes:
        if node.target is operator.add:
            with gm.graph.inserting_after(node):
                new = gm.graph.call_function(torch.mul, node.args)
                node.replace_all_uses_with(new)
            gm.graph.erase_node(node)
    gm.recompile()
    x, y = torch.randn(3), torch.randn(3)
    assert torch.equal(gm(x, y), torch.sin(x) * y)


def test_replace_pattern():
    def f(x, w1, w2):
        m1 = torch.cat([w1, w2]).sum()
        m2 = torch.cat([w1, w2]).sum()
        return x + torch.max(m1) + torch.max(m2)

    gm = fx.symbolic_trace(f)
    matches = fx.replace_pattern(
        gm,
        lambda w1, w2: torch.cat([w1, w2]).sum(),
        lambda w1, w2: torch.stack([w1, w2]),
    )
    assert len(matches) == 2
    targets = [node.target for node in gm.graph.nodes]
    assert targets.count(torch.stack) == 2
    assert torch.cat not in targets
    x, w1, w2 = torch.rand(1), torch.rand(1), torch.rand(1)
    largest = torch.max(torch.stack([w1, w2]))
    assert torch.equal(gm(x, w1, w2), x + largest + largest)


def test_a_tracer_of_ones_own_and_proxies():
    class NoLeaves(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return False

    module = nn.Sequential(nn.ReLU())
    graph = NoLeaves().trace(module)
    (call,) = graph.find_nodes(op="call_function")
    assert call.target.__name__ == "relu"
    built = fx.Graph()
    proxy = fx.Proxy(built.placeholder("x"))
    built.output((proxy.neg() + 1).node)
    gm = fx.GraphModule(nn.Module(), built)
    assert gm(torch.tensor(2.0)).item() == -1


def test_wrapped_functions_are_nodes():
    gm = fx.symbolic_trace(lambda x: helper(x, x.shape[0]))
    assert helper in [node.target for node in gm.graph.nodes]
    assert gm(torch.ones(3)).tolist() == [3, 3, 3]


def test_a_transformer_makes_another_graph(traced):
    class Neg(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target is F.relu:
                return super().call_function(torch.neg, args, kwargs)
            return super().call_function(target, args, kwargs)

    changed = Neg(traced[1]).transform()
    assert torch.neg in [node.target for node in changed.graph.nodes]


def test_dead_code_goes():
    def f(x):
        torch.sin(x)
        return x + 1

    gm = fx.symbolic_trace(f)
    assert gm.graph.eliminate_dead_code()
    assert len(gm.graph.nodes) == 3


def test_a_branch_on_a_value_is_refused():
    with pytest.raises(fx.TraceError, match="truth of"):
        fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)
    with pytest.raises(fx.TraceError, match="iterated"):
        fx.symbolic_trace(lambda x: list(x))


def test_a_graph_module_is_captured(traced):
    _, gm = traced
    captured = torch.compile(gm)
    x = torch.randn(3, 4)
    assert torch.equal(captured(x), gm(x))
    assert torch.equal(captured(x), gm(x))


def test_erasing_what_is_used_is_refused(traced):
    _, gm = traced
    with pytest.raises(RuntimeError, match="still used"):
        gm.graph.erase_node(gm.graph.nodes[2])


def test_state_is_loaded(traced):
    module, gm = traced
    gm.load_state_dict(Net().state_dict())
    x = torch.randn(2, 4)
    # Its layers are the module's own.
    assert torch.equal(gm(x), module(x))
