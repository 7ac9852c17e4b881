"""Functional transforms give what PyTorch's give."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.func.trees import flatten

torch = pytest.importorskip("torch")

# PyTorch warns of its own parts.
pytestmark = pytest.mark.filterwarnings("ignore")

_RNG = np.random.default_rng(0)
_MATRIX = _RNG.uniform(0.5, 2, (2, 3))
_BATCH = _RNG.uniform(0.5, 2, (4, 3))
_CUBE = _RNG.uniform(0.5, 2, (4, 3, 2))


def same(program: Callable[[Any, Any], Any]) -> None:
    """Compare a program of the library and its transforms."""
    ours = flatten(program(tg, tg.func))[0]
    theirs = flatten(program(torch, torch.func))[0]
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        assert str(a.dtype).split(".")[1] == str(b.dtype).split(".")[1]
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-6, 1e-8)


def several(a: Any) -> Any:
    return {"s": a.exp().sum(1), "t": (a * a, a.sum())}


def scalar(a: Any) -> Any:
    return (a.exp() * a.roll(1, 0)).sum() ** 2


DERIVATIVES = {
    "jacrev": lambda lib, f: f.jacrev(several)(lib.tensor(_MATRIX)),
    "jacfwd": lambda lib, f: f.jacfwd(several)(lib.tensor(_MATRIX)),
    "jacrev in chunks": lambda lib, f: f.jacrev(several, chunk_size=2)(
        lib.tensor(_MATRIX)
    ),
    "two arguments": lambda lib, f: f.jacrev(
        lambda a, b: (a[:, None] * b).sum(0), argnums=(0, 1)
    )(lib.tensor(_MATRIX[0]), lib.tensor(_MATRIX[1])),
    "forward by one of two": lambda lib, f: f.jacfwd(
        lambda a, b: a * b.sin(), argnums=1
    )(lib.tensor(_MATRIX[0]), lib.tensor(_MATRIX[1])),
    "hessian": lambda lib, f: f.hessian(scalar)(lib.tensor(_MATRIX)),
    "reverse over reverse": lambda lib, f: f.jacrev(f.jacrev(scalar))(
        lib.tensor(_MATRIX)
    ),
    "forward over forward": lambda lib, f: f.jacfwd(f.jacfwd(scalar))(
        lib.tensor(_MATRIX)
    ),
    "reverse over forward": lambda lib, f: f.jacrev(f.jacfwd(scalar))(
        lib.tensor(_MATRIX)
    ),
    "hessians of a batch": lambda lib, f: f.vmap(
        f.hessian(lambda a: (a**3).sum() * a[0])
    )(lib.tensor(_MATRIX)),
    "gradient of a hessian": lambda lib, f: f.grad(
        lambda a: (f.hessian(scalar)(a) ** 2).sum()
    )(lib.tensor(_MATRIX)),
    "grad of a nesting": lambda lib, f: f.grad(lambda d: (d["x"] * d["y"][0]).sum())(
        {"x": lib.tensor(_MATRIX), "y": [lib.tensor(_MATRIX[0])]}
    ),
    "grad and value with aux": lambda lib, f: f.grad_and_value(
        lambda a: (a.sum(), a * 2), has_aux=True
    )(lib.tensor(_MATRIX)),
    "vjp": lambda lib, f: f.vjp(lambda a: (a * 2, a.sum()), lib.tensor(_MATRIX))[1](
        (lib.tensor(_MATRIX), lib.tensor(3.0, dtype=lib.float64))
    ),
    "jvp": lambda lib, f: f.jvp(
        several, (lib.tensor(_MATRIX),), (lib.tensor(_MATRIX),)
    ),
    "perturbation confusion": lambda lib, f: f.grad(
        lambda x: x * f.grad(lambda y: x + y)(lib.tensor(1.0))
    )(lib.tensor(1.0)),
    "perturbation confusion forward": lambda lib, f: f.jvp(
        lambda x: x * f.jvp(lambda y: x + y, (lib.tensor(1.0),), (lib.tensor(1.0),))[1],
        (lib.tensor(1.0),),
        (lib.tensor(1.0),),
    ),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(name: str) -> None:
    same(DERIVATIVES[name])


# Programs of one example a of shape (3,).
EXAMPLES = {
    "arithmetic": lambda lib, a: a * 2 + a / (a + 1) - a**2,
    "comparison": lambda lib, a: lib.where(a > 1, a, -a),
    "0-dim": lambda lib, a: a[0] * a.sum() + a,
    "reductions": lambda lib, a: (a.sum(), a.mean(0), a.amax(0), a.prod(), a.var(0)),
    "keepdim": lambda lib, a: a.sum(0, keepdim=True) + a.sum(-1, keepdim=True),
    "views": lambda lib, a: (a[1:], a[-1], a[None], a.reshape(3, 1), a.view(1, 3)),
    "permute": lambda lib, a: a.reshape(1, 3).permute(1, 0).transpose(0, 1).t(),
    "expand": lambda lib, a: a.expand(2, 3) + a.unsqueeze(1).expand(3, 3)[:2],
    "squeeze": lambda lib, a: a.reshape(1, 3, 1).squeeze(),
    "joining": lambda lib, a: (lib.cat([a, a]), lib.stack([a, a * 2], 1)),
    "splitting": lambda lib, a: (*a.split(2), *a.unbind(), *a.chunk(2)),
    "scans": lambda lib, a: (a.cumsum(0), a.cumprod(0)),
    "matmul": lambda lib, a: (a @ a, a[None] @ a[:, None], lib.outer(a, a) @ a),
    "matmul with a constant": lambda lib, a: lib.tensor(_CUBE) @ a[:2],
    "constant on the left": lambda lib, a: a @ lib.tensor(_CUBE),
    "softmax": lambda lib, a: a.softmax(0),
    "flip and roll": lambda lib, a: (a.flip(0), a.roll(1), a.roll(1, 0)),
    "sort": lambda lib, a: (*a.sort(), a.argsort(), a.argmax(), a.argmin(0)),
    "triangles": lambda lib, a: (lib.outer(a, a).tril(), lib.outer(a, a).triu(1)),
    "diagonal": lambda lib, a: lib.outer(a, a).diagonal(),
    "index": lambda lib, a: (
        a[[0, 2]],
        lib.outer(a, a)[[0, 1], [1, 2]],
        a[lib.tensor([[0], [1]])],
    ),
    "gather": lambda lib, a: a.gather(0, a.argsort()),
    "pad": lambda lib, a: lib.nn.functional.pad(a, (1, 2)),
    "casts": lambda lib, a: (a.to(lib.float32), (a > 1).sum(), a.int()),
    "in place": lambda lib, a: (a * 1).add_(a).mul_(2),
    "in place on views": lambda lib, a: _written(a * 1),
    "assignment": lambda lib, a: _assigned(a * 1, a),
    "constants": lambda lib, a: (lib.ones(2), a * 0 + lib.arange(3)),
    "clone and detach": lambda lib, a: (a.clone(), a.detach() * a),
}


def _written(b: Any) -> Any:
    b[1:].mul_(2)
    b[:2].add_(b[2])
    return b


def _assigned(b: Any, a: Any) -> Any:
    b[0] = 7
    b[1:] = a[:2]
    return b


def _tupled(value: Any) -> Any:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", EXAMPLES)
def test_vmap(name: str) -> None:
    example = EXAMPLES[name]
    same(lambda lib, f: f.vmap(lambda a: _tupled(example(lib, a)))(lib.tensor(_BATCH)))


@pytest.mark.parametrize("name", EXAMPLES)
def test_vmap_is_a_loop(name: str) -> None:
    example, batch = EXAMPLES[name], tg.tensor(_BATCH)
    together = tg.func.vmap(lambda a: _tupled(example(tg, a)))(batch)
    for place in range(len(_BATCH)):
        for whole, alone in zip(
            together, _tupled(example(tg, batch[place])), strict=True
        ):
            np.testing.assert_allclose(whole[place].numpy(), alone.numpy(), 1e-12)


def _total(lib: Any, value: Any) -> Any:
    parts = [v for v in _tupled(value) if v.is_floating_point()]
    return sum(
        ((p.to(lib.float64) * (i + 1)).exp2().sum() for i, p in enumerate(parts))
    )


_DIFFERENTIABLE = [n for n in EXAMPLES if n not in ("constants",)]


@pytest.mark.parametrize("name", _DIFFERENTIABLE)
def test_gradients_of_examples(name: str) -> None:
    example = EXAMPLES[name]

    def program(lib: Any, f: Any) -> Any:
        def value(a: Any) -> Any:
            return _total(lib, example(lib, a))

        batch = lib.tensor(_BATCH)
        by_batch = f.vmap(f.grad(value))(batch)
        whole = f.grad(lambda b: f.vmap(value)(b).sum())(batch)
        return by_batch, whole

    same(program)


@pytest.mark.parametrize("name", _DIFFERENTIABLE)
def test_tangents_of_examples(name: str) -> None:
    example = EXAMPLES[name]
    batch = tg.tensor(_BATCH)
    direction = tg.tensor(_RNG.standard_normal(_BATCH.shape))

    def value(a: Any) -> Any:
        return _total(tg, example(tg, a))

    pulled = (tg.func.vmap(tg.func.grad(value))(batch) * direction).sum(1)
    pushed = tg.func.vmap(
        lambda a, t: tg.func.jvp(value, (a,), (t,))[1],
    )(batch, direction)
    outside = tg.func.jvp(tg.func.vmap(value), (batch,), (direction,))[1]
    np.testing.assert_allclose(pushed.numpy(), pulled.numpy(), 1e-6)
    np.testing.assert_allclose(outside.numpy(), pulled.numpy(), 1e-6)


DIMS = {
    "in_dims": lambda lib, f: f.vmap(lambda a: a * 2, in_dims=1)(lib.tensor(_BATCH)),
    "negative": lambda lib, f: f.vmap(lambda a: a.sum(0), in_dims=-1)(
        lib.tensor(_CUBE)
    ),
    "out_dims": lambda lib, f: f.vmap(lambda a: a * 2, out_dims=1)(lib.tensor(_BATCH)),
    "two out_dims": lambda lib, f: f.vmap(lambda a: (a, a.sum()), out_dims=(-1, 0))(
        lib.tensor(_BATCH)
    ),
    "none": lambda lib, f: f.vmap(lambda a, b: a @ b, in_dims=(0, None))(
        lib.tensor(_BATCH), lib.tensor(_BATCH[0])
    ),
    "nested dims": lambda lib, f: f.vmap(
        lambda d, b: d["x"] * d["y"] + b, in_dims=({"x": 0, "y": None}, 1)
    )({"x": lib.tensor(_BATCH), "y": lib.tensor(2.0)}, lib.tensor(_BATCH).t()),
    "nested": lambda lib, f: f.vmap(f.vmap(lambda a, b: a * b, in_dims=(0, None)))(
        lib.tensor(_CUBE), lib.tensor(_CUBE)[:, 0]
    ),
    "nested over different arguments": lambda lib, f: f.vmap(
        lambda a: f.vmap(lambda b: (a * b).sum())(lib.tensor(_MATRIX))
    )(lib.tensor(_BATCH)),
    "chunks": lambda lib, f: f.vmap(lambda a: (a * 2, a.sum()), chunk_size=3)(
        lib.tensor(_BATCH)
    ),
    "unbatched result": lambda lib, f: f.vmap(lambda a: lib.ones(2))(
        lib.tensor(_BATCH)
    ),
    "unbatched result with None": lambda lib, f: f.vmap(
        lambda a: lib.ones(2), out_dims=None
    )(lib.tensor(_BATCH)),
    "promotion of 0-dim": lambda lib, f: f.vmap(
        lambda a, s: (a.float() * s, s + 1, s.float() + s)
    )(lib.tensor(_BATCH), lib.tensor(_BATCH[:, 0])),
    "same randomness": lambda lib, f: _drawn(lib, f, "same"),
}


def _drawn(lib: Any, f: Any, randomness: str) -> Any:
    lib.manual_seed(0)
    draw = f.vmap(
        lambda a: a * 0 + lib.rand(3, dtype=lib.float64), randomness=randomness
    )
    return draw(lib.tensor(_BATCH))


@pytest.mark.parametrize("name", DIMS)
def test_dimensions(name: str) -> None:
    same(DIMS[name])


def test_different_randomness_differs() -> None:
    rows = _drawn(tg, tg.func, "different")
    assert len(np.unique(rows.numpy())) == rows.numel()


class Net:
    """A module of two layers in both libraries."""

    @staticmethod
    def make(lib: Any) -> Any:
        net = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.ReLU(), lib.nn.Linear(4, 1))
        with lib.no_grad():
            for parameter in net.parameters():
                count = parameter.numel()
                values = lib.arange(count, dtype=lib.float32).reshape(parameter.shape)
                parameter.copy_((values - count / 2) / count)
        return net


def test_per_sample_gradients_of_a_module() -> None:
    def program(lib: Any, f: Any) -> Any:
        net = Net.make(lib)
        values = {name: p.detach() for name, p in net.named_parameters()}

        def loss(values: Any, x: Any) -> Any:
            return (f.functional_call(net, values, (x,)) ** 2).sum()

        batch = lib.tensor(_BATCH, dtype=lib.float32)
        found = f.vmap(f.grad(loss), in_dims=(None, 0))(values, batch)
        assert all(p.grad is None for p in net.parameters())
        return {k: v.to(lib.float64) * 1 for k, v in found.items()}

    ours = program(tg, tg.func)
    theirs = program(torch, torch.func)
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name].numpy(), value.numpy(), 1e-4, 1e-6)


FUNCTIONAL = {
    "vjp": lambda lib, f: f.vjp(
        lambda x: x * x, lib.tensor(_MATRIX), lib.tensor(_MATRIX)
    ),
    "vjp of two": lambda lib, f: f.vjp(
        lambda x, y: (x * y, y),
        (lib.tensor(_MATRIX), lib.tensor(_MATRIX)),
        (lib.tensor(_MATRIX), lib.tensor(_MATRIX)),
    ),
    "jvp": lambda lib, f: f.jvp(
        lambda x: x.exp().sum(0), lib.tensor(_MATRIX), lib.tensor(_MATRIX)
    ),
    "jacobian": lambda lib, f: f.jacobian(
        lambda x: x.exp().sum(0), lib.tensor(_MATRIX)
    ),
    "jacobian of two": lambda lib, f: f.jacobian(
        lambda x, y: (x * y, y.sum()), (lib.tensor(_MATRIX), lib.tensor(_MATRIX))
    ),
    "forward jacobian": lambda lib, f: f.jacobian(
        lambda x: x.exp().sum(0),
        lib.tensor(_MATRIX),
        strategy="forward-mode",
        vectorize=True,
    ),
    "hessian": lambda lib, f: f.hessian(scalar, lib.tensor(_MATRIX)),
    "hessian of two": lambda lib, f: f.hessian(
        lambda x, y: (x * y * y).sum(), (lib.tensor(_MATRIX[0]), lib.tensor(_MATRIX[1]))
    ),
    "hvp": lambda lib, f: f.hvp(scalar, lib.tensor(_MATRIX), lib.tensor(_MATRIX)),
    "vhp": lambda lib, f: f.vhp(scalar, lib.tensor(_MATRIX), lib.tensor(_MATRIX)),
    "vhp of a linear function": lambda lib, f: f.vhp(
        lambda x: x.sum(), lib.tensor(_MATRIX), lib.tensor(_MATRIX)
    ),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_autograd_functional(name: str) -> None:
    program = FUNCTIONAL[name]
    ours = flatten(program(tg, tg.autograd.functional))[0]
    theirs = flatten(program(torch, torch.autograd.functional))[0]
    assert [tuple(a.shape) for a in ours] == [tuple(b.shape) for b in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert a.requires_grad == b.requires_grad
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-6)
