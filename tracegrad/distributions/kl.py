"""The Kullback-Leibler divergence of pairs of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tracegrad as tg
from tracegrad.distributions.categorical import Categorical, OneHotCategorical
from tracegrad.distributions.continuous import Cauchy, Exponential, Laplace, Uniform
from tracegrad.distributions.discrete import (
    Bernoulli,
    Binomial,
    ContinuousBernoulli,
    Geometric,
    Poisson,
)
from tracegrad.distributions.distribution import Distribution
from tracegrad.distributions.functions import Gumbel, Pareto
from tracegrad.distributions.gamma import Beta, Dirichlet, Gamma
from tracegrad.distributions.independent import Independent
from tracegrad.distributions.multivariate import (
    LowRankMultivariateNormal,
    MultivariateNormal,
)
from tracegrad.distributions.normal import HalfNormal, Normal
from tracegrad.distributions.transformed import TransformedDistribution
from tracegrad.distributions.utils import euler_constant, sum_rightmost
from tracegrad.errors import ArgumentTypeError

F = tg.nn.functional

_Formula = Callable[[Any, Any], Any]
_FORMULAS: dict[tuple[type, type], _Formula] = {}

# The kinds of the loops below.
_p: type
_q: type


def register_kl(type_p: type, type_q: type) -> Callable[[_Formula], _Formula]:
    """State the divergence of a pair of kinds of distributions (decorator).

    Raises
    ------
    ArgumentTypeError
        If one is no kind of distribution.
    """
    given: Any = (("type_p", type_p), ("type_q", type_q))
    for name, kind in given:
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise ArgumentTypeError(
                f"Expected {name} to be a Distribution subclass but got {kind}"
            )

    def enter(formula: _Formula) -> _Formula:
        _FORMULAS[type_p, type_q] = formula
        return formula

    return enter


def _formula_for(type_p: type, type_q: type) -> _Formula | None:
    """Return the formula of the nearest pair of base classes."""
    found = [
        (type_p.__mro__.index(p) + type_q.__mro__.index(q), formula)
        for (p, q), formula in _FORMULAS.items()
        if issubclass(type_p, p) and issubclass(type_q, q)
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """Return the divergence of `q` from `p`: the mean under `p` of ``log p - log q``.

    Raises
    ------
    NotImplementedError
        If no formula is known for the pair; state one with `register_kl`.

    Examples
    --------
    >>> from tracegrad.distributions import Normal
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    formula = _formula_for(type(p), type(q))
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} "
            f"and q type {type(q).__name__}"
        )
    return formula(p, q)


def _infinite_like(tensor: Any) -> Any:
    return tg.full_like(tensor, math.inf)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    apart = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + apart - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    yes = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    yes = tg.where(p.probs == 0, 0, tg.where(q.probs == 0, math.inf, yes))
    no = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    no = tg.where(p.probs == 1, 0, tg.where(q.probs == 1, math.inf, no))
    return yes + no


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    slope = p.mean * (p.logits - q.logits)
    norm = p._log_norm() + tg.log1p(-p.probs)
    return slope + norm - q._log_norm() - tg.log1p(-q.probs)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not "
            "implemented"
        )
    odds = p.probs * (p.logits - q.logits)
    found = p.total_count * (odds + (-p.probs).log1p() - (-q.probs).log1p())
    return tg.where(p.total_count > q.total_count, math.inf, found)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - tg.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = tg.where((q.probs == 0).expand_as(terms), math.inf, terms)
    terms = tg.where((p.probs == 0).expand_as(terms), 0, terms)
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    norm = b * (p.rate / q.rate).log() + tg.lgamma(b) - tg.lgamma(a)
    return norm + (a - b) * tg.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    a, b, c, d = (
        p.concentration1,
        p.concentration0,
        q.concentration1,
        q.concentration0,
    )
    total = a + b
    norm = c.lgamma() + d.lgamma() + total.lgamma()
    norm = norm - (c + d).lgamma() - a.lgamma() - b.lgamma()
    slope = (a - c) * tg.digamma(a) + (b - d) * tg.digamma(b)
    return norm + slope + (c + d - total) * tg.digamma(total)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    norm = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    slope = a.digamma() - total.digamma().unsqueeze(-1)
    return norm + ((a - b) * slope).sum(-1)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    apart = (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * tg.exp(-apart / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    wide = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return wide - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    own, other = p.loc / q.scale, q.loc / q.scale
    shift = ratio * euler_constant + own - other
    grown = tg.exp(other + (1 + ratio).lgamma() - own)
    return -ratio.log() + shift - 1 + grown - euler_constant


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    scale, alpha = p.scale / q.scale, q.alpha / p.alpha
    found = q.alpha * scale.log() - alpha.log() + alpha - 1
    return tg.where(p.scale < q.scale, math.inf, found)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return tg.where((q.low > p.low) | (q.high < p.high), math.inf, found)


# -- pairs of kinds, by moments -----------------------------------------------------


def _mean_log(p: Any) -> Any:
    """Return the mean of log(x)."""
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Gamma):
        return tg.digamma(p.concentration) - p.rate.log()
    if isinstance(p, Beta):
        total = p.concentration1 + p.concentration0
        return tg.digamma(p.concentration1) - tg.digamma(total)
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return (tg.xlogy(p.high, p.high) - tg.xlogy(p.low, p.low)) / (p.high - p.low) - 1


def _mean_log_rest(p: Any) -> Any:
    """Return the mean of log(1 - x) of numbers from 0 to 1."""
    low, high = 1 - p.high, 1 - p.low
    return (tg.xlogy(high, high) - tg.xlogy(low, low)) / (high - low) - 1


def _mean_exp(p: Any, t: Any) -> Any:
    """Return the mean of exp(t * x), inf where there is none."""
    if isinstance(p, Normal):
        return (t * p.loc + 0.5 * (t * p.scale).pow(2)).exp()
    if isinstance(p, Exponential):
        return tg.where(t < p.rate, p.rate / (p.rate - t), math.inf)
    if isinstance(p, Gamma):
        rest = (1 - t / p.rate).clamp(min=0)
        return rest.pow(-p.concentration)
    return ((t * p.high).exp() - (t * p.low).exp()) / (t * (p.high - p.low))


def _inside(p: Any, low: Any, high: Any) -> Any:
    """Return whether the values of a uniform or beta distribution lie in bounds."""
    if isinstance(p, Uniform):
        return (p.low >= low) & (p.high <= high)
    return tg.full_like(p.mean, True, dtype=tg.bool) & (low <= 0) & (high >= 1)


def _with(p: Any, mean_log_density: Any, allowed: Any = None) -> Any:
    """Return the divergence, inf where values of `p` are none of `q`'s."""
    found = -p.entropy() - mean_log_density
    return found if allowed is None else tg.where(allowed, found, math.inf)


def _to_normal(p: Any, q: Any) -> Any:
    variance = q.scale.pow(2)
    apart = (p.variance + (p.mean - q.loc).pow(2)) / variance
    return _with(p, -0.5 * (2 * math.pi * variance).log() - 0.5 * apart)


def _to_exponential(p: Any, q: Any) -> Any:
    allowed = _inside(p, 0, math.inf) if isinstance(p, Uniform) else None
    return _with(p, q.rate.log() - q.rate * p.mean, allowed)


def _to_gamma(p: Any, q: Any) -> Any:
    a = q.concentration
    powers = a * q.rate.log() + (a - 1) * _mean_log(p)
    allowed = _inside(p, 0, math.inf) if isinstance(p, Uniform) else None
    return _with(p, powers - q.rate * p.mean - a.lgamma(), allowed)


def _to_gumbel(p: Any, q: Any) -> Any:
    grown = (q.loc / q.scale).exp() * _mean_exp(p, -1 / q.scale)
    return _with(p, -(p.mean - q.loc) / q.scale - grown - q.scale.log())


def _to_uniform(p: Any, q: Any) -> Any:
    return _with(p, -(q.high - q.low).log(), _inside(p, q.low, q.high))


def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    mean = p.mean * q.logits + tg.log1p(-q.probs) + q._log_norm()
    return _with(p, mean, _inside(p, 0, 1))


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    norm = (a + b).lgamma() - a.lgamma() - b.lgamma()
    mean = norm + (a - 1) * _mean_log(p) + (b - 1) * _mean_log_rest(p)
    return _with(p, mean, _inside(p, 0, 1))


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    powers = q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)
    return _with(p, q.alpha.log() + powers, p.low >= q.scale)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    z = (p.loc - q.loc) / p.scale
    folded = math.sqrt(2 / math.pi) * (-0.5 * z * z).exp()
    size = p.scale * (folded + z * tg.erf(math.sqrt(0.5) * z))
    return _with(p, -(2 * q.scale).log() - size / q.scale)


for _formula, _q, _kinds in (
    (
        _to_normal,
        Normal,
        (Uniform, Exponential, Laplace, Gumbel, Gamma, Beta, Pareto,
         ContinuousBernoulli),
    ),
    (_to_exponential, Exponential, (Uniform, Gamma, Beta, Pareto, ContinuousBernoulli)),
    (_to_gamma, Gamma, (Uniform, Exponential, Beta, Pareto)),
    (_to_gumbel, Gumbel, (Normal, Exponential, Gamma, Uniform)),
    (_to_uniform, Uniform, (Beta, ContinuousBernoulli)),
    (_to_continuous_bernoulli, ContinuousBernoulli, (Uniform, Beta)),
):  # fmt: skip
    for _p in _kinds:
        register_kl(_p, _q)(_formula)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


def _square_of_solved(factor: Any, matrix: Any) -> Any:
    """Return the trace of ``inv(L) @ M @ M.T @ inv(L).T``."""
    solved = tg.linalg.solve_triangular(factor, matrix, upper=False)
    return solved.pow(2).sum((-2, -1))


def _log_diagonal(factor: Any) -> Any:
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _multivariate(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event "
            "shapes cannot be computed"
        )
    own, other = p.scale_tril, q.scale_tril
    n = p.event_shape[0]
    spread = _square_of_solved(other, own)
    apart = (q.loc - p.loc).unsqueeze(-1)
    distance = _square_of_solved(other, apart)
    return _log_diagonal(other) - _log_diagonal(own) + 0.5 * (spread + distance - n)


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_multivariate)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("events of different numbers of dimensions")
    found = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(found, p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("distributions of different transforms")
    return kl_divergence(p.base_dist, q.base_dist)


def _never(p: Any, q: Any) -> Any:
    """Return inf: `p` has values where `q` has none."""
    return _infinite_like(p.mean + 0 * q.mean)


_ABOVE_0 = (Exponential, Gamma, Pareto)
_WITHIN = (Uniform, Beta, ContinuousBernoulli)
for _p in (Normal, Laplace, Gumbel):
    for _q in (*_ABOVE_0, *_WITHIN):
        register_kl(_p, _q)(_never)
for _p in _ABOVE_0:
    for _q in _WITHIN:
        register_kl(_p, _q)(_never)
for _p, _q in (
    (Exponential, Pareto),
    (Gamma, Pareto),
    (Beta, Pareto),
    (ContinuousBernoulli, Pareto),
    (Poisson, Bernoulli),
    (Poisson, Binomial),
):
    register_kl(_p, _q)(_never)
