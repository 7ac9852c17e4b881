"""The normal distribution and what is made of it: log-normal and half-normal."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.distributions.distribution import ExponentialFamily
from tracegrad.distributions.transformed import TransformedDistribution
from tracegrad.distributions.transforms import AbsTransform, ExpTransform
from tracegrad.distributions.utils import broadcast_all

_LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)


class Normal(ExponentialFamily):
    """Normal distributions.

    Parameters
    ----------
    loc : Tensor or float
        Means.
    scale : Tensor or float
        Standard deviations.

    Examples
    --------
    >>> import tracegrad as tg
    >>> Normal(0.0, 1.0).log_prob(tg.tensor(0.0))
    tensor(-0.9189)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.loc

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.scale

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        shape = self._extended_shape(sample_shape)
        with tg.no_grad():
            return tg.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        eps = tg.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + eps * self.scale

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return (
            -((value - self.loc) ** 2) / (2 * self.variance)
            - self.scale.log()
            - _LOG_ROOT_TWO_PI
        )

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + tg.erf((value - self.loc) / self.scale / math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        """Return below what `value` of the probability lies."""
        return self.loc + self.scale * tg.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return 0.5 + _LOG_ROOT_TWO_PI + tg.log(self.scale)


class LogNormal(TransformedDistribution):
    """Distributions whose logarithm is normal."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The logarithm's mean."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The logarithm's standard deviation."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """The mean."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        """The variance."""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return self.base_dist.entropy() + self.loc


class HalfNormal(TransformedDistribution):
    """Sizes of normal numbers of mean 0."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """The normal's standard deviation."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return tg.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.scale.pow(2) * (1 - 2 / math.pi)

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
