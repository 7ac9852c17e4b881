"""Distributions against what mathematics says; PyTorch's numbers are elsewhere."""

import math

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import distributions as d

LIMITS = {
    "Normal": (d.Normal(0.5, 1.2), -12, 12),
    "LogNormal": (d.LogNormal(0.1, 0.5), 1e-9, 40),
    "HalfNormal": (d.HalfNormal(1.3), 0, 15),
    "Uniform": (d.Uniform(-1.0, 2.0), -1, 2),
    "Exponential": (d.Exponential(1.5), 0, 30),
    "Laplace": (d.Laplace(0.2, 0.7), -25, 25),
    "Gumbel": (d.Gumbel(0.2, 0.7), -10, 30),
    "Weibull": (d.Weibull(1.1, 2.2), 1e-9, 12),
    "Pareto": (d.Pareto(1.0, 6.0), 1, 60),
    "Kumaraswamy": (d.Kumaraswamy(2.0, 3.0), 1e-9, 1 - 1e-9),
    "VonMises": (d.VonMises(0.3, 2.0), -math.pi, math.pi),
    "Gamma": (d.Gamma(2.5, 1.5), 1e-9, 40),
    "InverseGamma": (d.InverseGamma(5.5, 1.5), 1e-4, 100),
    "Chi2": (d.Chi2(5.0), 1e-9, 90),
    "Beta": (d.Beta(2.0, 3.5), 1e-9, 1 - 1e-9),
    "StudentT": (d.StudentT(9.0, 0.3, 1.1), -200, 200),
    "FisherSnedecor": (d.FisherSnedecor(6.0, 14.0), 1e-9, 400),
    "ContinuousBernoulli": (d.ContinuousBernoulli(0.3), 0, 1),
    "RelaxedBernoulli": (d.RelaxedBernoulli(tg.tensor(0.8), 0.4), 1e-7, 1 - 1e-7),
}


@pytest.mark.parametrize("name", LIMITS)
def test_the_density_has_the_mass_and_moments_it_states(name: str) -> None:
    distribution, low, high = LIMITS[name]
    # Points that are dense at both ends, where densities are steep.
    u = np.linspace(0, math.pi, 200_001)[1:-1]
    x = low + (high - low) * (1 - np.cos(u)) / 2
    density = distribution.log_prob(tg.from_numpy(x)).exp().numpy()
    weight = np.gradient(x)
    assert (density * weight).sum() == pytest.approx(1.0, abs=2e-4)
    if name in ("VonMises", "RelaxedBernoulli"):
        return
    mean = (density * weight * x).sum()
    assert mean == pytest.approx(float(distribution.mean), abs=2e-3)
    spread = (density * weight * (x - mean) ** 2).sum()
    assert spread == pytest.approx(float(distribution.variance), abs=1e-2)


@pytest.mark.parametrize("name", LIMITS)
def test_draws_have_the_mean(name: str) -> None:
    distribution, _, _ = LIMITS[name]
    tg.manual_seed(1)
    drawn = distribution.sample((4000,)).double()
    assert drawn.shape == (4000,)
    assert distribution.support.check(drawn).all()
    if name in ("VonMises", "RelaxedBernoulli"):
        return
    spread = float(distribution.variance) ** 0.5
    assert drawn.mean().item() == pytest.approx(
        float(distribution.mean), abs=0.08 * spread
    )


def test_gradients_of_gamma_draws_are_those_of_their_mean() -> None:
    tg.manual_seed(2)
    concentration = tg.full((40_000,), 2.5, dtype=tg.float64, requires_grad=True)
    d.Gamma(concentration, tg.ones((), dtype=tg.float64)).rsample().sum().backward()
    # d mean / d concentration is 1.
    assert concentration.grad.mean().item() == pytest.approx(1.0, abs=0.02)


def test_a_divergence_is_the_mean_of_the_difference_of_logarithms() -> None:
    tg.manual_seed(3)
    p, q = d.Gamma(2.0, 1.0), d.Gamma(3.0, 1.5)
    x = p.sample((40_000,))
    mean = (p.log_prob(x) - q.log_prob(x)).mean().item()
    assert d.kl_divergence(p, q).item() == pytest.approx(mean, abs=0.01)


def test_an_unknown_pair_is_refused_and_can_be_stated() -> None:
    class Mine(d.Normal):
        pass

    with pytest.raises(NotImplementedError, match="Categorical and q type Normal"):
        d.kl_divergence(d.Categorical(tg.ones(2)), d.Normal(0.0, 1.0))
    d.register_kl(Mine, d.Normal)(lambda p, q: "mine")
    assert d.kl_divergence(Mine(0.0, 1.0), d.Normal(0.0, 1.0)) == "mine"


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ValueError, match=r"parameter scale .* of distribution Normal"):
        d.Normal(0.0, -1.0)
    with pytest.raises(ValueError, match="Either `probs` or `logits`"):
        d.Categorical()
    with pytest.raises(ValueError, match="within the support"):
        d.Exponential(1.0).log_prob(tg.tensor(-1.0))


def test_validation_can_be_switched_off() -> None:
    d.Distribution.set_default_validate_args(False)
    try:
        assert d.Normal(0.0, -1.0).scale.item() == -1
    finally:
        d.Distribution.set_default_validate_args(True)


def test_a_policy_is_captured_with_its_draws() -> None:
    def step(logits: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        policy = d.Categorical(logits=logits, validate_args=False)
        action = policy.sample()
        return action, -policy.log_prob(action).mean()

    captured = tg.trace(step)
    logits = tg.randn(5, 3, requires_grad=True)
    for _ in range(3):
        tg.manual_seed(4)
        action, loss = captured(logits)
        tg.manual_seed(4)
        wanted, expected = step(logits)
        assert action.tolist() == wanted.tolist()
        assert loss.item() == pytest.approx(expected.item())
    assert "eagerly" not in str(captured.explain())
