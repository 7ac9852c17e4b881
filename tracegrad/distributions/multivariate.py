"""Multivariate normal distributions."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import tracegrad as tg
from tracegrad.distributions import constraints
from tracegrad.distributions.distribution import Distribution
from tracegrad.distributions.utils import lazy_property
from tracegrad.errors import ArgumentError

_LOG_TWO_PI = math.log(2 * math.pi)


def _times(matrix: Any, vector: Any) -> Any:
    """Return products of matrices and vectors, both in batches."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def mahalanobis(factor: Any, difference: Any) -> Any:
    """Return ``d.T @ inv(L @ L.T) @ d`` for batches of factors L and vectors d."""
    solved = tg.linalg.solve_triangular(factor, difference.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


def _log_diagonal(factor: Any) -> Any:
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class MultivariateNormal(Distribution):
    """Multivariate normal distributions.

    Parameters
    ----------
    loc : Tensor, shape (..., n)
        Means.
    covariance_matrix, precision_matrix, scale_tril : Tensor, shape (..., n, n)
        One of the three: the covariance, its inverse, or its lower factor.

    Examples
    --------
    >>> import tracegrad as tg
    >>> MultivariateNormal(tg.zeros(2), tg.eye(2)).log_prob(tg.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ArgumentError("loc must be at least one-dimensional.")
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: m for name, m in matrices.items() if m is not None}
        if len(given) != 1:
            raise ArgumentError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril "
                "may be specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ArgumentError(
                f"{name} must be at least two-dimensional, "
                "with optional leading batch dimensions"
            )
        batch = tg.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand((*batch, -1, -1))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = self._factor_of(name, matrix)

    @staticmethod
    def _factor_of(name: str, matrix: Any) -> Any:
        if name == "scale_tril":
            return matrix
        if name == "covariance_matrix":
            return tg.linalg.cholesky(matrix)
        # Turned around, the precision's factor is the covariance's inverse factor.
        turned = tg.linalg.cholesky(matrix.flip((-2, -1)))
        inverse = turned.flip((-2, -1)).mT
        unit = tg.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
        return tg.linalg.solve_triangular(inverse, unit, upper=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distributions with a larger batch, without copies."""
        batch = tg.Size(batch_shape)
        n = self._event_shape[0]
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.loc = self.loc.expand((*batch, n))
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in self.__dict__:
                made.__dict__[name] = self.__dict__[name].expand((*batch, n, n))
        made._batch_shape = batch
        return made

    def _square(self, matrix: Any) -> Any:
        n = self._event_shape[0]
        return matrix.expand((*self._batch_shape, n, n))

    @lazy_property
    def scale_tril(self) -> Any:
        """The covariance's lower factor."""
        return self._square(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._square(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The covariance's inverse."""
        return self._square(tg.cholesky_inverse(self._unbroadcasted_scale_tril))

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
        """The variance of each element."""
        found = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return found.expand((*self._batch_shape, *self._event_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        eps = tg.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _times(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        difference = value - self.loc
        factor = self._unbroadcasted_scale_tril
        distance = mahalanobis(factor, difference)
        n = self._event_shape[0]
        return -0.5 * (n * _LOG_TWO_PI + distance) - _log_diagonal(factor)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        half = _log_diagonal(self._unbroadcasted_scale_tril)
        n = self._event_shape[0]
        return (0.5 * n * (1.0 + _LOG_TWO_PI) + half).expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """Multivariate normal distributions of covariance ``W @ W.T + diag(d)``.

    Parameters
    ----------
    loc : Tensor, shape (..., n)
    cov_factor : Tensor, shape (..., n, rank)
        W.
    cov_diag : Tensor, shape (..., n)
        d, positive.
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        cov_factor: Any,
        cov_diag: Any,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ArgumentError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.dim() < 2 or cov_factor.shape[-2] != n:
            raise ArgumentError(
                f"cov_factor must be a batch of matrices with shape {n} x m"
            )
        if cov_diag.shape[-1:] != (n,):
            raise ArgumentError(f"cov_diag must be a batch of vectors of length {n}")
        batch = tg.broadcast_shapes(
            loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
        )
        self.loc = loc.expand((*batch, n))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch, n))
        super().__init__(batch, (n,), validate_args=validate_args)

    def _capacitance(self) -> Any:
        """Return the factor of ``I + W.T @ inv(D) @ W``."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        product = scaled @ self.cov_factor
        unit = tg.eye(product.shape[-1], dtype=product.dtype, device=product.device)
        return tg.linalg.cholesky(product + unit)

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
        """The variance of each element."""
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @lazy_property
    def scale_tril(self) -> Any:
        """The covariance's lower factor."""
        return tg.linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The covariance's inverse."""
        return tg.cholesky_inverse(self.scale_tril)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw so that gradients reach the parameters."""
        shape = self._extended_shape(sample_shape)
        kinds: dict[str, Any] = {"dtype": self.loc.dtype, "device": self.loc.device}
        along = tg.randn((*shape[:-1], self.cov_factor.shape[-1]), **kinds)
        own = tg.randn(shape, **kinds)
        return self.loc + _times(self.cov_factor, along) + self.cov_diag.sqrt() * own

    def _log_det(self) -> Any:
        inner = _log_diagonal(self._capacitance())
        return 2 * inner + self.cov_diag.log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at `value`."""
        if self._validate_args:
            self._validate_sample(value)
        difference = value - self.loc
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        own = (difference.pow(2) / self.cov_diag).sum(-1)
        along = mahalanobis(self._capacitance(), _times(scaled, difference))
        n = self._event_shape[0]
        return -0.5 * (n * _LOG_TWO_PI + self._log_det() + own - along)

    def entropy(self) -> Any:
        """Return the entropy in nats."""
        n = self._event_shape[0]
        return 0.5 * (n * (1.0 + _LOG_TWO_PI) + self._log_det())
