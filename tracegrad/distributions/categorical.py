"""Distributions over categories: places, one-hot vectors, counts and mixtures."""

from __future__ import annotations

from typing import Any, ClassVar

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.distributions.discrete import Binomial, one_of
from tracegrad.distributions.distribution import Distribution
from tracegrad.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from tracegrad.errors import ArgumentError


class Categorical(Distribution):
    """Places with probabilities along the last dimension.

    Parameters
    ----------
    probs : Tensor, shape (..., categories), optional
        Not negative; they are normalized.
    logits : Tensor, shape (..., categories), optional
        Logarithms of the probabilities, up to a constant.

    Examples
    --------
    >>> import tracegrad as tg
    >>> Categorical(tg.tensor([1.0, 1.0])).log_prob(tg.tensor(0))
    tensor(-0.6931)
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        name = one_of(probs=probs, logits=logits)
        value = probs if name == "probs" else logits
        if value.dim() < 1:
            raise ArgumentError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            self.__dict__[name] = value / value.sum(-1, keepdim=True)
        else:
            self.__dict__[name] = value - value.logsumexp(dim=-1, keepdim=True)
        self._num_events = value.shape[-1]
        super().__init__(value.shape[:-1], validate_args=validate_args)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def _given(self) -> Any:
        name = "probs" if "probs" in self.__dict__ else "logits"
        return self.__dict__[name]

    @property
    def param_shape(self) -> Any:
        """The shape of the parameters."""
        return self._given.shape

    @constraints.dependent_property(is_discrete=True)
    def support(self) -> Any:
        """Places from 0 on."""
        return constraints.integer_interval(0, self._num_events - 1)

    def _undefined(self) -> Any:
        shape = self._extended_shape()
        return tg.full(shape, float("nan"), dtype=self.probs.dtype)

    @property
    def mean(self) -> Any:
        """NaN: places have no mean."""
        return self._undefined()

    @property
    def mode(self) -> Any:
        """The most probable place."""
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        """NaN: places have no variance."""
        return self._undefined()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        shape = tg.Size(sample_shape)
        rows = self.probs.detach().reshape((-1, self._num_events))
        drawn = tg.multinomial(rows, shape.numel(), True).T
        return drawn.reshape(self._extended_shape(shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of `value`."""
        if self._validate_args:
            self._validate_sample(value)
        places = value.long().unsqueeze(-1)
        places, logits = tg.broadcast_tensors(places, self.logits)
        return logits.gather(-1, places[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        lowest = tg.finfo(self.logits.dtype).min
        return -(tg.clamp(self.logits, min=lowest) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return all places, along a new first dimension."""
        ones = (1,) * len(self._batch_shape)
        values: Any = tg.arange(self._num_events).reshape((-1, *ones))
        return values.expand((-1, *self._batch_shape)) if expand else values


class OneHotCategorical(Distribution):
    """One-hot vectors; parameters as of `Categorical`."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._categorical = self._categorical.expand(batch_shape)
        made._batch_shape = tg.Size(batch_shape)
        return made

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameters."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Any:
        """The mean."""
        return self._categorical.probs

    @property
    def mode(self) -> Any:
        """The most probable vector."""
        return self._one_hot(self._categorical.mode)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.probs * (1 - self.probs)

    def _one_hot(self, places: Any) -> Any:
        count = self._categorical._num_events
        return tg.nn.functional.one_hot(places, count).to(self.probs.dtype)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        with tg.no_grad():
            return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of `value`."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return all vectors, along a new first dimension."""
        n = self.event_shape[0]
        ones = (1,) * len(self._batch_shape)
        values: Any = tg.eye(n, dtype=self.probs.dtype).reshape((n, *ones, n))
        return values.expand((n, *self._batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot vectors whose gradient is that of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the probabilities."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(Distribution):
    """How often each category is drawn in a number of trials.

    Parameters
    ----------
    total_count : int
    probs, logits : Tensor, shape (..., categories)
        One of the two, as of `Categorical`.
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._categorical = self._categorical.expand(batch_shape)
        made._batch_shape = tg.Size(batch_shape)
        return made

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts that sum to at most the total."""
        return constraints.multinomial(self.total_count)

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameters."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        sample_shape = tg.Size(sample_shape)
        with tg.no_grad():
            places = self._categorical.sample((self.total_count, *sample_shape))
            last = places.permute((*range(1, places.dim()), 0))
            counts = last.new_zeros(self._extended_shape(sample_shape))
            counts = counts.scatter_add(-1, last, tg.ones_like(last))
            return counts.type_as(self.probs)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of `value`."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        ways = tg.lgamma(value.sum(-1) + 1) - tg.lgamma(value + 1).sum(-1)
        logits = tg.where((value == 0) & (logits == -float("inf")), 0, logits)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        n = tg.tensor(self.total_count, dtype=self.probs.dtype)
        binomial = Binomial(self.total_count, probs=self.probs)
        values = binomial.enumerate_support(expand=False)[1:]
        weights = tg.exp(binomial.log_prob(values))
        ways = (weights * tg.lgamma(values + 1)).sum((0, -1))
        return n * self._categorical.entropy() - tg.lgamma(n + 1) + ways


class MixtureSameFamily(Distribution):
    """Mixtures of distributions of one kind, along the last batch dimension.

    Parameters
    ----------
    mixture_distribution : Categorical
        Of the components.
    component_distribution : Distribution
        With one more batch dimension.
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ArgumentError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ArgumentError(
                "The Component distribution need to be an instance of "
                "torch.distributions.Distribution"
            )
        batch = component_distribution.batch_shape
        count = mixture_distribution.logits.shape[-1]
        if not batch or batch[-1] != count:
            raise ArgumentError(
                f"`mixture_distribution` has {count} components, but "
                f"`component_distribution` has the batch shape {tuple(batch)}"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        events = component_distribution.event_shape
        self._event_ndims = len(events)
        super().__init__(batch[:-1], events, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        count = self._mixture_distribution.logits.shape[-1]
        return MixtureSameFamily(
            self._mixture_distribution.expand(batch_shape),
            self._component_distribution.expand((*batch_shape, count)),
            validate_args=False,
        )

    @constraints.dependent_property
    def support(self) -> Any:
        """The components' support."""
        return self._component_distribution.support

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the components."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    def _weights(self) -> Any:
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1,) * self._event_ndims))

    def _mixed(self, value: Any) -> Any:
        return (self._weights() * value).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        """The mean."""
        return self._mixed(self.component_distribution.mean)

    @property
    def variance(self) -> Any:
        """The variance: within the components, and between them."""
        own = self.component_distribution
        apart = (own.mean - self.mean.unsqueeze(-1 - self._event_ndims)).pow(2.0)
        return self._mixed(own.variance) + self._mixed(apart)

    def cdf(self, x: Any) -> Any:
        """Return the probability of values up to `x`."""
        found = self.component_distribution.cdf(self._padded(x))
        return (found * self.mixture_distribution.probs).sum(-1)

    def _padded(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def log_prob(self, x: Any) -> Any:
        """Return the logarithm of the density at `x`."""
        if self._validate_args:
            self._validate_sample(x)
        own = self.component_distribution.log_prob(self._padded(x))
        weights = tg.log_softmax(self.mixture_distribution.logits, dim=-1)
        return tg.logsumexp(own + weights, dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        with tg.no_grad():
            sample_shape = tg.Size(sample_shape)
            batch, events = tuple(self.batch_shape), tuple(self.event_shape)
            dim = len(sample_shape) + len(batch)
            places = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            places = places.reshape((*places.shape, *(1,) * (len(events) + 1)))
            places = places.expand((*sample_shape, *batch, 1, *events))
            return tg.gather(drawn, dim, places).squeeze(dim)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n"
            f"  {self.component_distribution})"
        )
