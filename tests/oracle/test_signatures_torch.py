"""`inspect.signature` of public classes and functions is PyTorch's."""

import inspect
import warnings

import pytest

import tracegrad.torch as ours

torch = pytest.importorskip("torch")

PLACES = (
    "",
    "accelerator",
    "autograd",
    "autograd.functional",
    "cuda",
    "func",
    "linalg",
    "nn",
    "nn.functional",
    "nn.init",
    "nn.utils",
    "nn.utils.rnn",
    "optim",
    "optim.lr_scheduler",
    "utils.data",
)
KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "/",
    inspect.Parameter.KEYWORD_ONLY: "*",
}

# Name: why it is not PyTorch's.
DIFFERENT = {
    "autograd.enable_grad": "one decorator for functions and modes",
    "autograd.no_grad": "one decorator for functions and modes",
    "enable_grad": "one decorator for functions and modes",
    "no_grad": "one decorator for functions and modes",
    "autograd.gradgradcheck": "options of PyTorch's checker for batches are left out",
    "compile": "options of PyTorch's compiler are left out",
    "dtype": "a class of ours",
    "einsum": "the equation has a name",
    "func.jacrev": "an option private to PyTorch",
    "meshgrid": "the default is given, not None for it",
    "nn.Hardtanh": "names that are deprecated since PyTorch 1",
    "nn.functional.log_softmax": "an option private to PyTorch",
    "nn.functional.softmax": "an option private to PyTorch",
    "nn.functional.softmin": "an option private to PyTorch",
    "nn.functional.normalize": "no out= of functions that are made of others",
    "nn.utils.rnn.PackedSequence": "there is none without its sizes",
    "norm": "no out= of functions that are made of others",
    "utils.data.Sampler": "an old parameter, which PyTorch has taken away",
    "tensordot": "no out= of functions that are made of others",
}


def reach(root, place):
    for part in filter(None, place.split(".")):
        root = getattr(root, part)
    return root


def parameters(function):
    """What a caller sees; every operator takes `out=` here."""
    found = []
    for parameter in inspect.signature(function).parameters.values():
        default = parameter.default
        if parameter.name == "out" and parameter.kind is parameter.KEYWORD_ONLY:
            continue
        found.append((parameter.name, KINDS.get(parameter.kind, ""), shown(default)))
    return found


def shown(default):
    """A default value, or what stands for it in both libraries."""
    kind = type(default).__name__
    if kind in ("dtype", "DType"):
        return str(default).rpartition(".")[2]
    if kind == "Generator":
        return kind
    return default.__name__ if inspect.isroutine(default) else default


def pairs():
    """PyTorch's and our object under each name that both have, where it has one."""
    for place in PLACES:
        theirs, mine = reach(torch, place), reach(ours, place)
        for name in dir(theirs):
            full = f"{place}.{name}" if place else name
            value = getattr(theirs, name)
            is_api = callable(value) and not isinstance(value, torch.dtype)
            if name.startswith("_") or not is_api or inspect.ismodule(value):
                continue
            found = getattr(mine, name, None)
            if found is None or inspect.ismodule(found):
                continue
            yield full, value, found


def test_signatures_are_pytorchs():
    compared, different = 0, {}
    with warnings.catch_warnings():
        # PyTorch warns where some of its names are read.
        warnings.simplefilter("ignore")
        for name, theirs, mine in pairs():
            try:
                expected = parameters(theirs)
            except (ValueError, TypeError):
                # Written in C++.
                continue
            if any(parameter[0] == "kwargs" for parameter in expected):
                continue
            compared += 1
            found = parameters(mine)
            if found != expected and name not in DIFFERENT:
                different[name] = (expected, found)
    assert not different, "\n".join(map(str, different.items()))
    assert compared > 250


def test_a_difference_is_seen():
    def theirs(input, dim=0, *, dtype=torch.float32):
        """Nothing."""

    def ours_(input, axis=0, *, dtype=ours.float32):
        """Nothing."""

    assert parameters(theirs) != parameters(ours_)
    assert parameters(theirs)[2] == parameters(ours_)[2]
