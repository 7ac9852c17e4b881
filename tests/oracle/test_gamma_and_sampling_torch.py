"""lgamma and its derivatives; draws with a tensor of parameters: PyTorch's numbers."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.ops.sampling import dirichlet_draw, gamma_draw

torch = pytest.importorskip("torch")

X = np.concatenate(
    [
        np.linspace(-5.7, 40, 457),
        np.logspace(-8, 8, 65),
        [np.inf, -np.inf, np.nan, 0.0, -0.0, -3.0, 1.0, 2.0],
    ]
)
W = np.random.default_rng(0).random((4, 7))


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gamma_functions(name, dtype):
    x = X.astype(dtype)
    found = getattr(tg, name)(tg.from_numpy(x)).numpy()
    wanted = getattr(torch, name)(torch.from_numpy(x)).numpy()
    # Next to their zeros below 0 neither is precise.
    tight = {"float64": (1e-11, 1e-13), "float32": (2e-5, 2e-5)}[dtype]
    np.testing.assert_allclose(found, wanted, *tight)


@pytest.mark.parametrize("n", range(5))
def test_polygamma(n):
    x = np.linspace(0.1, 30, 97)
    found = tg.polygamma(n, tg.from_numpy(x)).numpy()
    wanted = torch.polygamma(n, torch.from_numpy(x))
    # PyTorch's trigamma has nine digits.
    np.testing.assert_allclose(found, wanted, 2e-9, 1e-12)
    t = tg.from_numpy(x).requires_grad_()
    u = torch.from_numpy(x).requires_grad_()
    tg.polygamma(n, t).sum().backward()
    torch.polygamma(n, u).sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), u.grad.numpy(), 2e-9)


def test_mvlgamma():
    x = np.linspace(2.1, 9, 11)
    found = tg.mvlgamma(tg.from_numpy(x), 3).numpy()
    np.testing.assert_allclose(found, torch.mvlgamma(torch.from_numpy(x), 3), 1e-13)
    for lib in (tg, torch):
        with pytest.raises(RuntimeError):
            lib.mvlgamma(lib.ones(3), 0)


def both(draw):
    found = []
    for lib in (torch, tg):
        lib.manual_seed(11)
        found.append((draw(lib).numpy(), lib.rand(3).numpy()))
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("count", "again"),
    [(1, False), (1, True), (3, False), (7, False), (5, True), (100, True)],
)
@pytest.mark.parametrize("rows", [W, W[0]], ids=["rows", "row"])
def test_multinomial(dtype, count, again, rows):
    weights = rows.astype(dtype)
    theirs, ours = both(
        lambda lib: lib.multinomial(lib.from_numpy(weights), count, again)
    )
    assert ours[0].dtype == np.int64
    assert np.array_equal(ours[0], theirs[0])
    assert np.array_equal(ours[1], theirs[1])


@pytest.mark.parametrize(
    ("weights", "count", "again"),
    [
        ([-1.0, 2.0], 1, False),
        ([float("nan"), 2.0], 1, True),
        ([float("inf"), 2.0], 1, True),
        ([0.0, 0.0], 1, True),
        ([1.0, 2.0], 3, False),
        ([1.0, 2.0], 0, False),
        ([[[1.0]]], 1, True),
        ([1, 2], 1, True),
    ],
)
def test_multinomial_refuses_what_pytorch_does(weights, count, again):
    for lib in (torch, tg):
        with pytest.raises(RuntimeError):
            lib.multinomial(lib.tensor(weights), count, again)


@pytest.mark.parametrize(
    "draw",
    [
        lambda lib: lib.poisson(lib.from_numpy(W * 30)),
        lambda lib: lib.poisson(lib.zeros(3)),
        lambda lib: lib.binomial(lib.full((4, 7), 9.0), lib.from_numpy(W).float()),
        lambda lib: lib.binomial(lib.full((4, 7), 90.0), lib.from_numpy(W).float()),
        lambda lib: lib.empty(40).cauchy_(),
        lambda lib: lib.empty(4, 10).t().cauchy_(1, 2),
        lambda lib: lib.empty(41).log_normal_(0.3, 0.5),
        lambda lib: lib.empty(41, dtype=lib.float64).log_normal_(),
        lambda lib: lib.empty(40).geometric_(0.3),
        lambda lib: lib.empty(40, dtype=lib.int64).geometric_(0.7),
    ],
)
def test_streams(draw):
    theirs, ours = both(draw)
    assert ours[0].dtype == theirs[0].dtype
    assert np.array_equal(ours[0], theirs[0])
    assert np.array_equal(ours[1], theirs[1])


def test_draws_move_with_their_parameters():
    c = W * 5 + 0.1
    weights = tg.from_numpy(W)
    pairs = [
        (gamma_draw, torch._standard_gamma),
        (dirichlet_draw, lambda x: torch.distributions.Dirichlet(x).rsample()),
    ]
    for ours, theirs in pairs:
        tg.manual_seed(5)
        torch.manual_seed(5)
        x = tg.from_numpy(c).requires_grad_()
        y = torch.from_numpy(c).requires_grad_()
        found, wanted = ours(tg.default_generator, x), theirs(y)
        np.testing.assert_allclose(
            found.detach().numpy(), wanted.detach().numpy(), 1e-15
        )
        (found * weights).sum().backward()
        (wanted * torch.from_numpy(W)).sum().backward()
        # PyTorch approximates them to four digits.
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), 2e-3, 1e-4)
