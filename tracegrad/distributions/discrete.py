"""Discrete distributions of one number."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.distributions.distribution import Distribution, ExponentialFamily
from tracegrad.distributions.utils import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from tracegrad.errors import ArgumentError

F = tg.nn.functional


def one_of(**given: Any) -> str:
    """Return which of two parameters was given.

    Raises
    ------
    ArgumentError
        If both or neither were.
    """
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        first, second = given
        raise ArgumentError(
            f"Either `{first}` or `{second}` must be specified, but not both."
        )
    return names[0]


class _Binary(Distribution):
    """A distribution with a probability, or its log odds."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    def _take(self, probs: Any, logits: Any) -> None:
        name = one_of(probs=probs, logits=logits)
        (value,) = broadcast_all(probs if name == "probs" else logits)
        self.__dict__[name] = value

    @property
    def _given(self) -> Any:
        """The parameter that was given."""
        name = "probs" if "probs" in self.__dict__ else "logits"
        return self.__dict__[name]

    @lazy_property
    def logits(self) -> Any:
        """The log odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probability."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameters."""
        return self._given.shape


class Bernoulli(_Binary, ExponentialFamily):
    """Ones with a probability, else zeros.

    Parameters
    ----------
    probs, logits : Tensor or float
        One of the two.

    Examples
    --------
    >>> import tracegrad as tg
    >>> Bernoulli(tg.tensor([0.5])).entropy()
    tensor([0.6931])
    """

    support = constraints.boolean
    has_enumerate_support = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._given.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The most probable value, NaN if both are alike."""
        found = (self.probs >= 0.5).to(self.probs.dtype)
        return tg.where(self.probs == 0.5, math.nan, found)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        shape = self._extended_shape(sample_shape)
        with tg.no_grad():
            return tg.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of `value`."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return F.binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none"
        )

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return 0 and 1, along a new first dimension."""
        ones = (1,) * len(self._batch_shape)
        values: Any = tg.arange(2, dtype=self._given.dtype).reshape((-1, *ones))
        return values.expand((-1, *self._batch_shape)) if expand else values


class Geometric(_Binary):
    """How many trials fail before the first success.

    Parameters
    ----------
    probs, logits : Tensor or float
        Of success; one of the two.
    """

    support = constraints.nonnegative_integer

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._given.shape, validate_args=validate_args)
        given = self._validate_args and "probs" in self.__dict__
        if given and not (self.probs > 0).all():
            raise ArgumentError(
                "Expected parameter probs of Geometric to be positive, but found "
                f"invalid values:\n{self.probs}"
            )

    @property
    def mean(self) -> Any:
        """The mean."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return tg.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        """The variance."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        shape = self._extended_shape(sample_shape)
        tiny = tg.finfo(self.probs.dtype).tiny
        with tg.no_grad():
            u = self.probs.new_empty(shape).uniform_().clamp(min=tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of `value`."""
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        # Of a sure success no failure comes before, and 0 * log(0) is 0.
        probs = tg.where((probs == 1) & (value == 0), 0, probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        logits, probs = self.logits, self.probs
        return F.binary_cross_entropy_with_logits(logits, probs, reduction="none") / (
            probs
        )


class Poisson(ExponentialFamily):
    """Poisson distributions.

    Parameters
    ----------
    rate : Tensor or float
        Means.
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.rate

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        shape = self._extended_shape(sample_shape)
        with tg.no_grad():
            return tg.poisson(self.rate.expand(shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of `value`."""
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()


class Binomial(_Binary):
    """How many of a number of trials succeed.

    Parameters
    ----------
    total_count : int or Tensor
    probs, logits : Tensor or float
        Of success; one of the two.
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        name = one_of(probs=probs, logits=logits)
        self.total_count, value = broadcast_all(
            total_count, probs if name == "probs" else logits
        )
        self.total_count = self.total_count.type_as(value)
        self.__dict__[name] = value
        super().__init__(value.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True)
    def support(self) -> Any:
        """Whole numbers up to the count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        """The most probable value."""
        found = ((self.total_count + 1) * self.probs).floor()
        return tg.minimum(found.clamp(min=0), self.total_count)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        shape = self._extended_shape(sample_shape)
        with tg.no_grad():
            return tg.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of `value`."""
        if self._validate_args:
            self._validate_sample(value)
        count, logits = self.total_count, self.logits
        # n log(1 + e**l), from the side on which e**l is small.
        positive = (logits + logits.abs()) / 2
        norm = (
            count * positive
            + count * tg.log1p(tg.exp(-tg.abs(logits)))
            - tg.lgamma(count + 1)
        )
        chosen = tg.lgamma(value + 1) + tg.lgamma(count - value + 1)
        return value * logits - chosen - norm

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return all counts, along a new first dimension."""
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        ones = (1,) * len(self._batch_shape)
        values: Any = tg.arange(1 + most, dtype=self._given.dtype).reshape((-1, *ones))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `entropy`."
            )
        found = self.log_prob(self.enumerate_support(False))
        return -(tg.exp(found) * found).sum(0)


class NegativeBinomial(_Binary):
    """How many trials succeed before a number of failures.

    Parameters
    ----------
    total_count : float or Tensor
        Of failures.
    probs, logits : Tensor or float
        Of success; one of the two.
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        name = one_of(probs=probs, logits=logits)
        self.total_count, value = broadcast_all(
            total_count, probs if name == "probs" else logits
        )
        self.total_count = self.total_count.type_as(value)
        self.__dict__[name] = value
        super().__init__(value.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.total_count * tg.exp(self.logits)

    @property
    def mode(self) -> Any:
        """The most probable value."""
        found = (self.total_count - 1) * self.logits.exp()
        return found.floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.mean / tg.sigmoid(-self.logits)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients: of a Poisson distribution of a gamma rate."""
        from_gamma = tg.distributions.Gamma(
            concentration=self.total_count,
            rate=tg.exp(-self.logits),
            validate_args=False,
        )
        with tg.no_grad():
            return tg.poisson(from_gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of `value`."""
        if self._validate_args:
            self._validate_sample(value)
        count = self.total_count
        found = count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        norm = -tg.lgamma(count + value) + tg.lgamma(1.0 + value) + tg.lgamma(count)
        return found - tg.where(count + value == 0.0, 0.0, norm)


class ContinuousBernoulli(_Binary, ExponentialFamily):
    """Numbers from 0 to 1 with a density as of Bernoulli's probability.

    Parameters
    ----------
    probs, logits : Tensor or float
        One of the two.
    lims : tuple of two floats
        Between these the probability counts as 1/2, where formulas divide 0 by 0.

    Notes
    -----
    Source: G. Loaiza-Ganem and J. P. Cunningham, "The continuous Bernoulli", NeurIPS
    2019.
    """

    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        self._take(probs, logits)
        if "probs" in self.__dict__:
            self.__dict__["probs"] = clamp_probs(self.probs)
        super().__init__(self._given.shape, validate_args=validate_args)

    def _outside(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Any:
        """Return the probabilities, those near 1/2 moved to the first limit."""
        return tg.where(self._outside(), self.probs, self._lims[0])

    def _log_norm(self) -> Any:
        cut = self._cut()
        below = tg.where(cut <= 0.5, cut, 0.0)
        above = tg.where(cut >= 0.5, cut, 1.0)
        size = tg.where(cut <= 0.5, tg.log1p(-2.0 * below), tg.log(2.0 * above - 1.0))
        exact = tg.log(tg.abs(tg.log1p(-cut) - tg.log(cut))) - size
        x = (self.probs - 0.5) ** 2
        near = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return tg.where(self._outside(), exact, near)

    @property
    def mean(self) -> Any:
        """The mean."""
        cut = self._cut()
        exact = cut / (2.0 * cut - 1.0) + 1.0 / (tg.log1p(-cut) - tg.log(cut))
        x = self.probs - 0.5
        near = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x
        return tg.where(self._outside(), exact, near)

    @property
    def variance(self) -> Any:
        """The variance."""
        cut = self._cut()
        exact = cut * (cut - 1.0) / (1.0 - 2.0 * cut) ** 2
        exact = exact + 1.0 / (tg.log1p(-cut) - tg.log(cut)) ** 2
        x = (self.probs - 0.5) ** 2
        near = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return tg.where(self._outside(), exact, near)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(tg.rand(shape, dtype=self.probs.dtype))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        own = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return -own + self._log_norm()

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to `value`."""
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut()
        power = tg.pow(cut, value) * tg.pow(1.0 - cut, 1.0 - value)
        exact = (power + cut - 1.0) / (2.0 * cut - 1.0)
        found = tg.where(self._outside(), exact, value)
        inside = tg.where(value <= 0.0, 0.0, found)
        return tg.where(value >= 1.0, 1.0, inside)

    def icdf(self, value: Any) -> Any:
        """Return below what `value` of the probability lies."""
        cut = self._cut()
        exact = (tg.log1p(-cut + value * (2.0 * cut - 1.0)) - tg.log1p(-cut)) / (
            tg.log(cut) - tg.log1p(-cut)
        )
        return tg.where(self._outside(), exact, value)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        odds = tg.log1p(-self.probs)
        rise = tg.log(self.probs) - odds
        return -self.mean * rise - self._log_norm() - odds
