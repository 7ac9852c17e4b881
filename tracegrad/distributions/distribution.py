"""What all distributions have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.errors import ArgumentError
from tracegrad.sizes import Size


class Distribution:
    """A batch of probability distributions.

    Parameters
    ----------
    batch_shape, event_shape : tuple of int
        Shapes of the batch, and of one draw.
    validate_args : bool, optional
        Whether parameters and values are checked; see `set_default_validate_args`.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    arg_constraints: ClassVar[Any] = {}

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Choose whether new distributions check their arguments."""
        if value not in (True, False):
            raise ArgumentError(f"validate_args is True or False, not {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = (),
        event_shape: Any = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            if constraints.is_dependent(constraint) or name not in self.__dict__:
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ArgumentError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the "
                    f"constraint {constraint!r}, but found invalid values:\n{value}"
                )

    # -- shapes -----------------------------------------------------------------------

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw of one distribution."""
        return self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """Return the distributions with a larger batch, without copies."""
        return self._expanded_by(Size(batch_shape), self._parameter_names())

    def _parameter_names(self) -> dict[str, int]:
        """Return the tensors to expand, with how many dimensions of each are events."""
        return {
            name: max(c.event_dim, 0)
            for name, c in self.arg_constraints.items()
            if name in self.__dict__
        }

    def _expanded_by(self, shape: Size, names: dict[str, int]) -> Self:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        for name, events in names.items():
            value = getattr(self, name)
            tail = value.shape[value.dim() - events :] if events else ()
            made.__dict__[name] = value.expand((*shape, *tail))
        made._batch_shape = shape
        return made

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        """Return the shape of that many draws of the whole batch."""
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    # -- what a kind of distribution says ---------------------------------------------

    @property
    def support(self) -> Any:
        """The constraint that draws satisfy."""
        raise NotImplementedError(f"{type(self).__name__} has no support")

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def mode(self) -> Any:
        """The most probable value."""
        raise NotImplementedError(f"{type(self).__name__} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw, without gradients."""
        with tg.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters, where that can be."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample")

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density, or of the probability, at `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: Any) -> Any:
        """Return the probability of values up to `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf")

    def icdf(self, value: Any) -> Any:
        """Return below what `value` of the probability lies."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf")

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return all values, along a new first dimension."""
        raise NotImplementedError(f"{type(self).__name__} can't list its values")

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy")

    def perplexity(self) -> Any:
        """Return e to the entropy."""
        return tg.exp(self.entropy())

    # -- checks -----------------------------------------------------------------------

    def _validate_sample(self, value: Any) -> None:
        """Refuse a value that can be no draw.

        Raises
        ------
        ArgumentError
            If it is no tensor, of a shape that does not fit, or outside the support.
        """
        if not isinstance(value, tg.Tensor):
            raise ArgumentError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if value.shape[value.dim() - events :] != self._event_shape:
            raise ArgumentError(
                "The right-most size of value must match event_shape: "
                f"{tuple(value.shape)} vs {tuple(self._event_shape)}."
            )
        expected = (*self._batch_shape, *self._event_shape)
        for i, j in zip(reversed(tuple(value.shape)), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ArgumentError(
                    f"Value is not broadcastable with batch_shape+event_shape: "
                    f"{tuple(value.shape)} vs {expected}."
                )
        self._check_support(value)

    def _check_support(self, value: Any) -> None:
        try:
            support = self.support
        except NotImplementedError:
            return
        if not support.check(value).all():
            raise ArgumentError(
                "Expected value argument "
                f"({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) "
                f"of the distribution {self!r}, "
                f"but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = []
        for name in names:
            value = self.__dict__[name]
            one = value.numel() == 1 if isinstance(value, tg.Tensor) else True
            shown.append(f"{name}: {value if one else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"


class ExponentialFamily(Distribution):
    """Distributions whose density is an exponential of natural parameters."""
