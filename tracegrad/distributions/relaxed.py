"""Relaxed discrete distributions: draws between 0 and 1 that differentiate."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.distributions.categorical import Categorical
from tracegrad.distributions.discrete import Bernoulli
from tracegrad.distributions.distribution import Distribution
from tracegrad.distributions.transformed import TransformedDistribution
from tracegrad.distributions.transforms import ExpTransform, SigmoidTransform
from tracegrad.distributions.utils import broadcast_all, clamp_probs


class _Wrapping(Distribution):
    """A distribution with the parameters of a discrete one, and a temperature."""

    _discrete: Any
    temperature: Any

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._discrete = self._discrete.expand(batch_shape)
        made._batch_shape = tg.Size(batch_shape)
        return made

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._discrete.probs

    @property
    def logits(self) -> Any:
        """Their log odds, or logarithms."""
        return self._discrete.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameters."""
        return self._discrete.param_shape


class LogitRelaxedBernoulli(_Wrapping):
    """Log odds of relaxed ones and zeros.

    Parameters
    ----------
    temperature : Tensor or float
    probs, logits : Tensor or float
        One of the two.

    Notes
    -----
    Source: C. J. Maddison, A. Mnih and Y. W. Teh, "The Concrete distribution", ICLR
    2017.
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._discrete = Bernoulli(probs, logits)
        shape = self._discrete.param_shape
        super().__init__(shape, validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(tg.rand(shape, dtype=probs.dtype, device=probs.device))
        odds = u.log() - (-u).log1p() + probs.log() - (-probs).log1p()
        return odds / self.temperature

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        rest = logits - value * self.temperature
        heat = tg.as_tensor(self.temperature, dtype=value.dtype).log()
        return heat + rest - 2 * rest.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Relaxed ones and zeros; parameters as of `LogitRelaxedBernoulli`."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.unit_interval

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The log odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probability."""
        return self.base_dist.probs


class ExpRelaxedCategorical(_Wrapping):
    """Logarithms of relaxed one-hot vectors.

    Parameters
    ----------
    temperature : Tensor or float
    probs, logits : Tensor, shape (..., categories)
        One of the two.
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._discrete = Categorical(probs, logits)
        shape = self._discrete.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        u = tg.rand(shape, dtype=self.logits.dtype, device=self.logits.device)
        gumbels = -((-(clamp_probs(u).log())).log())
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        count = self._discrete._num_events
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        heat = tg.as_tensor(self.temperature, dtype=value.dtype)
        scale = math.lgamma(count) + heat.log() * (count - 1)
        score = logits - value * self.temperature
        score = (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1)
        return score + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Relaxed one-hot vectors; parameters as of `ExpRelaxedCategorical`."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.simplex

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(
            temperature, probs, logits, validate_args=validate_args
        )
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self.base_dist.probs
