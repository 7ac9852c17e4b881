"""Continuous distributions of one number."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.distributions.distribution import Distribution, ExponentialFamily
from tracegrad.distributions.utils import broadcast_all
from tracegrad.errors import ArgumentError


class Uniform(Distribution):
    """Uniform distributions from `low` to below `high`."""

    arg_constraints: ClassVar[Any] = {
        "low": constraints.dependent,
        "high": constraints.dependent,
    }
    has_rsample = True

    @constraints.dependent_property
    def support(self) -> Any:
        """Numbers from the lower to the upper bound."""
        return constraints.interval(self.low, self.high)

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    def _check_parameters(self) -> None:
        if not (self.low < self.high).all():
            raise ArgumentError("Uniform is not defined when low>= high")

    @property
    def mean(self) -> Any:
        """The mean."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        """NaN: all values are alike."""
        return tg.full_like(self.high, math.nan)

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Any:
        """The variance."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        unit = tg.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + unit * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        inside = (self.low <= value) & (value < self.high)
        return tg.log(inside.type_as(self.low)) - tg.log(self.high - self.low)

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        """Return below what `value` of the probability lies."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return tg.log(self.high - self.low)


class Exponential(ExponentialFamily):
    """Exponential distributions."""

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return tg.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        drawn = self.rate.new_empty(shape).exponential_()
        return drawn / self.rate

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return 1 - tg.exp(-self.rate * value)

    def icdf(self, value: Any) -> Any:
        """Return below what `value` of the probability lies."""
        return -tg.log1p(-value) / self.rate

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return 1.0 - tg.log(self.rate)


class Laplace(Distribution):
    """Laplace distributions."""

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
    def variance(self) -> Any:
        """The variance."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        limits = tg.finfo(self.loc.dtype)
        u = self.loc.new_empty(shape).uniform_(limits.eps - 1, 1)
        # On both sides of the mean, the larger the rarer.
        size = tg.log1p(-u.abs().clamp(min=limits.tiny))
        return self.loc - self.scale * u.sign() * size

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return -tg.log(2 * self.scale) - tg.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to `value`."""
        if self._validate_args:
            self._validate_sample(value)
        distance = value - self.loc
        return 0.5 - 0.5 * distance.sign() * tg.expm1(-distance.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        """Return below what `value` of the probability lies."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * tg.log1p(-2 * term.abs())

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return 1 + tg.log(2 * self.scale)


class Cauchy(Distribution):
    """Cauchy distributions, which have no mean."""

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
        return tg.full(self._extended_shape(), math.nan, dtype=self.loc.dtype)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The variance."""
        return tg.full(self._extended_shape(), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        drawn = self.loc.new_empty(shape).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        square = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - square.log1p()

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return tg.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        """Return below what `value` of the probability lies."""
        return tg.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return math.log(4 * math.pi) + self.scale.log()


def _log_bessel(order: int, x: Any) -> Any:
    """Return the logarithm of a modified Bessel function of order 0 or 1.

    Notes
    -----
    By Gauss and Chebyshev's rule on the integral of exp(x cos t), which converges
    like the function's own series. Source: NIST DLMF 10.32.3.
    """
    count = 256
    angles = (tg.arange(count, dtype=x.dtype, device=x.device) + 0.5) * (
        math.pi / count
    )
    cosine = angles.cos()
    terms = (x.unsqueeze(-1) * (cosine - 1)).exp() * (cosine if order else 1.0)
    return terms.mean(-1).log() + x


class VonMises(Distribution):
    """Von Mises distributions of angles."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real
    has_rsample = False

    def __init__(
        self, loc: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
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
    def variance(self) -> Any:
        """The variance."""
        return (
            1
            - (
                _log_bessel(1, self.concentration) - _log_bessel(0, self.concentration)
            ).exp()
        )

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        peak = self.concentration * tg.cos(value - self.loc)
        norm = math.log(2 * math.pi) + _log_bessel(0, self.concentration)
        return peak - norm

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw by rejection from a wrapped Cauchy one (Best and Fisher, 1979)."""
        shape = self._extended_shape(sample_shape)
        with tg.no_grad():
            k = self.concentration.double()
            tau = 1 + (1 + 4 * k * k).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            ratio = tg.where(k < 1e-5, 1 / k + k, (1 + rho * rho) / (2 * rho))
            ratio, k = ratio.expand(shape), k.expand(shape)
            angle = tg.zeros(shape, dtype=tg.float64)
            done = tg.zeros(shape, dtype=tg.bool)
            while not done.all():
                u = tg.rand((3, *shape), dtype=tg.float64)
                z = tg.cos(math.pi * u[0])
                f = (1 + ratio * z) / (ratio + z)
                c = k * (ratio - f)
                accept = ((c * (2 - c) - u[1]) > 0) | ((c / u[1]).log() + 1 - c >= 0)
                drawn = (u[2] - 0.5).sign() * f.clamp(-1, 1).acos()
                angle = tg.where(accept & ~done, drawn, angle)
                done = done | accept
            turned = angle + math.pi + self.loc.double()
            return (turned % (2 * math.pi) - math.pi).to(self.loc.dtype)
