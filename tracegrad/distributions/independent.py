"""Batches of distributions taken as one distribution of more dimensions."""

from __future__ import annotations

from typing import Any, ClassVar

from tracegrad.distributions import constraints
from tracegrad.distributions.distribution import Distribution
from tracegrad.distributions.utils import sum_rightmost
from tracegrad.errors import ArgumentError


class Independent(Distribution):
    """The last dimensions of a batch as one event.

    Parameters
    ----------
    base_distribution : Distribution
    reinterpreted_batch_ndims : int
        How many dimensions of the batch belong to the event.
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ArgumentError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution."
                f"batch_shape), actual {reinterpreted_batch_ndims} vs {len(batch)}"
            )
        shape = batch + base_distribution.event_shape
        events = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        cut = len(shape) - events
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        inner = self.event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *inner))
        return Independent(base, self.reinterpreted_batch_ndims, validate_args=False)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the base has gradients of draws."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether all values can be listed: not those of several dimensions."""
        if self.reinterpreted_batch_ndims > 0:
            return False
        return self.base_dist.has_enumerate_support

    @property
    def support(self) -> Any:
        """The base's, of more dimensions."""
        more = self.reinterpreted_batch_ndims
        support = self.base_dist.support
        return constraints.independent(support, more) if more else support

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """The most probable value."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        found = self.base_dist.log_prob(value)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return all values, along a new first dimension."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError(
                "Enumeration over cartesian product is not implemented"
            )
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
