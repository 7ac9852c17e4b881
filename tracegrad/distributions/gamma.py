"""Distributions made of gamma draws: gamma, beta, Dirichlet, Student's t and more."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import tracegrad as tg
from tracegrad.dispatch.generator import default_for
from tracegrad.distributions import constraints
from tracegrad.distributions.distribution import Distribution, ExponentialFamily
from tracegrad.distributions.transformed import TransformedDistribution
from tracegrad.distributions.transforms import PowerTransform
from tracegrad.distributions.utils import broadcast_all
from tracegrad.errors import ArgumentError
from tracegrad.ops.sampling import dirichlet_draw, gamma_draw


def _gammas(concentration: Any) -> Any:
    return gamma_draw(default_for(concentration.device), concentration)


class Gamma(ExponentialFamily):
    """Gamma distributions."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    has_rsample = True

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        drawn = _gammas(self.concentration.expand(shape)) / self.rate.expand(shape)
        tiny = tg.finfo(drawn.dtype).tiny
        # Kept off 0, without a change of the gradient.
        return drawn + (drawn.detach().clamp(min=tiny) - drawn.detach())

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        value = tg.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        a, b = self.concentration, self.rate
        powers = tg.xlogy(a, b) + tg.xlogy(a - 1, value)
        return powers - b * value - tg.lgamma(a)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return (
            self.concentration
            - tg.log(self.rate)
            + tg.lgamma(self.concentration)
            + (1.0 - self.concentration) * tg.digamma(self.concentration)
        )


class Chi2(Gamma):
    """Chi-squared distributions.

    Parameters
    ----------
    df : Tensor or float
        Degrees of freedom.
    """

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        half = 0.5 * tg.as_tensor(df) if isinstance(df, tg.Tensor) else 0.5 * df
        super().__init__(half, 0.5, validate_args=validate_args)

    def _parameter_names(self) -> dict[str, int]:
        return {"concentration": 0, "rate": 0}

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return self.concentration * 2


class Dirichlet(ExponentialFamily):
    """Dirichlet distributions of points of a simplex."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.independent(constraints.positive, 1)
    }
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        (self.concentration,) = broadcast_all(concentration)
        if self.concentration.dim() < 1:
            raise ArgumentError("`concentration` parameter must be at least 1-dim.")
        shape = self.concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        concentration = self.concentration.expand(shape)
        return dirichlet_draw(default_for(concentration.device), concentration)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        powers = tg.xlogy(a - 1.0, value).sum(-1)
        return powers + tg.lgamma(a.sum(-1)) - tg.lgamma(a).sum(-1)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        rest = (self.concentration - 1).clamp(min=0.0)
        found = rest / rest.sum(-1, True)
        single = (self.concentration < 1).all(dim=-1)
        corner = tg.nn.functional.one_hot(found.nan_to_num().argmax(-1), rest.shape[-1])
        return tg.where(single.unsqueeze(-1), corner.to(found.dtype), found)

    @property
    def variance(self) -> Any:
        """The variance."""
        total = self.concentration.sum(-1, True)
        a = self.concentration
        return a * (total - a) / (total.pow(2) * (total + 1))

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        a, k = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        return (
            tg.lgamma(a).sum(-1)
            - tg.lgamma(total)
            - (k - total) * tg.digamma(total)
            - ((a - 1.0) * tg.digamma(a)).sum(-1)
        )


class Beta(ExponentialFamily):
    """Beta distributions.

    Parameters
    ----------
    concentration1, concentration0 : Tensor or float
        Alpha and beta.
    """

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool | None = None,
    ) -> None:
        both = broadcast_all(concentration1, concentration0)
        self._dirichlet = Dirichlet(tg.stack(both, -1), validate_args=validate_args)
        shape = self._dirichlet.batch_shape
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._dirichlet = self._dirichlet.expand(batch_shape)
        made._batch_shape = tg.Size(batch_shape)
        return made

    @property
    def concentration1(self) -> Any:
        """Alpha."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """Beta."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        """The variance."""
        a, b = self.concentration1, self.concentration0
        total = a + b
        return a * b / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(tg.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return self._dirichlet.entropy()


class InverseGamma(TransformedDistribution):
    """Distributions whose reciprocal is a gamma distribution."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.positive

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool | None = None
    ) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        minus_one = -base.rate.new_ones(())
        inverse = PowerTransform(minus_one)
        super().__init__(base, inverse, validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """The gamma's concentration."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The gamma's rate."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        """The mean, inf for a small concentration."""
        found = self.rate / (self.concentration - 1)
        return tg.where(self.concentration > 1, found, math.inf)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """The variance, inf for a small concentration."""
        a = self.concentration
        found = self.rate.square() / ((a - 1).square() * (a - 2))
        return tg.where(a > 2, found, math.inf)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class StudentT(Distribution):
    """Student's t distributions."""

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        df: Any,
        loc: Any = 0.0,
        scale: Any = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean, NaN for one degree of freedom or less."""
        return tg.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The variance, inf or NaN for few degrees of freedom."""
        found = self.scale.pow(2) * self.df / (self.df - 2)
        found = tg.where(self.df > 2, found, math.inf)
        return tg.where(self.df <= 1, math.nan, found)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        x = tg.randn(shape, dtype=self.df.dtype, device=self.df.device)
        z = Chi2(self.df).rsample(sample_shape)
        return self.loc + self.scale * (x * tg.rsqrt(z / self.df))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        half = 0.5 * self.df
        norm = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + tg.lgamma(half)
            - tg.lgamma(half + 0.5)
        )
        return -0.5 * (self.df + 1.0) * tg.log1p(y**2.0 / self.df) - norm

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        half = 0.5 * self.df
        log_beta = tg.lgamma(half) + math.lgamma(0.5) - tg.lgamma(half + 0.5)
        slope = tg.digamma(half + 0.5) - tg.digamma(half)
        return self.scale.log() + (half + 0.5) * slope + 0.5 * self.df.log() + log_beta


class FisherSnedecor(Distribution):
    """Fisher's F distributions."""

    arg_constraints: ClassVar[Any] = {
        "df1": constraints.positive,
        "df2": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean, NaN for two degrees of freedom or less."""
        return tg.where(self.df2 <= 2, math.nan, self.df2 / (self.df2 - 2))

    @property
    def mode(self) -> Any:
        """The most probable value."""
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return tg.where(self.df1 <= 2, math.nan, found)

    @property
    def variance(self) -> Any:
        """The variance, NaN for four degrees of freedom or less."""
        b = tg.where(self.df2 <= 4, math.nan, self.df2)
        a = self.df1
        return 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        above = Gamma(self.df1 * 0.5, self.df1).rsample(sample_shape)
        below = Gamma(self.df2 * 0.5, self.df2).rsample(sample_shape)
        tiny = tg.finfo(self.df2.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        norm = (a + b).lgamma() - a.lgamma() - b.lgamma()
        power = a * ratio.log() + (a - 1) * tg.log(value)
        return norm + power - (a + b) * tg.log1p(ratio * value)
