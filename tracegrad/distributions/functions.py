"""Distributions that are functions of others: Gumbel, Weibull, Pareto and more."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.distributions.continuous import Cauchy, Exponential, Uniform
from tracegrad.distributions.normal import Normal
from tracegrad.distributions.transformed import TransformedDistribution
from tracegrad.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
)
from tracegrad.distributions.utils import broadcast_all, euler_constant


class Gumbel(TransformedDistribution):
    """Gumbel distributions, of largest values."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = tg.finfo(self.loc.dtype)
        ones = tg.ones_like(self.loc)
        base = Uniform(ones * limits.tiny, ones * (1 - limits.eps), validate_args=False)
        transforms = [
            ExpTransform().inv,
            AffineTransform(0, -tg.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        made = super().expand(batch_shape)
        for name in (
            "loc",
            "scale",
        ):
            made.__dict__[name] = self.__dict__[name].expand(batch_shape)
        return made

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.stddev.pow(2)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return self.scale.log() + (1 + euler_constant)


class Weibull(TransformedDistribution):
    """Weibull distributions."""

    arg_constraints: ClassVar[Any] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive

    def __init__(
        self, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(tg.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration.reciprocal()),
            AffineTransform(0, self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        made = super().expand(batch_shape)
        for name in (
            "scale",
            "concentration",
        ):
            made.__dict__[name] = self.__dict__[name].expand(batch_shape)
        return made

    def _moment(self, order: int) -> Any:
        return (1 + order / self.concentration).lgamma().exp()

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.scale.pow(2) * (self._moment(2) - self._moment(1) ** 2)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return (
            euler_constant * (1 - self.concentration.reciprocal())
            + tg.log(self.scale * self.concentration.reciprocal())
            + 1
        )


class Pareto(TransformedDistribution):
    """Pareto distributions."""

    arg_constraints: ClassVar[Any] = {
        "alpha": constraints.positive,
        "scale": constraints.positive,
    }

    @constraints.dependent_property
    def support(self) -> Any:
        """Numbers from the scale on."""
        return constraints.greater_than_eq(self.scale)

    def __init__(
        self, scale: Any, alpha: Any, validate_args: bool | None = None
    ) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        made = super().expand(batch_shape)
        for name in (
            "scale",
            "alpha",
        ):
            made.__dict__[name] = self.__dict__[name].expand(batch_shape)
        return made

    @property
    def mean(self) -> Any:
        """The mean, inf for small alpha."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self.scale

    @property
    def variance(self) -> Any:
        """The variance, inf for small alpha."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class HalfCauchy(TransformedDistribution):
    """Sizes of Cauchy numbers around 0."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """The Cauchy distribution's scale."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """The mean."""
        return tg.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return tg.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return tg.where(value >= 0, found, -math.inf)

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        """Return below what `value` of the probability lies."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return self.base_dist.entropy() - math.log(2)


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy distributions on the unit interval."""

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool | None = None,
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(
            concentration1, concentration0
        )
        ones = tg.ones_like(self.concentration0)
        base = Uniform(tg.zeros_like(ones), ones, validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        made = super().expand(batch_shape)
        for name in (
            "concentration1",
            "concentration0",
        ):
            made.__dict__[name] = self.__dict__[name].expand(batch_shape)
        return made

    def _moment(self, order: int) -> Any:
        a, b = self.concentration1, self.concentration0
        first = 1 + order / a
        return (b.log() + first.lgamma() + b.lgamma() - (first + b).lgamma()).exp()

    @property
    def mean(self) -> Any:
        """The mean."""
        return self._moment(1)

    @property
    def mode(self) -> Any:
        """The most probable value, NaN where there is none."""
        a, b = self.concentration1, self.concentration0
        within = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return tg.where((a < 1) | (b < 1), math.nan, within)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self._moment(2) - self._moment(1) ** 2

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        a, b = self.concentration1, self.concentration0
        harmonic = tg.digamma(b + 1) + euler_constant
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - a.log() - b.log()


class LogisticNormal(TransformedDistribution):
    """Points of a simplex by stick breaking of normal numbers."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.simplex

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The normal's mean."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The normal's standard deviation."""
        return self.base_dist.base_dist.scale
