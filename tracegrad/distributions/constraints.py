"""Which values parameters and draws of distributions may have: PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tracegrad as tg


class Constraint:
    """A set of values.

    Attributes
    ----------
    is_discrete : bool
        Whether its values can be counted.
    event_dim : int
        How many dimensions at the right make one value.
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in the set, a tensor of bool."""
        raise NotImplementedError(f"{type(self).__name__} can't check values")

    def __repr__(self) -> str:
        return type(self).__name__.removeprefix("_") + "()"


class _Dependent(Constraint):
    """What a value must satisfy depends on other parameters."""

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete = is_discrete
        self.event_dim = event_dim

    def __call__(self, *, is_discrete: bool = False, event_dim: int = 0) -> Constraint:
        """Return such a constraint of another kind."""
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Any) -> Any:
        """Raise: it can't be told without the distribution."""
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):  # noqa: N801 - PyTorch's name
    """A property that gives the constraint of a distribution (decorator)."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: bool = False,
        event_dim: int = 0,
    ) -> None:
        super().__init__(fn)
        self.is_discrete = is_discrete
        self.event_dim = event_dim

    def __call__(self, fn: Any = None, **kinds: Any) -> Any:
        """Decorate a method."""
        return dependent_property(
            fn, is_discrete=self.is_discrete, event_dim=self.event_dim
        )


def is_dependent(constraint: Any) -> bool:
    """Return whether a constraint depends on a distribution's parameters."""
    return isinstance(constraint, _Dependent)


class _Checked(Constraint):
    """A constraint of one function and a text."""

    def __init__(
        self,
        text: str,
        check: Callable[[Any], Any],
        event_dim: int = 0,
        is_discrete: bool = False,
    ) -> None:
        self._text = text
        self._check = check
        self.event_dim = event_dim
        self.is_discrete = is_discrete

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in the set."""
        return self._check(value)

    def __repr__(self) -> str:
        return self._text


class _Bounded(Constraint):
    """Numbers between bounds, of which some may be missing."""

    def __init__(self, lower_bound: Any = None, upper_bound: Any = None) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def __repr__(self) -> str:
        bounds = {
            "lower_bound": self.lower_bound,
            "upper_bound": self.upper_bound,
        }
        shown = ", ".join(f"{k}={v}" for k, v in bounds.items() if v is not None)
        return f"{type(self).__name__.removeprefix('_')}({shown})"


class interval(_Bounded):  # noqa: N801
    """Numbers from a lower to an upper bound, both included."""

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in the set."""
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class half_open_interval(_Bounded):  # noqa: N801
    """Numbers from a lower bound to below an upper one."""

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in the set."""
        return (self.lower_bound <= value) & (value < self.upper_bound)


class integer_interval(_Bounded):  # noqa: N801
    """Whole numbers from a lower to an upper bound, both included."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in the set."""
        inside = (self.lower_bound <= value) & (value <= self.upper_bound)
        return (value % 1 == 0) & inside


class greater_than(_Bounded):  # noqa: N801
    """Numbers above a bound."""

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in the set."""
        return self.lower_bound < value


class greater_than_eq(_Bounded):  # noqa: N801
    """Numbers from a bound on."""

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in the set."""
        return self.lower_bound <= value


class integer_greater_than_eq(_Bounded):  # noqa: N801
    """Whole numbers from a bound on."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in the set."""
        return (value % 1 == 0) & (value >= self.lower_bound)


class less_than(_Bounded):  # noqa: N801
    """Numbers below a bound."""

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(None, upper_bound)

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in the set."""
        return value < self.upper_bound


class multinomial(Constraint):  # noqa: N801
    """Counts, not negative, that sum to at most a bound."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Any) -> Any:
        """Return for each vector whether it lies in the set."""
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)


class independent(Constraint):  # noqa: N801
    """Values of another constraint along dimensions that make one event."""

    def __init__(
        self, base_constraint: Constraint, reinterpreted_batch_ndims: int
    ) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        """Return for each event whether all its parts lie in the set."""
        found = self.base_constraint.check(value)
        if found.dim() < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(
                f"Expected value.dim() >= {expected} but got {value.dim()}"
            )
        kept = found.shape[: found.dim() - self.reinterpreted_batch_ndims]
        return found.reshape((*kept, -1)).all(-1)

    def __repr__(self) -> str:
        return (
            f"Independent({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"
        )


class _Parts(Constraint):
    """Values side by side along a dimension, each with a constraint of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq = list(cseq)
        self.dim = dim
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        self.event_dim = max(c.event_dim for c in self.cseq)


class cat(_Parts):  # noqa: N801
    """Parts of given lengths along a dimension."""

    def __init__(
        self,
        cseq: Sequence[Constraint],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = list(lengths or [1] * len(self.cseq))

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in its part's set."""
        parts = value.split(self.lengths, self.dim)
        found = [c.check(part) for c, part in zip(self.cseq, parts, strict=True)]
        return tg.cat(found, self.dim)


class stack(_Parts):  # noqa: N801
    """One value of each constraint along a dimension."""

    def check(self, value: Any) -> Any:
        """Return for each value whether it lies in its set."""
        parts = value.unbind(self.dim)
        found = [c.check(part) for c, part in zip(self.cseq, parts, strict=True)]
        return tg.stack(found, self.dim)


def _is_square(value: Any) -> Any:
    square = value.shape[-2] == value.shape[-1]
    return tg.full(value.shape[:-2], square, dtype=tg.bool)


def _is_symmetric(value: Any) -> Any:
    if value.shape[-2] != value.shape[-1]:
        return _is_square(value)
    return tg.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


def _is_positive_definite(value: Any) -> Any:
    symmetric = _is_symmetric(value)
    if not symmetric.all():
        return symmetric
    return (tg.linalg.eigvalsh(value) > 0).all(-1)


def _is_positive_semidefinite(value: Any) -> Any:
    symmetric = _is_symmetric(value)
    if not symmetric.all():
        return symmetric
    return (tg.linalg.eigvalsh(value) >= 0).all(-1)


def _is_lower(value: Any) -> Any:
    return (value.tril() == value).flatten(-2).all(-1)


def _is_cholesky(value: Any) -> Any:
    return _is_lower(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _is_correlation(value: Any) -> Any:
    tolerance = tg.finfo(value.dtype).eps * value.shape[-1] * 10
    norms = (value.detach() ** 2).sum(-1)
    unit = ((norms - 1).abs() < tolerance).all(-1)
    return _is_cholesky(value) & unit


def _is_simplex(value: Any) -> Any:
    return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


def _is_one_hot(value: Any) -> Any:
    return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


dependent = _Dependent()
boolean = _Checked("Boolean()", lambda x: (x == 0) | (x == 1), is_discrete=True)
one_hot = _Checked("OneHot()", _is_one_hot, 1, is_discrete=True)
nonnegative_integer = integer_greater_than_eq(0)
positive_integer = integer_greater_than_eq(1)
real = _Checked("Real()", lambda x: x == x)
real_vector = independent(real, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Checked("Simplex()", _is_simplex, 1)
lower_triangular = _Checked("LowerTriangular()", _is_lower, 2)
lower_cholesky = _Checked("LowerCholesky()", _is_cholesky, 2)
corr_cholesky = _Checked("CorrCholesky()", _is_correlation, 2)
square = _Checked("Square()", _is_square, 2)
symmetric = _Checked("Symmetric()", _is_symmetric, 2)
positive_semidefinite = _Checked("PositiveSemidefinite()", _is_positive_semidefinite, 2)
positive_definite = _Checked("PositiveDefinite()", _is_positive_definite, 2)
