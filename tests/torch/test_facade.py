"""The module tree is a table; absent names say what is near; imports resolve."""

import importlib
import subprocess
import sys

import pytest

import tracegrad as tg
import tracegrad.torch as torch
from tests.support import programs
from tracegrad.errors import NotSupportedError, StateError
from tracegrad.torch._facade import Facade
from tracegrad.torch._table import MODULES


@pytest.mark.parametrize("path", sorted(path for path in MODULES if path))
def test_every_path_imports_under_both_names(path):
    module = importlib.import_module(f"tracegrad.torch.{path}")
    with torch.aliased():
        assert importlib.import_module(f"torch.{path}") is module
    assert isinstance(module, Facade)


def test_names_are_tracegrads_own():
    assert torch.Tensor is tg.Tensor
    assert torch.nn.functional.relu is tg.nn.functional.relu
    assert torch.optim.lr_scheduler.StepLR is tg.optim.lr_scheduler.StepLR
    assert torch.nn.modules.activation.ReLU is tg.nn.ReLU
    assert torch.nn.parameter.Parameter is tg.nn.Parameter
    assert torch.cuda.is_available is tg.cuda.is_available


def test_from_imports():
    namespace = {}
    with torch.aliased():
        exec(
            "import torch.nn.functional as F\n"
            "from torch import nn, Tensor\n"
            "from torch.optim import *\n"
            "from torch.nn.modules.linear import Linear\n",
            namespace,
        )
    assert namespace["F"].relu is tg.nn.functional.relu
    assert namespace["Adam"] is tg.optim.Adam
    assert namespace["Linear"] is namespace["nn"].Linear


def test_the_alias_ends_with_its_block():
    before = sys.modules.get("torch")
    with torch.aliased() as alias:
        assert sys.modules["torch"] is alias is torch
    assert sys.modules.get("torch") is before


@pytest.mark.parametrize(
    ("path", "name", "said"),
    [
        ("nn", "Lineer", "torch.nn.Linear"),
        ("", "zeross", "torch.zeros"),
        ("nn.functional", "rellu", "torch.nn.functional.relu"),
        ("hub", "load", "downloads no models"),
        ("sparse", "mm", "sparse tensors are left out"),
        ("", "jagged", "pad to one length"),
        ("", "qqqqqqqqqq", "compatibility.md"),
    ],
)
def test_an_absent_name_says_what_is_near_or_why(path, name, said):
    module = importlib.import_module(f"tracegrad.torch.{path}".rstrip("."))
    with pytest.raises(AttributeError, match=said):
        getattr(module, name)


def test_an_absent_module_is_not_taken_from_elsewhere():
    with torch.aliased(), pytest.raises(ModuleNotFoundError):
        importlib.import_module("torch.no_such_module")


def test_install_refuses_when_pytorch_is_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", sys)
    with pytest.raises(StateError, match="before the first"):
        torch.install()


def test_trace_is_the_trace_of_a_matrix_here_and_capture_there():
    assert torch.trace(tg.eye(3)).item() == 3
    assert callable(tg.trace(tg.sin))


def test_versions_compare_by_their_numbers():
    assert torch.__version__ >= "2.9"
    assert torch.__version__ < (3, 0)
    assert torch.__version__.startswith("2.")


def test_dir_lists_names_and_submodules():
    assert {"Linear", "functional", "modules"} <= set(dir(torch.nn))


def test_compile_and_jit_capture():
    @torch.compile
    def f(x):
        return torch.sin(x) * 2

    x = torch.ones(3)
    assert torch.equal(f(x), f(x))
    assert torch.jit.trace(torch.cos, (x,))(x).tolist() == torch.cos(x).tolist()
    assert torch.compile(f, disable=True) is f
    with pytest.raises(NotSupportedError, match="TorchScript"):
        torch.jit.load("model.pt")


def test_distributed_answers_for_one_process():
    dist = torch.distributed
    with pytest.raises(NotSupportedError, match="world_size=4"):
        dist.init_process_group("gloo", world_size=4, rank=1)
    dist.init_process_group("gloo", world_size=1, rank=0)
    try:
        assert (dist.get_rank(), dist.get_world_size()) == (0, 1)
        x = torch.ones(2)
        dist.all_reduce(x, op=dist.ReduceOp.SUM)
        assert x.tolist() == [1, 1]
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
        assert model(x).shape == (2,)
    finally:
        dist.destroy_process_group()
    assert not dist.is_initialized()


def test_pytree():
    leaves, spec = torch.utils._pytree.tree_flatten({"a": [1, (2, 3)]})
    assert leaves == [1, 2, 3]
    assert torch.utils._pytree.tree_unflatten([4, 5, 6], spec) == {"a": [4, (5, 6)]}
    assert torch.utils._pytree.tree_map(lambda n: n * 2, [1, (2,)]) == [2, (4,)]


@pytest.mark.parametrize("name", ["gcn", "vae"])
def test_programs_learn_without_pytorch(name):
    with programs.under_tracegrad(name) as train:
        losses = list(train(30))
    assert losses[-1] < losses[0]


def test_importing_tracegrad_does_not_load_the_facade():
    code = (
        "import sys, tracegrad\n"
        "assert 'tracegrad.torch' not in sys.modules\n"
        "assert 'tracegrad.cuda' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
