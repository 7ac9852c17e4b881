"""Draws against PyTorch, bit for bit, and the generator's state after them."""

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")
functional = torch.nn.functional

SHAPES = [(3,), (16,), (5, 7), (), (0,), (2, 17)]
FLOATING = ["float32", "float64", "float16"]


def _check(draw):
    """Compare ``draw(library)`` from one seed, and what is drawn after it."""
    torch.manual_seed(7)
    tg.manual_seed(7)
    for _ in range(2):
        wanted, found = draw(torch), draw(tg)
        assert found.shape == wanted.shape
        assert str(found.dtype).split(".")[-1] == str(wanted.dtype).split(".")[-1]
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())
    np.testing.assert_array_equal(tg.rand(3).numpy(), torch.rand(3).numpy())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FLOATING)
def test_continuous(shape, name):
    def dtype(t):
        return getattr(t, name)

    _check(lambda t: t.rand(shape, dtype=dtype(t)))
    _check(lambda t: t.rand(*(shape or ((),)), dtype=dtype(t)))
    _check(lambda t: t.randn(shape, dtype=dtype(t)))
    _check(lambda t: t.zeros(shape, dtype=dtype(t)).uniform_(-1, 2))
    _check(lambda t: t.zeros(shape, dtype=dtype(t)).normal_(1, 2))
    _check(lambda t: t.zeros(shape, dtype=dtype(t)).exponential_(2))
    _check(lambda t: t.zeros(shape, dtype=dtype(t)).bernoulli_(0.3))
    _check(lambda t: t.nn.functional.dropout(t.ones(shape, dtype=dtype(t)), 0.3))
    _check(lambda t: t.rand_like(t.ones(shape, dtype=dtype(t))))
    _check(lambda t: t.randn_like(t.ones(shape, dtype=dtype(t))))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    "name", ["int64", "int32", "int16", "int8", "uint8", "float32"]
)
def test_discrete(shape, name):
    def dtype(t):
        return getattr(t, name)

    _check(lambda t: t.randint(10, shape, dtype=dtype(t)))
    _check(lambda t: t.randint(3, 10, shape, dtype=dtype(t)))
    _check(lambda t: t.randint_like(t.ones(shape, dtype=dtype(t)), 3, 10))
    _check(lambda t: t.zeros(shape, dtype=dtype(t)).random_())
    _check(lambda t: t.zeros(shape, dtype=dtype(t)).random_(5))
    _check(lambda t: t.zeros(shape, dtype=dtype(t)).random_(5, 9))
    _check(lambda t: t.zeros(shape, dtype=dtype(t)).bernoulli_(0.3))


STRIDED = {
    "uniform_": lambda t: t.zeros(4, 6).t().uniform_(),
    "normal_": lambda t: t.zeros(4, 6).t().normal_(),
    "random_": lambda t: t.zeros(4, 6).t().random_(9),
    "bernoulli_": lambda t: t.zeros(4, 6).t().bernoulli_(0.5),
    "gaps": lambda t: t.zeros(4, 6)[:, ::2].normal_(),
    "rand_like": lambda t: t.rand_like(t.zeros(4, 6).t()),
    "randn_like": lambda t: t.randn_like(t.zeros(4, 6).t()),
    "randn_like of gaps": lambda t: t.randn_like(t.zeros(4, 6)[:, ::2]),
    "dropout": lambda t: t.nn.functional.dropout(t.ones(4, 6).t(), 0.5),
    "rand_like of 3 dims": lambda t: t.rand_like(t.zeros(2, 3, 4).permute(2, 0, 1)),
    "dropout of gaps": lambda t: t.nn.functional.dropout(t.ones(4, 6)[:, ::2], 0.5),
    "dropout of expanded": lambda t: t.nn.functional.dropout(t.ones(4, 1).expand(4, 5)),
}


@pytest.mark.parametrize("draw", STRIDED.values(), ids=STRIDED)
def test_order_of_memory(draw):
    _check(draw)


OTHERS = {
    "bernoulli": lambda t: t.bernoulli(t.tensor([0.3] * 5)),
    "bernoulli f64": lambda t: t.bernoulli(t.tensor([0.3] * 5, dtype=t.float64)),
    "bernoulli p": lambda t: t.bernoulli(t.ones(5), 0.3),
    "bernoulli method": lambda t: t.tensor([0.3] * 5).bernoulli(),
    "bernoulli_ tensor": lambda t: t.zeros(2, 5).bernoulli_(t.tensor([0.3] * 5)),
    "normal tensors": lambda t: t.normal(t.arange(3.0), t.ones(3) * 2),
    "normal mean": lambda t: t.normal(t.arange(3.0), 2.0),
    "normal std": lambda t: t.normal(1.0, t.arange(3.0)),
    "normal numbers": lambda t: t.normal(1.0, 2.0, (3,)),
    "normal broadcast": lambda t: t.normal(t.zeros(3, 1), t.ones(2)),
    "randperm": lambda t: t.randperm(10),
    "randperm int32": lambda t: t.randperm(10, dtype=t.int32),
    "dropout1d": lambda t: t.nn.functional.dropout1d(t.ones(3, 4)),
    "dropout2d": lambda t: t.nn.functional.dropout2d(t.ones(2, 3, 4, 4)),
    "dropout3d": lambda t: t.nn.functional.dropout3d(t.ones(2, 3, 4, 2, 2)),
    "alpha": lambda t: t.nn.functional.alpha_dropout(t.ones(3, 4), 0.4, True),
    "dropout 0": lambda t: t.nn.functional.dropout(t.ones(3), 0.0),
    "dropout 1": lambda t: t.nn.functional.dropout(t.ones(3) / 0, 1.0),
    "complex": lambda t: t.randn(4, dtype=t.complex64),
    "generator": lambda t: t.rand(3, generator=t.Generator().manual_seed(3)),
    "wide": lambda t: t.randint(0, 2**40, (5,)),
}


@pytest.mark.parametrize("draw", OTHERS.values(), ids=OTHERS)
def test_other_draws(draw):
    _check(draw)


REFUSED = [
    lambda t: t.ones(2).uniform_(2.0, 1.0),
    lambda t: t.ones(2).normal_(0.0, -1.0),
    lambda t: t.ones(2).bernoulli_(2.0),
    lambda t: t.ones(2).exponential_(-1.0),
    lambda t: t.bernoulli(t.tensor([2.0])),
    lambda t: t.randint(3, 3, (2,)),
    lambda t: t.randint(300, (2,), dtype=t.uint8),
    lambda t: t.rand(2, dtype=t.int64),
    lambda t: t.randperm(-1),
    lambda t: t.ones(2, dtype=t.int64).uniform_(),
    lambda t: t.ones(2, requires_grad=True).uniform_(),
    lambda t: t.manual_seed(2**64),
    lambda t: t.nn.functional.dropout(t.ones(2), 1.5),
    lambda t: t.normal(t.zeros(2), -1.0),
    lambda t: t.set_rng_state(t.zeros(3, dtype=t.uint8)),
]


@pytest.mark.parametrize("attempt", REFUSED)
def test_what_raises(attempt):
    with pytest.raises((RuntimeError, ValueError)) as theirs:
        attempt(torch)
    with pytest.raises(tg.errors.TracegradError) as ours:
        attempt(tg)
    assert isinstance(ours.value, RuntimeError) or type(theirs.value) is ValueError


def test_states_are_exchanged():
    torch.manual_seed(5)
    torch.randn(3)
    tg.set_rng_state(tg.from_numpy(torch.get_rng_state().numpy()))
    np.testing.assert_array_equal(tg.randn(5).numpy(), torch.randn(5).numpy())
    kept = tg.get_rng_state()
    first = tg.rand(4)
    tg.set_rng_state(kept)
    np.testing.assert_array_equal(tg.rand(4).numpy(), first.numpy())
    assert tg.initial_seed() == torch.initial_seed()


def test_dropout_passes_gradients_where_it_kept():
    torch.manual_seed(3)
    tg.manual_seed(3)
    ours, theirs = tg.ones(40, requires_grad=True), torch.ones(40, requires_grad=True)
    tg.dropout(ours, 0.4).sum().backward()
    functional.dropout(theirs, 0.4).sum().backward()
    np.testing.assert_array_equal(ours.grad.numpy(), theirs.grad.numpy())
    eval_result = tg.dropout(ours, 0.4, training=False)
    assert eval_result is ours
