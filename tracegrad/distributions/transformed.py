"""Distributions of functions of random variables."""

from __future__ import annotations

from typing import Any, ClassVar

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.distributions.distribution import Distribution
from tracegrad.distributions.independent import Independent
from tracegrad.distributions.transforms import ComposeTransform, Transform
from tracegrad.distributions.utils import sum_rightmost
from tracegrad.errors import ArgumentError


class TransformedDistribution(Distribution):
    """The distribution of transforms of a draw.

    Parameters
    ----------
    base_distribution : Distribution
    transforms : Transform or list of Transform
        The first one is applied first.
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Any,
        validate_args: bool | None = None,
    ) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        if not all(isinstance(t, Transform) for t in transforms):
            raise ArgumentError(
                "transforms must be a Transform or a list of Transforms"
            )
        self.transforms = list(transforms)
        whole = ComposeTransform(self.transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        events = len(base_distribution.event_shape)
        needed = whole.domain.event_dim
        if len(base_shape) < needed:
            raise ArgumentError(
                f"base_distribution needs to have shape with size at least {needed}, "
                f"but got {tuple(base_shape)}."
            )
        shape = whole.forward_shape(base_shape)
        expanded = base_distribution.expand(
            whole.inverse_shape(shape)[: len(base_shape) - events]
        )
        if needed > events:
            expanded = Independent(expanded, needed - events)  # type: ignore[assignment]
        self.base_dist: Any = expanded
        events = whole.codomain.event_dim + max(events - needed, 0)
        cut = len(shape) - events
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        batch_shape = tuple(batch_shape)
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape((*batch_shape, *self.event_shape))
        cut = len(shape) - len(self.base_dist.event_shape)
        made.base_dist = self.base_dist.expand(shape[:cut])
        made._batch_shape = tg.Size(batch_shape)
        return made

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the base has gradients of draws."""
        return bool(self.base_dist.has_rsample)

    @property
    def support(self) -> Any:
        """Where the last transform's values lie."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        with tg.no_grad():
            x = self.base_dist.sample(sample_shape)
            for transform in self.transforms:
                x = transform(x)
            return x

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        x = self.base_dist.rsample(sample_shape)
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        events = len(self.event_shape)
        total: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            events += transform.domain.event_dim - transform.codomain.event_dim
            found = transform.log_abs_det_jacobian(x, y)
            total = total - sum_rightmost(found, events - transform.domain.event_dim)
            y = x
        own = self.base_dist.log_prob(y)
        return total + sum_rightmost(own, events - len(self.base_dist.event_shape))

    def _sign(self) -> Any:
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return sign

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to `value`."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        """Return below what `value` of the probability lies."""
        value = self.base_dist.icdf(self._turned(value))
        for transform in self.transforms:
            value = transform(value)
        return value

    def _turned(self, probability: Any) -> Any:
        """Return a probability, or what is missing to 1 where the function falls."""
        sign = self._sign()
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5
