"""Every distribution against PyTorch's: draws, densities, moments, gradients, pairs."""

import itertools

import numpy as np
import pytest

import tracegrad as tg
import tracegrad.torch as ours

torch = pytest.importorskip("torch")

rng = np.random.default_rng(3)
REAL = rng.normal(size=(3, 4))
SIZE = rng.uniform(0.3, 3.0, (3, 4))
MORE = rng.uniform(2.1, 6.0, (3, 4))
UNIT = rng.uniform(0.05, 0.95, (3, 4))
SCORES = rng.normal(size=(3, 5))
SIMPLEX = np.exp(SCORES) / np.exp(SCORES).sum(-1, keepdims=True)
LOWER = np.tril(rng.normal(size=(3, 3)), -1) + np.diag([1.0, 0.5, 2.0])
COVARIANCE = LOWER @ LOWER.T

# Name, parameters by name; floats stay floats.
CASES = {
    "Normal": {"loc": REAL, "scale": SIZE},
    "LogNormal": {"loc": REAL, "scale": SIZE},
    "HalfNormal": {"scale": SIZE},
    "Uniform": {"low": REAL, "high": REAL + SIZE},
    "Exponential": {"rate": SIZE},
    "Laplace": {"loc": REAL, "scale": SIZE},
    "Cauchy": {"loc": REAL, "scale": SIZE},
    "HalfCauchy": {"scale": SIZE},
    "Gumbel": {"loc": REAL, "scale": SIZE},
    "Weibull": {"scale": SIZE, "concentration": MORE},
    "Pareto": {"scale": SIZE, "alpha": MORE},
    "Kumaraswamy": {"concentration1": MORE, "concentration0": MORE[::-1].copy()},
    "LogisticNormal": {"loc": REAL, "scale": SIZE},
    "VonMises": {"loc": REAL, "concentration": SIZE},
    "Gamma": {"concentration": SIZE, "rate": MORE},
    "InverseGamma": {"concentration": MORE, "rate": SIZE},
    "Chi2": {"df": MORE},
    "Beta": {"concentration1": SIZE, "concentration0": MORE},
    "Dirichlet": {"concentration": MORE},
    "StudentT": {"df": MORE, "loc": REAL, "scale": SIZE},
    "FisherSnedecor": {"df1": MORE, "df2": MORE + 3},
    "Bernoulli": {"probs": UNIT},
    "Bernoulli ": {"logits": REAL},
    "ContinuousBernoulli": {"probs": UNIT},
    "Geometric": {"probs": UNIT},
    "Geometric ": {"logits": REAL},
    "Poisson": {"rate": MORE},
    "Binomial": {"total_count": 7, "probs": UNIT},
    "Binomial ": {"total_count": 7, "logits": REAL},
    "NegativeBinomial": {"total_count": 5.0, "probs": UNIT},
    "Categorical": {"probs": SIMPLEX},
    "Categorical ": {"logits": SCORES},
    "OneHotCategorical": {"probs": SIMPLEX},
    "OneHotCategoricalStraightThrough": {"logits": SCORES},
    "Multinomial": {"total_count": 6, "probs": SIMPLEX},
    "RelaxedBernoulli": {"temperature": 0.7, "logits": REAL},
    "LogitRelaxedBernoulli": {"temperature": 0.7, "probs": UNIT},
    "RelaxedOneHotCategorical": {"temperature": 0.7, "logits": SCORES},
    "MultivariateNormal": {"loc": REAL[:, :3], "covariance_matrix": COVARIANCE},
    "MultivariateNormal ": {"loc": REAL[:, :3], "scale_tril": LOWER},
    "MultivariateNormal  ": {"loc": REAL[:, :3], "precision_matrix": COVARIANCE},
    "LowRankMultivariateNormal": {
        "loc": REAL,
        "cov_factor": REAL.T[:, :2],
        "cov_diag": SIZE[0],
    },
}
# Draws of another stream than PyTorch's.
OTHER_STREAM = {"VonMises"}
CDF = [
    "Normal",
    "LogNormal",
    "HalfNormal",
    "Uniform",
    "Exponential",
    "Laplace",
    "Cauchy",
    "HalfCauchy",
    "Gumbel",
    "Weibull",
    "Pareto",
    "Kumaraswamy",
    "ContinuousBernoulli",
]


def given(lib, values, track=False):
    made = {}
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value = lib.from_numpy(value.copy())
            if track:
                value.requires_grad_()
        elif name == "temperature":
            value = lib.tensor(value, dtype=lib.float64)
        made[name] = value
    return made


def made(lib, name, track=False):
    arguments = given(lib, CASES[name], track)
    name = name.strip()
    home = lib.distributions
    if name.startswith("Logit"):
        home = lib.distributions.relaxed_bernoulli
    return getattr(home, name)(**arguments), arguments


def array(tensor):
    return tensor.detach().numpy()


def close(found, wanted, rtol=1e-6, atol=1e-8):
    np.testing.assert_allclose(array(found), array(wanted), rtol, atol)
    assert str(found.dtype).rpartition(".")[2] == str(wanted.dtype).rpartition(".")[2]


def drawn(lib, distribution, shape=(6,), how="sample"):
    lib.manual_seed(7)
    return getattr(distribution, how)(shape)


@pytest.mark.parametrize("name", CASES)
def test_draws(name):
    theirs, mine = made(torch, name)[0], made(ours, name)[0]
    for shape in ((), (6,), (2, 3)):
        wanted = drawn(torch, theirs, shape)
        found = drawn(ours, mine, shape)
        assert tuple(found.shape) == tuple(wanted.shape)
        if name not in OTHER_STREAM:
            close(found, wanted)
    # PyTorch's says no, though it has one.
    if name != "LogitRelaxedBernoulli":
        assert mine.has_rsample == theirs.has_rsample


@pytest.mark.parametrize("name", CASES)
def test_log_prob_and_its_gradient(name):
    theirs, parameters = made(torch, name, track=True)
    mine, own = made(ours, name, track=True)
    value = array(drawn(torch, theirs))
    wanted = theirs.log_prob(torch.from_numpy(value.copy()))
    found = mine.log_prob(ours.from_numpy(value.copy()))
    close(found, wanted)
    wanted.sum().backward()
    found.sum().backward()
    for key, tensor in parameters.items():
        if getattr(tensor, "grad", None) is not None:
            close(own[key].grad, tensor.grad, 1e-5)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "what", ["mean", "mode", "variance", "stddev", "entropy", "perplexity"]
)
def test_moments(name, what):
    found = []
    for lib in (torch, ours):
        distribution = made(lib, name)[0]
        try:
            value = getattr(distribution, what)
            found.append(value() if callable(value) else value)
        except NotImplementedError:
            found.append(None)
    # PyTorch takes the logarithm of negative numbers for Kumaraswamy's mode.
    if found[0] is None or (name, what) == ("Kumaraswamy", "mode"):
        return
    assert found[1] is not None
    close(found[1], found[0], 1e-5)


@pytest.mark.parametrize("name", CDF)
def test_cdf_and_icdf(name):
    theirs, mine = made(torch, name)[0], made(ours, name)[0]
    value = array(drawn(torch, theirs))
    wanted = theirs.cdf(torch.from_numpy(value.copy()))
    found = mine.cdf(ours.from_numpy(value.copy()))
    close(found, wanted)
    close(mine.icdf(found), theirs.icdf(wanted), 1e-5)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_draws(name):
    theirs, parameters = made(torch, name, track=True)
    mine, own = made(ours, name, track=True)
    if not theirs.has_rsample or name in OTHER_STREAM:
        return
    wanted = drawn(torch, theirs, how="rsample")
    found = drawn(ours, mine, how="rsample")
    close(found, wanted)
    weights = rng.normal(size=tuple(wanted.shape))
    (wanted * torch.from_numpy(weights)).sum().backward()
    (found * ours.from_numpy(weights)).sum().backward()
    for key, tensor in parameters.items():
        if getattr(tensor, "grad", None) is not None:
            # PyTorch approximates how gamma draws move to four digits.
            close(own[key].grad, tensor.grad, 5e-3, 1e-3)


@pytest.mark.parametrize("name", CASES)
def test_expand(name):
    theirs, mine = made(torch, name)[0], made(ours, name)[0]
    shape = (2, *theirs.batch_shape)
    wanted, found = theirs.expand(shape), mine.expand(shape)
    assert tuple(found.batch_shape) == tuple(wanted.batch_shape)
    assert tuple(found.event_shape) == tuple(wanted.event_shape)
    value = array(drawn(torch, wanted))
    close(
        found.log_prob(ours.from_numpy(value.copy())),
        wanted.log_prob(torch.from_numpy(value.copy())),
    )


@pytest.mark.parametrize("name", CASES)
def test_support(name):
    theirs, mine = made(torch, name)[0], made(ours, name)[0]
    if theirs.has_enumerate_support:
        for expand in (True, False):
            close(
                mine.enumerate_support(expand=expand),
                theirs.enumerate_support(expand=expand),
            )
    value = array(drawn(torch, theirs))
    assert mine.support.check(ours.from_numpy(value)).all()
    assert mine.support.event_dim == theirs.support.event_dim
    assert mine.support.is_discrete == theirs.support.is_discrete


PAIRS = [
    (p, q)
    for p, q in itertools.product(CASES, CASES)
    if p == p.strip() and q == q.strip()
]


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_divergence(p, q):
    found = []
    for lib in (torch, ours):
        try:
            pair = made(lib, p)[0], made(lib, q)[0]
            found.append(lib.distributions.kl_divergence(*pair))
        except NotImplementedError:
            found.append(None)
        except (RuntimeError, ValueError):
            found.append("refused")
    wanted, mine = found
    if isinstance(wanted, torch.Tensor) and mine is not None:
        close(mine, wanted, 1e-5)


def test_most_divergences_are_known():
    lost = []
    for p, q in PAIRS:
        found = []
        for lib in (torch, ours):
            try:
                pair = made(lib, p)[0], made(lib, q)[0]
                lib.distributions.kl_divergence(*pair)
                found.append(True)
            except (NotImplementedError, RuntimeError, ValueError):
                found.append(False)
        if found == [True, False]:
            lost.append((p, q))
    assert not lost, "LOST " + " ".join("-".join(x) for x in lost)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("Normal", {"loc": 0.0, "scale": -1.0}),
        ("Normal", {"loc": float("nan"), "scale": 1.0}),
        ("Uniform", {"low": 1.0, "high": 0.0}),
        ("Bernoulli", {"probs": 1.5}),
        ("Bernoulli", {}),
        ("Bernoulli", {"probs": 0.5, "logits": 0.0}),
        ("Exponential", {"rate": -1.0}),
        ("Poisson", {"rate": -1.0}),
        ("Beta", {"concentration1": -1.0, "concentration0": 1.0}),
    ],
)
def test_wrong_parameters(name, bad):
    for lib in (torch, ours):
        with pytest.raises(ValueError, match=r"(?i)expected|defined|specified"):
            getattr(lib.distributions, name)(**bad)


def test_wrong_values():
    for lib in (torch, ours):
        normal = lib.distributions.Normal(lib.zeros(3), lib.ones(3))
        with pytest.raises(ValueError, match="within the support"):
            normal.log_prob(lib.full((3,), float("nan")))
        with pytest.raises(ValueError, match="not broadcastable"):
            normal.log_prob(lib.zeros(4))
        lib.distributions.Normal(0.0, -1.0, validate_args=False)


def mixture(lib):
    weights = lib.distributions.Categorical(lib.from_numpy(SIMPLEX.copy()))
    parts = lib.distributions.Normal(
        lib.from_numpy(SCORES.copy()), lib.from_numpy(SIMPLEX + 0.5)
    )
    return lib.distributions.MixtureSameFamily(weights, parts)


def test_mixtures():
    theirs, mine = mixture(torch), mixture(ours)
    close(mine.mean, theirs.mean)
    close(mine.variance, theirs.variance)
    wanted, found = drawn(torch, theirs), drawn(ours, mine)
    close(found, wanted)
    close(mine.log_prob(found), theirs.log_prob(wanted))
    close(mine.cdf(found), theirs.cdf(wanted))


def flow(lib):
    d = lib.distributions
    base = d.Independent(
        d.Normal(lib.from_numpy(REAL.copy()), lib.from_numpy(SIZE.copy())), 1
    )
    steps = [
        d.AffineTransform(lib.from_numpy(REAL[0].copy()), 0.5, event_dim=1),
        d.TanhTransform(),
        d.transforms.ComposeTransform([d.AffineTransform(0.0, 2.0), d.ExpTransform()]),
    ]
    return d.TransformedDistribution(base, steps)


def test_flows():
    theirs, mine = flow(torch), flow(ours)
    wanted, found = drawn(torch, theirs), drawn(ours, mine)
    close(found, wanted)
    close(mine.log_prob(found), theirs.log_prob(wanted))
    assert tuple(mine.batch_shape) == tuple(theirs.batch_shape)


TRANSFORMS = {
    "ExpTransform": (),
    "SigmoidTransform": (),
    "TanhTransform": (),
    "SoftplusTransform": (),
    "StickBreakingTransform": (),
    "AffineTransform": (1.0, -2.0),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    found = []
    for lib in (torch, ours):
        transform = getattr(lib.distributions, name)(*TRANSFORMS[name])
        x = lib.from_numpy(REAL.copy())
        y = transform(x)
        found.append((y, transform.log_abs_det_jacobian(x, y), transform.inv(y)))
    for wanted, mine in zip(*found, strict=True):
        close(mine, wanted)


@pytest.mark.parametrize(
    "name", ["real", "positive", "unit_interval", "simplex", "lower_cholesky"]
)
def test_registered_transforms(name):
    for registry in ("biject_to", "transform_to"):
        found = []
        for lib in (torch, ours):
            constraint = getattr(lib.distributions.constraints, name)
            try:
                transform = getattr(lib.distributions, registry)(constraint)
            except NotImplementedError:
                assert lib is torch
                return
            square = REAL[:3, :3].copy()
            found.append(transform(lib.from_numpy(square)))
        close(found[1], found[0])


def test_captured():
    normal = tg.distributions.Normal(tg.zeros(3), tg.ones(3))
    captured = tg.trace(lambda x: normal.log_prob(x).sum())
    for _ in range(3):
        x = tg.randn(3)
        assert captured(x).item() == pytest.approx(normal.log_prob(x).sum().item())
