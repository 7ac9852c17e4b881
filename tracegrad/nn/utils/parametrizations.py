"""Ready-made parametrizations: weights by length and direction, or of bounded gain."""

from __future__ import annotations

from typing import Any

from tracegrad import no_grad
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError
from tracegrad.nn.functional import normalize
from tracegrad.nn.modules.conv import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from tracegrad.nn.modules.module import Module
from tracegrad.nn.utils.parametrize import register_parametrization
from tracegrad.ops.contraction import dot, mv
from tracegrad.ops.creation import empty
from tracegrad.ops.norms import vector_norm


def norm_except_dim(v: Tensor, pow: float = 2, dim: int = 0) -> Tensor:
    """Return the norms over all dimensions but one; over all if `dim` is -1."""
    if dim == -1:
        return vector_norm(v, pow)  # type: ignore[no-any-return]
    others = tuple(d for d in range(v.ndim) if d != dim % v.ndim)
    if not others:
        return v.abs()  # type: ignore[attr-defined, no-any-return]
    return vector_norm(v, pow, others, True)  # type: ignore[no-any-return]


class _WeightNorm(Module):
    """A weight of lengths and directions."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Any:
        """Return the weight."""
        length: Any = norm_except_dim(weight_v, 2, self.dim)
        return weight_v * (weight_g / length)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return lengths and directions of a weight."""
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Parametrize a weight by lengths and directions, and return the module.

    Parameters
    ----------
    module : Module
    name : str
    dim : int or None
        Along which there is one length each; None for one in all.

    Notes
    -----
    Source: Salimans, Kingma, "Weight Normalization" (2016).
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class SpectralPower(Module):
    """A matrix over its largest singular value, by the power method.

    Attributes
    ----------
    _u, _v : Tensor
        The singular vectors so far.
    """

    def __init__(
        self,
        weight: Tensor,
        n_power_iterations: int = 1,
        dim: int = 0,
        eps: float = 1e-12,
    ) -> None:
        super().__init__()
        if n_power_iterations <= 0:
            raise ArgumentError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"dim {dim} is out of range for a weight of {weight.ndim} dimensions"
            )
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        if weight.ndim == 1:
            return
        self.n_power_iterations = n_power_iterations
        matrix = self._matrix(weight.detach())  # type: ignore[attr-defined]
        made = {"dtype": weight.dtype, "device": weight.device}
        for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
            drawn: Any = empty(size, **made)
            drawn.normal_(0, 1)
            self.register_buffer(name, normalize(drawn, dim=0, eps=eps))
        self._power(matrix, 15)

    def _matrix(self, weight: Any) -> Any:
        if self.dim != 0:
            rest = [d for d in range(weight.ndim) if d != self.dim]
            weight = weight.permute(self.dim, *rest)
        return weight.flatten(1)

    def _power(self, matrix: Any, count: int) -> None:
        with no_grad():
            for _ in range(count):
                u = normalize(mv(matrix, self._v), dim=0, eps=self.eps)
                self._u.copy_(u)
                v = normalize(mv(matrix.t(), self._u), dim=0, eps=self.eps)
                self._v.copy_(v)

    def forward(self, weight: Tensor) -> Any:
        """Return the weight over its largest singular value."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._power(matrix.detach(), self.n_power_iterations)
        # Copies: the vectors are overwritten before backward may run.
        u, v = self._u.clone(), self._v.clone()
        return weight / dot(u, mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return `value`: any weight is its own original."""
        return value


def default_dim(module: Module) -> int:
    """Return which dimension of a weight counts its outputs."""
    transposed = isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d)
    return 1 if transposed else 0


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Parametrize a weight so that its largest singular value is 1; return the module.

    Parameters
    ----------
    module : Module
    name : str
    n_power_iterations : int
        Steps of the power method at each reading in training.
    eps : float
    dim : int, optional
        Which dimension counts the outputs.

    Raises
    ------
    ArgumentError
        If the number of steps is not positive, or there is no such weight.

    Notes
    -----
    Source: Miyato et al., "Spectral Normalization for Generative Adversarial Networks"
    (2018).
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ArgumentError(
            f"{type(module).__name__} has no parameter or buffer {name!r}"
        )
    side = default_dim(module) if dim is None else dim
    function = SpectralPower(weight, n_power_iterations, side, eps)
    return register_parametrization(module, name, function)
