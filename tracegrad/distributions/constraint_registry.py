"""Transforms from all numbers into the values that a constraint allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad.distributions import constraints, transforms
from tracegrad.distributions.constraints import Constraint
from tracegrad.distributions.transforms import Transform


class ConstraintRegistry:
    """Finds a transform for a constraint, by its class or by itself."""

    def __init__(self) -> None:
        self._makers: dict[Any, Callable[[Any], Transform]] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """State the transform of a constraint or a class of them (decorator too)."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        self._makers[constraint] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """Return a transform into the values of a constraint.

        Raises
        ------
        NotImplementedError
            If none is known.
        """
        maker = self._makers.get(constraint) or self._makers.get(type(constraint))
        if maker is None:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            )
        return maker(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _above(constraint: Any) -> Transform:
    start = transforms.ExpTransform()
    if constraint.lower_bound == 0:
        return start
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([start, shift])


def _below(constraint: Any) -> Transform:
    turned = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), turned])


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    start = transforms.SigmoidTransform()
    if low == 0 and high == 1:
        return start
    spread = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([start, spread])


def _parts(registry: ConstraintRegistry) -> None:
    registry.register(
        constraints.independent,
        lambda c: transforms.IndependentTransform(
            registry(c.base_constraint), c.reinterpreted_batch_ndims
        ),
    )
    registry.register(
        constraints.cat,
        lambda c: transforms.CatTransform(
            [registry(part) for part in c.cseq], c.dim, c.lengths
        ),
    )
    registry.register(
        constraints.stack,
        lambda c: transforms.StackTransform([registry(part) for part in c.cseq], c.dim),
    )


_kind: Any
for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, lambda c: transforms.identity_transform)
    for _kind in (constraints.greater_than, constraints.greater_than_eq):
        _registry.register(_kind, _above)
    _registry.register(constraints.less_than, _below)
    for _kind in (constraints.interval, constraints.half_open_interval):
        _registry.register(_kind, _between)
    _registry.register(
        constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform()
    )
    _registry.register(
        constraints.positive_definite,
        lambda c: transforms.PositiveDefiniteTransform(),
    )
    _parts(_registry)
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
