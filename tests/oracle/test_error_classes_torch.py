"""Exceptions of wrong calls have PyTorch's classes."""

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")

Program = Callable[[Any], Any]

PROGRAMS: dict[str, Program] = {
    "einsum few": lambda lib: lib.einsum("ij,jk->ik", lib.ones(2, 2)),
    "einsum many": lambda lib: lib.einsum("ij->ij", lib.ones(2, 2), lib.ones(2, 2)),
    "einsum bad": lambda lib: lib.einsum("i j->", lib.ones(2)),
    "einsum bad2": lambda lib: lib.einsum("ij->k", lib.ones(2, 2)),
    "einsum size": lambda lib: lib.einsum("ij,jk->ik", lib.ones(2, 2), lib.ones(3, 3)),
    "einsum rank": lambda lib: lib.einsum("ij->ij", lib.ones(2)),
    "einsum rep out": lambda lib: lib.einsum("ij->ii", lib.ones(2, 2)),
    "einsum sym": lambda lib: lib.einsum("i?->i", lib.ones(2, 2)),
    "einsum ..": lambda lib: lib.einsum("i..->i", lib.ones(2, 2)),
    "einsum two arrows": lambda lib: lib.einsum("i->->i", lib.ones(2)),
    "einsum no ops": lambda lib: lib.einsum("i"),
    "einsum ellipsis twice": lambda lib: lib.einsum("......->", lib.ones(2)),
    "einsum ellipsis only out": lambda lib: lib.einsum("i->...i", lib.ones(2)),
    "bool**bool": lambda lib: lib.tensor([True]) ** lib.tensor([True]),
    "bool**2": lambda lib: lib.tensor([True]) ** 2,
    "gather f": lambda lib: lib.gather(lib.ones(2), 0, lib.ones(1)),
    "emb f": lambda lib: lib.nn.functional.embedding(lib.ones(1), lib.ones(2, 2)),
    "isel f": lambda lib: lib.index_select(lib.ones(2), 0, lib.ones(1)),
    "take f": lambda lib: lib.take(lib.ones(2), lib.ones(1)),
    "scatter f": lambda lib: lib.ones(2).scatter_(0, lib.ones(1), 1.0),
    "indexadd f": lambda lib: lib.ones(2).index_add_(0, lib.ones(1), lib.ones(1)),
    "indexfill f": lambda lib: lib.ones(2).index_fill_(0, lib.ones(1), 1.0),
    "indexcopy f": lambda lib: lib.ones(2).index_copy_(0, lib.ones(1), lib.ones(1)),
    "put f": lambda lib: lib.ones(2).put_(lib.ones(1), lib.ones(1)),
    "taj f": lambda lib: lib.take_along_dim(lib.ones(2), lib.ones(1), 0),
    "gather oob": lambda lib: lib.gather(lib.ones(2), 0, lib.tensor([5])),
    "isel oob": lambda lib: lib.index_select(lib.ones(2), 0, lib.tensor([5])),
    "take oob": lambda lib: lib.take(lib.ones(2), lib.tensor([5])),
    "scatter oob": lambda lib: lib.ones(2).scatter_(0, lib.tensor([5]), 1.0),
    "indexadd oob": lambda lib: lib.ones(2).index_add_(0, lib.tensor([5]), lib.ones(1)),
    "indexfill oob": lambda lib: lib.ones(2).index_fill_(0, lib.tensor([5]), 1.0),
    "indexcopy oob": lambda lib: lib.ones(2).index_copy_(
        0, lib.tensor([5]), lib.ones(1)
    ),
    "put oob": lambda lib: lib.ones(2).put_(lib.tensor([5]), lib.ones(1)),
    "indexput oob": lambda lib: lib.ones(2).index_put_((lib.tensor([5]),), lib.ones(1)),
    "onehot f": lambda lib: lib.nn.functional.one_hot(lib.ones(1), 3),
    "onehot oob": lambda lib: lib.nn.functional.one_hot(lib.tensor([5]), 3),
    "x[f]": lambda lib: lib.ones(2)[lib.ones(1)],
    "x[1.5]": lambda lib: lib.ones(2)[1.5],
    "x[a]": lambda lib: lib.ones(2)["a"],
    "x[9]": lambda lib: lib.ones(2)[9],
    "x[0,0]": lambda lib: lib.ones(2)[0, 0],
    "x[..,..]": lambda lib: lib.ones(2, 2)[..., ...],
    "x[mask]": lambda lib: lib.ones(2)[lib.tensor([True, False, True])],
    "x[::0]": lambda lib: lib.ones(2)[::0],
    "x[idx] bcast": lambda lib: lib.ones(2, 2)[
        lib.tensor([0, 1]), lib.tensor([0, 1, 0])
    ],
    "set shape": lambda lib: lib.ones(2).__setitem__(slice(None), lib.ones(3)),
    "cat t": lambda lib: lib.cat(lib.ones(2, 2)),
    "stack t": lambda lib: lib.stack(lib.ones(2, 2)),
    "cat []": lambda lib: lib.cat([]),
    "stack []": lambda lib: lib.stack([]),
    "hstack []": lambda lib: lib.hstack([]),
    "cat 0d": lambda lib: lib.cat([lib.ones(())] * 2),
    "cat dims": lambda lib: lib.cat([lib.ones(2), lib.ones(2, 2)]),
    "ones-neg": lambda lib: lib.ones(-1),
    "item": lambda lib: lib.ones(2).item(),
    "bool": lambda lib: bool(lib.ones(2)),
    "float": lambda lib: float(lib.ones(2)),
    "range f": lambda lib: range(lib.ones(1)),
    "list idx": lambda lib: [1, 2][lib.ones(1)],
    "sub bool": lambda lib: lib.tensor([True]) - lib.tensor([True]),
    "neg bool": lambda lib: -lib.tensor([True]),
    "sum dim": lambda lib: lib.ones(2).sum(5),
    "sum dim twice": lambda lib: lib.ones(2).sum((0, 0)),
    "mean int": lambda lib: lib.tensor([1]).mean(),
    "amax empty": lambda lib: lib.ones(0).amax(),
    "max empty": lambda lib: lib.ones(0).max(),
    "max empty d": lambda lib: lib.ones(0).max(0),
    "argmax empty": lambda lib: lib.ones(0).argmax(),
    "median empty d": lambda lib: lib.ones(0).median(0),
    "mode empty": lambda lib: lib.ones(0).mode(),
    "softmax int": lambda lib: lib.softmax(lib.tensor([1]), 0),
    "softmax nodim": lambda lib: lib.softmax(lib.ones(1)),
    "matmul int float": lambda lib: lib.tensor([1]) @ lib.tensor([1.0]),
    "matmul 0d": lambda lib: lib.ones(()) @ lib.ones(2),
    "bmm": lambda lib: lib.bmm(lib.ones(2, 2), lib.ones(2, 2)),
    "mm": lambda lib: lib.mm(lib.ones(2), lib.ones(2, 2)),
    "mv": lambda lib: lib.mv(lib.ones(2, 2), lib.ones(3)),
    "dot": lambda lib: lib.dot(lib.ones(2), lib.ones(3)),
    "outer": lambda lib: lib.outer(lib.ones(2, 2), lib.ones(3)),
    "tensordot": lambda lib: lib.tensordot(lib.ones(2, 2), lib.ones(3), 1),
    "view": lambda lib: lib.ones(2, 3).view(4),
    "view nc": lambda lib: lib.ones(2, 3).t().view(6),
    "split0": lambda lib: lib.ones(2).split(0),
    "split sizes": lambda lib: lib.ones(2).split([1, 3]),
    "chunk0": lambda lib: lib.ones(2).chunk(0),
    "lshift": lambda lib: lib.tensor([1.0]) << 1,
    "and": lambda lib: lib.tensor([1.0]) & 1,
    "invert": lambda lib: ~lib.tensor([1.0]),
    "int //0": lambda lib: lib.tensor([1]) // 0,
    "int %0": lambda lib: lib.tensor([1]) % 0,
    "neg pow": lambda lib: lib.tensor([2]) ** -1,
    "req int": lambda lib: lib.ones(2, dtype=lib.int64, requires_grad=True),
    "backward nonscalar": lambda lib: lib.ones(2, requires_grad=True).backward(),
    "backward nograd": lambda lib: lib.ones(1).backward(),
    "grad unused": lambda lib: lib.autograd.grad(
        lib.ones(1, requires_grad=True).sum(), lib.ones(1, requires_grad=True)
    ),
    "double backward": lambda lib: (lambda y: (y.backward(), y.backward()))(
        (lib.ones(1, requires_grad=True) ** 2).sum()
    ),
    "leaf inplace": lambda lib: lib.ones(1, requires_grad=True).add_(1),
    "numpy grad": lambda lib: lib.ones(1, requires_grad=True).numpy(),
    "deepcopy nonleaf": lambda lib: copy.deepcopy(lib.ones(1, requires_grad=True) * 2),
    "expand": lambda lib: lib.ones(2).expand(3),
    "expand few": lambda lib: lib.ones(2, 2).expand(2),
    "permute": lambda lib: lib.ones(2, 3).permute(0, 0),
    "permute few": lambda lib: lib.ones(2, 3).permute(0),
    "t 3d": lambda lib: lib.ones(2, 3, 1).t(),
    "squeeze": lambda lib: lib.ones(2).squeeze(4),
    "unsq": lambda lib: lib.ones(2).unsqueeze(4),
    "conv": lambda lib: lib.nn.functional.conv2d(
        lib.ones(1, 2, 3, 3), lib.ones(1, 3, 2, 2)
    ),
    "conv big": lambda lib: lib.nn.functional.conv2d(
        lib.ones(1, 1, 3, 3), lib.ones(1, 1, 5, 5)
    ),
    "conv str0": lambda lib: lib.nn.functional.conv2d(
        lib.ones(1, 1, 3, 3), lib.ones(1, 1, 2, 2), stride=0
    ),
    "conv pad-1": lambda lib: lib.nn.functional.conv2d(
        lib.ones(1, 1, 3, 3), lib.ones(1, 1, 2, 2), padding=-1
    ),
    "conv pad same stride": lambda lib: lib.nn.functional.conv2d(
        lib.ones(1, 1, 3, 3), lib.ones(1, 1, 2, 2), padding="same", stride=2
    ),
    "conv bias": lambda lib: lib.nn.functional.conv2d(
        lib.ones(1, 1, 3, 3), lib.ones(1, 1, 2, 2), lib.ones(3)
    ),
    "conv groups": lambda lib: lib.nn.functional.conv2d(
        lib.ones(1, 3, 3, 3), lib.ones(2, 1, 2, 2), groups=2
    ),
    "conv dtype": lambda lib: lib.nn.functional.conv2d(
        lib.ones(1, 1, 3, 3), lib.ones(1, 1, 2, 2, dtype=lib.float64)
    ),
    "pool pad": lambda lib: lib.nn.functional.max_pool2d(
        lib.ones(1, 1, 3, 3), 2, padding=2
    ),
    "pool big": lambda lib: lib.nn.functional.avg_pool2d(lib.ones(1, 1, 3, 3), 5),
    "nn conv groups": lambda lib: lib.nn.Conv2d(3, 2, 1, groups=2),
    "nn dropout p": lambda lib: lib.nn.Dropout(2.0),
    "F dropout p": lambda lib: lib.nn.functional.dropout(lib.ones(1), 2.0),
    "ce float tgt": lambda lib: lib.nn.functional.cross_entropy(
        lib.ones(2, 3), lib.tensor([0.5, 0.5])
    ),
    "ce oob": lambda lib: lib.nn.functional.cross_entropy(
        lib.ones(2, 3), lib.tensor([0, 3])
    ),
    "ce weight": lambda lib: lib.nn.functional.cross_entropy(
        lib.ones(2, 3), lib.tensor([0, 1]), weight=lib.ones(2)
    ),
    "ce smoothing": lambda lib: lib.nn.functional.cross_entropy(
        lib.ones(2, 3), lib.tensor([0, 1]), label_smoothing=2.0
    ),
    "ce reduction": lambda lib: lib.nn.functional.cross_entropy(
        lib.ones(2, 3), lib.tensor([0, 1]), reduction="x"
    ),
    "nll batch": lambda lib: lib.nn.functional.nll_loss(
        lib.ones(2, 3), lib.tensor([0])
    ),
    "nll float": lambda lib: lib.nn.functional.nll_loss(lib.ones(2, 3), lib.ones(2)),
    "bce range": lambda lib: lib.nn.functional.binary_cross_entropy(
        lib.ones(2) * 2, lib.ones(2)
    ),
    "bce shape": lambda lib: lib.nn.functional.binary_cross_entropy(
        lib.ones(2) * 0.5, lib.ones(3)
    ),
    "bcel shape": lambda lib: lib.nn.functional.binary_cross_entropy_with_logits(
        lib.ones(2), lib.ones(3)
    ),
    "mse shape": lambda lib: lib.nn.functional.mse_loss(lib.ones(2), lib.ones(3)),
    "kl": lambda lib: lib.nn.functional.kl_div(lib.ones(2), lib.ones(3)),
    "bn1": lambda lib: lib.nn.BatchNorm1d(3)(lib.ones(1, 3)),
    "bnshape": lambda lib: lib.nn.BatchNorm1d(3)(lib.ones(2, 4)),
    "bn4d": lambda lib: lib.nn.BatchNorm2d(3)(lib.ones(2, 3)),
    "ln": lambda lib: lib.nn.LayerNorm(3)(lib.ones(2, 4)),
    "gn": lambda lib: lib.nn.GroupNorm(2, 3),
    "gn call": lambda lib: lib.nn.functional.group_norm(lib.ones(2, 3), 2),
    "lin": lambda lib: lib.nn.Linear(3, 2)(lib.ones(2, 4)),
    "lin dtype": lambda lib: lib.nn.Linear(3, 2)(lib.ones(2, 3, dtype=lib.float64)),
    "lin int": lambda lib: lib.nn.Linear(3, 2)(lib.ones(2, 3, dtype=lib.int64)),
    "emb oob": lambda lib: lib.nn.Embedding(3, 2)(lib.tensor([3])),
    "load sd": lambda lib: lib.nn.Linear(3, 2).load_state_dict({}),
    "attr": lambda lib: lib.nn.Linear(3, 2).foo,
    "setparam": lambda lib: setattr(lib.nn.Linear(3, 2), "weight", lib.ones(2, 3)),
    "bernoulli": lambda lib: lib.bernoulli(lib.ones(1) * 2),
    "normal std": lambda lib: lib.normal(0.0, -1.0, (2,)),
    "uniform": lambda lib: lib.ones(2).uniform_(1, 0),
    "expo": lambda lib: lib.ones(2).exponential_(-1),
    "randint": lambda lib: lib.randint(5, 5, (2,)),
    "randperm": lambda lib: lib.randperm(-1),
    "seed": lambda lib: lib.manual_seed(2**70),
    "arange": lambda lib: lib.arange(0, 5, 0),
    "arange2": lambda lib: lib.arange(5, 0, 1),
    "arange nan": lambda lib: lib.arange(float("nan")),
    "linspace": lambda lib: lib.linspace(0, 1, -1),
    "eye": lambda lib: lib.eye(-1),
    "full neg": lambda lib: lib.full((-1,), 0),
    "tensor ragged": lambda lib: lib.tensor([[1], [1, 2]]),
    "tensor str": lambda lib: lib.tensor("a"),
    "tensor None": lambda lib: lib.tensor(None),
    "tensor obj": lambda lib: lib.tensor([object()]),
    "tensor big": lambda lib: lib.tensor(2**70),
    "tensor big8": lambda lib: lib.tensor(300, dtype=lib.int8),
    "from_numpy": lambda lib: lib.from_numpy([1]),
    "from_numpy str": lambda lib: lib.from_numpy(np.array(["a"])),
    "iter0d": lambda lib: list(lib.ones(())),
    "len0d": lambda lib: len(lib.ones(())),
    "contains": lambda lib: "a" in lib.ones(1),
    "set grad shape": lambda lib: setattr(
        lib.ones(1, requires_grad=True), "grad", lib.ones(3)
    ),
    "set grad type": lambda lib: setattr(lib.ones(1, requires_grad=True), "grad", 3),
    "quantile": lambda lib: lib.quantile(lib.ones(2), 1.5),
    "topk": lambda lib: lib.ones(2).topk(5),
    "kth": lambda lib: lib.ones(2).kthvalue(0),
    "diag": lambda lib: lib.diag(lib.ones(2, 2, 2)),
    "trace": lambda lib: lib.trace(lib.ones(2)),
    "tri": lambda lib: lib.tril(lib.ones(2)),
    "reshape2": lambda lib: lib.ones(6).reshape(-1, -1),
    "reshape 0": lambda lib: lib.ones(0).reshape(0, -1),
    "unflatten": lambda lib: lib.ones(6).unflatten(0, (4, 2)),
    "flatten": lambda lib: lib.ones(6, 1).flatten(1, 0),
    "flip": lambda lib: lib.ones(6).flip(0, 0),
    "roll": lambda lib: lib.ones(6).roll(1, (0, 1)),
    "narrow": lambda lib: lib.ones(2).narrow(0, 1, 5),
    "as_strided": lambda lib: lib.ones(2).as_strided((5,), (1,)),
    "masked": lambda lib: lib.ones(2).masked_fill(lib.ones(3).bool(), 1),
    "maskint": lambda lib: lib.ones(2).masked_fill(lib.ones(2), 1),
    "maskval": lambda lib: lib.ones(2).masked_fill(lib.ones(2).bool(), lib.ones(2)),
    "masked_select": lambda lib: lib.masked_select(lib.ones(2), lib.ones(2)),
    "masked_scatter": lambda lib: lib.ones(3).masked_scatter(
        lib.ones(3).bool(), lib.ones(1)
    ),
    "where int": lambda lib: lib.where(lib.ones(2), 1.0, 2.0),
    "out dtype": lambda lib: lib.add(lib.ones(2), 1, out=lib.ones(2, dtype=lib.int64)),
    "inplace dtype": lambda lib: lib.ones(2, dtype=lib.int64).add_(1.5),
    "inplace bcast": lambda lib: lib.ones(1).add_(lib.ones(3)),
    "inplace exp": lambda lib: lib.ones(1).expand(3).add_(1),
    "inplace overlap": lambda lib: (lambda x: x[1:].add_(x[:-1]))(lib.ones(3)),
    "copy_ shape": lambda lib: lib.ones(2).copy_(lib.ones(3)),
    "fill_ shape": lambda lib: lib.ones(2).fill_(lib.ones(3)),
    "set_printoptions": lambda lib: lib.set_printoptions(profile="zz"),
    "to dev": lambda lib: lib.ones(2).to("zz"),
    "device": lambda lib: lib.device("zz"),
    "dtype str": lambda lib: lib.ones(2, dtype="float32"),
    "meta item": lambda lib: lib.ones(1, device="meta").item(),
    "meta numpy": lambda lib: lib.ones(1, device="meta").numpy(),
    "meta mix": lambda lib: lib.ones(2, device="meta") + lib.ones(2),
    "sgd empty": lambda lib: lib.optim.SGD([], lr=0.1),
    "sgd neg": lambda lib: lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=-1.0),
    "sgd nest": lambda lib: lib.optim.SGD(
        [lib.ones(1, requires_grad=True)], lr=1.0, nesterov=True
    ),
    "sgd str": lambda lib: lib.optim.SGD([lib.ones(1, requires_grad=True)], lr="x"),
    "sgd t": lambda lib: lib.optim.SGD(lib.ones(1), lr=0.1),
    "sgd nonleaf": lambda lib: lib.optim.SGD(
        [lib.ones(1, requires_grad=True) * 2], lr=0.1
    ),
    "sgd dup": lambda lib: (
        lambda p: lib.optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1)
    )(lib.ones(1, requires_grad=True)),
    "adam betas": lambda lib: lib.optim.Adam(
        [lib.ones(1, requires_grad=True)], betas=(1.0, 0.9)
    ),
    "load opt": lambda lib: lib.optim.SGD(
        [lib.ones(1, requires_grad=True)], lr=0.1
    ).load_state_dict({"state": {}, "param_groups": []}),
    "sched": lambda lib: lib.optim.lr_scheduler.StepLR("x", 1),
    "clip err": lambda lib: lib.nn.utils.clip_grad_norm_(
        [
            (lambda p: (setattr(p, "grad", lib.full((1,), float("nan"))), p)[1])(
                lib.ones(1, requires_grad=True)
            )
        ],
        1.0,
        error_if_nonfinite=True,
    ),
    "seq idx": lambda lib: lib.nn.Sequential(lib.nn.ReLU())[4],
    "mlist": lambda lib: lib.nn.ModuleList([1]),
    "mod fwd": lambda lib: lib.nn.Module()(1),
    "reg param": lambda lib: lib.nn.Module().register_parameter("a", 3),
    "reg param dot": lambda lib: lib.nn.Module().register_parameter("a.b", None),
    "reg buf": lambda lib: lib.nn.Module().register_buffer("a", 3),
    "param nograd int": lambda lib: lib.nn.Parameter(lib.ones(1, dtype=lib.int64)),
    "param str": lambda lib: lib.nn.Parameter("x"),
    "init": lambda lib: lib.nn.init.xavier_uniform_(lib.ones(2)),
    "gain": lambda lib: lib.nn.init.calculate_gain("zz"),
    "func grad": lambda lib: lib.func.grad(lambda x: x)(lib.ones(2)),
    "vmap": lambda lib: lib.func.vmap(lambda x, y: x + y)(lib.ones(2), lib.ones(3)),
    "vmap item": lambda lib: lib.func.vmap(lambda x: x.item())(lib.ones(2)),
    "vmap if": lambda lib: lib.func.vmap(lambda x: x if x > 0 else -x)(lib.ones(2)),
    "hook nograd": lambda lib: lib.ones(1).register_hook(print),
}

# Functions of one tensor, by what they are called with besides it.
_ALONE = [
    "sort",
    "floor",
    "ceil",
    "sign",
    "erf",
    "relu",
    "argmax",
    "max",
    "median",
    "gelu",
    "isneginf",
    "round",
    "trunc",
    "frac",
    "signbit",
    "deg2rad",
    "softplus",
    "hardtanh",
    "elu",
    "erfinv",
    "logit",
    "silu",
    "mish",
    "hardshrink",
    "lgamma",
    "mean",
    "std",
    "var",
    "norm",
    "sigmoid",
    "sqrt",
    "reciprocal",
    "tanh",
    "abs",
    "neg",
    "square",
    "amax",
    "nanmean",
]
_PAIRS = [
    "lt",
    "fmod",
    "atan2",
    "maximum",
    "floor_divide",
    "hypot",
    "remainder",
    "copysign",
    "bitwise_and",
    "matmul",
    "logaddexp",
    "binary_cross_entropy",
]
_WITH: dict[str, tuple[Any, ...]] = {
    "clamp": (0, 1),
    "cummax": (0,),
    "softmax": (0,),
    "log_softmax": (0,),
    "logsumexp": (0,),
    "cumsum": (0,),
    "cumprod": (0,),
    "topk": (1,),
    "kthvalue": (1,),
    "quantile": (0.5,),
    "layer_norm": ((2,),),
}
_DTYPES = ("int64", "bool", "complex64")


def _called(lib: Any, name: str) -> Callable[..., Any]:
    main = None if name in ("softmax", "layer_norm") else getattr(lib, name, None)
    return main or getattr(lib.nn.functional, name)  # type: ignore[no-any-return]


def _of_dtype(name: str, dtype: str) -> Program:
    def program(lib: Any) -> Any:
        x = lib.ones(2, 2, dtype=getattr(lib, dtype))
        rest = (x,) if name in _PAIRS else _WITH.get(name, ())
        return _called(lib, name)(x, *rest)

    return program


PROGRAMS |= {
    f"{name} of {dtype}": _of_dtype(name, dtype)
    for name in (*_ALONE, *_PAIRS, *_WITH)
    for dtype in _DTYPES
    if hasattr(tg, name) or hasattr(tg.nn.functional, name)
}

# `docs/deviations.md` says why.
DIFFER = {
    "invert",
    "set_printoptions",
    "param str",
    "logaddexp of complex64",
    "hardshrink of int64",
    "hardshrink of complex64",
    "hardtanh of bool",
}


def outcome(program: Program, lib: Any) -> Exception | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program(lib)
        except Exception as error:
            return error
    return None


def agrees(program: Program) -> bool:
    """Whether both libraries answer, or raise the same builtin's class."""
    expected, found = outcome(program, torch), outcome(program, tg)
    if expected is None or found is None:
        return expected is found
    wanted = next(c for c in type(expected).__mro__ if c.__module__ == "builtins")
    return isinstance(found, wanted)


@pytest.mark.parametrize("name", PROGRAMS)
def test_class(name: str) -> None:
    assert agrees(PROGRAMS[name]) is (name not in DIFFER)
