"""Invertible functions of random variables, and how they change densities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.distributions.utils import sum_rightmost

F = tg.nn.functional


class Transform:
    """An invertible function with the logarithm of its Jacobian's size.

    Attributes
    ----------
    domain, codomain : Constraint
    bijective : bool
    sign : int or Tensor
        1 if it rises, -1 if it falls.
    """

    bijective = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last: tuple[Any, Any] | None = None

    @property
    def inv(self) -> Transform:
        """The inverse."""
        return _Inverse(self)

    @property
    def sign(self) -> Any:
        """Whether the function rises or falls."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return the transform with another cache; it is one value at most."""
        if cache_size == self._cache_size:
            return self
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, _cache_size=cache_size, _last=None)
        return made

    def __call__(self, x: Any) -> Any:
        """Return the value at `x`."""
        if self._cache_size and self._last is not None and self._last[0] is x:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size and self._last is not None and self._last[1] is y:
            return self._last[0]
        x = self._inverse(y)
        if self._cache_size:
            self._last = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no value")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of dy/dx."""
        raise NotImplementedError(f"{type(self).__name__} has no Jacobian")

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the values of arguments of a shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of the arguments of values of a shape."""
        return shape

    def __eq__(self, other: object) -> bool:
        return self is other or type(self) is type(other)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    """The inverse of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform
        self.bijective = transform.bijective

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Where the inverse is defined."""
        return self._inv.codomain

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Where its values lie."""
        return self._inv.domain

    @property
    def inv(self) -> Transform:
        """The transform itself."""
        return self._inv

    @property
    def sign(self) -> Any:
        """Whether the function rises or falls."""
        return self._inv.sign

    def __call__(self, x: Any) -> Any:
        """Return the value at `x`."""
        return self._inv._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of dy/dx."""
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the values of arguments of a shape."""
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of the arguments of values of a shape."""
        return self._inv.forward_shape(shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Inverse) and self._inv == other._inv

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


class ComposeTransform(Transform):
    """Transforms one after another, the first one first."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts]

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all parts are bijections."""
        return all(part.bijective for part in self.parts)

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Where the first is defined, of as many dimensions as all need."""
        if not self.parts:
            return constraints.real
        domain = self.parts[0].domain
        events = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            events += part.domain.event_dim - part.codomain.event_dim
            events = max(events, part.domain.event_dim)
        if events > domain.event_dim:
            domain = constraints.independent(domain, events - domain.event_dim)
        return domain

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Where the values of the last lie."""
        if not self.parts:
            return constraints.real
        codomain = self.parts[-1].codomain
        events = self.parts[0].domain.event_dim
        for part in self.parts:
            events += part.codomain.event_dim - part.domain.event_dim
            events = max(events, part.codomain.event_dim)
        if events > codomain.event_dim:
            codomain = constraints.independent(codomain, events - codomain.event_dim)
        return codomain

    @property
    def sign(self) -> Any:
        """The product of the signs."""
        return math.prod(part.sign for part in self.parts)

    @property
    def inv(self) -> Transform:
        """The inverses in opposite order."""
        return ComposeTransform([part.inv for part in reversed(self.parts)])

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the sum of the parts' logarithms."""
        if not self.parts:
            return tg.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        total: Any = 0
        events = self.domain.event_dim
        for part, a, b in zip(self.parts, values[:-1], values[1:], strict=True):
            found = part.log_abs_det_jacobian(a, b)
            total = total + sum_rightmost(found, events - part.domain.event_dim)
            events += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the values of arguments of a shape."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of the arguments of values of a shape."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        inner = ",\n    ".join(map(repr, self.parts))
        return f"ComposeTransform(\n    {inner}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform of which more dimensions make one event."""

    def __init__(
        self,
        base_transform: Transform,
        reinterpreted_batch_ndims: int,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.bijective = base_transform.bijective

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The base's, of more dimensions."""
        base, more = self.base_transform, self.reinterpreted_batch_ndims
        return constraints.independent(base.domain, more)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """The base's, of more dimensions."""
        base, more = self.base_transform, self.reinterpreted_batch_ndims
        return constraints.independent(base.codomain, more)

    @property
    def sign(self) -> Any:
        """The base's."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the base's logarithms, summed over the event."""
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)


class ReshapeTransform(Transform):
    """Another shape of the event."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Numbers in the first shape."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Numbers in the second shape."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        batch = x.shape[: x.dim() - len(self.in_shape)]
        return x.reshape((*batch, *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        batch = y.shape[: y.dim() - len(self.out_shape)]
        return y.reshape((*batch, *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return 0."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the values of arguments of a shape."""
        return (*shape[: len(shape) - len(self.in_shape)], *self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of the arguments of values of a shape."""
        return (*shape[: len(shape) - len(self.out_shape)], *self.in_shape)


class _Rising(Transform):
    """An elementwise bijection that rises."""

    domain = constraints.real
    bijective = True

    @property
    def sign(self) -> Any:
        """It rises."""
        return 1


class ExpTransform(_Rising):
    """``y = exp(x)``."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of dy/dx."""
        return x


class PowerTransform(Transform):
    """``y = x**exponent`` of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = tg.as_tensor(exponent)

    @property
    def sign(self) -> Any:
        """The exponent's sign."""
        return self.exponent.sign()

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of dy/dx."""
        return (self.exponent * y / x).abs().log()

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, PowerTransform)
        return same and bool((self.exponent == other.exponent).all())  # type: ignore[attr-defined]

    __hash__ = object.__hash__


class SigmoidTransform(_Rising):
    """``y = 1 / (1 + exp(-x))``, kept off 0 and 1."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        limits = tg.finfo(x.dtype)
        return tg.sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Any) -> Any:
        limits = tg.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of dy/dx."""
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Rising):
    """``y = log(1 + exp(x))``."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return F.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of dy/dx."""
        return -F.softplus(-x)


class TanhTransform(_Rising):
    """``y = tanh(x)``."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return tg.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of dy/dx."""
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Transform):
    """``y = |x|``; of the two arguments of a value the positive one is given."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """``y = loc + scale * x``."""

    bijective = True

    def __init__(
        self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.loc = loc
        self.scale = scale
        self.event_dim = event_dim

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Numbers."""
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Numbers."""
        return self.domain

    @property
    def sign(self) -> Any:
        """The scale's sign."""
        if isinstance(self.scale, tg.Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of dy/dx."""
        size = tg.as_tensor(self.scale, dtype=x.dtype).abs()
        return sum_rightmost(size.log().expand(x.shape), self.event_dim)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = ((self.loc, other.loc), (self.scale, other.scale))
        return all(bool(tg.as_tensor(a == b).all()) for a, b in pairs)

    __hash__ = object.__hash__


class SoftmaxTransform(Transform):
    """``y = exp(x)``, normalized; the inverse is the logarithm."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        return tg.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(Transform):
    """From numbers to points of a simplex with one more: parts broken off a stick."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _offset(self, x: Any) -> Any:
        return x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)

    def _call(self, x: Any) -> Any:
        z = SigmoidTransform()(x - self._offset(x).log())
        rest = (1 - z).cumprod(-1)
        return F.pad(z, [0, 1], value=1) * F.pad(rest, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        first = y[..., :-1]
        rest = 1 - first.cumsum(-1)
        rest = tg.clamp(rest, min=tg.finfo(y.dtype).tiny)
        return first.log() - rest.log() + self._offset(first).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of the determinant."""
        x = x - self._offset(x).log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the values of arguments of a shape."""
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of the arguments of values of a shape."""
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(Transform):
    """From matrices to lower triangular ones with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """From matrices to positive definite ones."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(tg.linalg.cholesky(y))


class _PartsTransform(Transform):
    """One transform for each part along a dimension."""

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq]
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all parts are bijections."""
        return all(part.bijective for part in self.transforms)

    def _split(self, x: Any) -> Any:
        raise NotImplementedError

    def _join(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _call(self, x: Any) -> Any:
        pairs = zip(self.transforms, self._split(x), strict=True)
        return self._join([part(own) for part, own in pairs])

    def _inverse(self, y: Any) -> Any:
        pairs = zip(self.transforms, self._split(y), strict=True)
        return self._join([part.inv(own) for part, own in pairs])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the parts' logarithms side by side."""
        triples = zip(self.transforms, self._split(x), self._split(y), strict=True)
        return self._join([t.log_abs_det_jacobian(a, b) for t, a, b in triples])


class CatTransform(_PartsTransform):
    """Transforms of parts of given lengths along a dimension."""

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = list(lengths or [1] * len(self.transforms))

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The parts' domains side by side."""
        return constraints.cat(
            [t.domain for t in self.transforms], self.dim, self.lengths
        )

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """The parts' codomains side by side."""
        return constraints.cat(
            [t.codomain for t in self.transforms], self.dim, self.lengths
        )

    def _split(self, x: Any) -> Any:
        return x.split(self.lengths, self.dim)

    def _join(self, parts: list[Any]) -> Any:
        return tg.cat(parts, self.dim)


class StackTransform(_PartsTransform):
    """One transform for each place along a dimension."""

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The parts' domains side by side."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """The parts' codomains side by side."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _split(self, x: Any) -> Any:
        return x.unbind(self.dim)

    def _join(self, parts: list[Any]) -> Any:
        return tg.stack(parts, self.dim)


class CumulativeDistributionTransform(Transform):
    """``y = distribution.cdf(x)``."""

    bijective = True
    codomain = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The distribution's support."""
        return self.distribution.support

    @property
    def sign(self) -> Any:
        """It rises."""
        return 1

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the density."""
        return self.distribution.log_prob(x)
