"""Normalization over features and over groups of channels."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentError
from tracegrad.nn import functional, init
from tracegrad.nn.modules.module import Module
from tracegrad.ops.creation import ones, zeros


class LayerNorm(Module):
    """Each example less its mean, over its standard deviation.

    Parameters
    ----------
    normalized_shape : int or tuple of int
        The last sizes, over which the statistics are taken.
    eps : float
        Added to the biased variance.
    elementwise_affine : bool
        Whether the result is scaled, and shifted if `bias` is set.
    bias : bool
    device : Device or str, optional
    dtype : DType, optional
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        options = {"device": device, "dtype": dtype}
        if elementwise_affine:
            self.weight = Parameter(ones(*self.normalized_shape, **options))
        else:
            self.register_parameter("weight", None)
        if elementwise_affine and bias:
            self.bias = Parameter(zeros(*self.normalized_shape, **options))
        else:
            self.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        """Scale 1, shift 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, shape (..., *normalized_shape), normalized."""
        return functional.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """Return the shape and the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Each example over the root of its mean square.

    Parameters
    ----------
    normalized_shape : int or tuple of int
    eps : float, optional
        Added to the mean square; the dtype's machine epsilon if not given.
    elementwise_affine : bool
        Whether the result is scaled.
    device : Device or str, optional
    dtype : DType, optional
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            data = ones(*self.normalized_shape, device=device, dtype=dtype)
            self.weight = Parameter(data)
        else:
            self.register_parameter("weight", None)

    def reset_parameters(self) -> None:
        """Scale 1."""
        _reset(self.weight, None)

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, shape (..., *normalized_shape), normalized."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the shape and the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Each group of channels less its mean, over its standard deviation.

    Parameters
    ----------
    num_groups, num_channels : int
    eps : float
        Added to the biased variance.
    affine : bool
        Whether the result is scaled, and shifted if `bias` is set.
    device : Device or str, optional
    dtype : DType, optional
    bias : bool

    Raises
    ------
    ArgumentError
        If the groups do not divide the channels.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ArgumentError(
                f"num_channels ({num_channels}) must be divisible by num_groups "
                f"({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        options = {"device": device, "dtype": dtype}
        if affine:
            self.weight = Parameter(ones(num_channels, **options))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(zeros(num_channels, **options))
        else:
            self.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        """Scale 1, shift 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, shape (batch, num_channels, ...), normalized."""
        return functional.group_norm(
            input, self.num_groups, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """Return the numbers of groups and channels, and the settings."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, "
            f"affine={self.affine}, bias={self.bias is not None}"
        )


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    if isinstance(normalized_shape, int):
        return (normalized_shape,)
    return tuple(normalized_shape)


def _reset(weight: Tensor | None, bias: Tensor | None) -> None:
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)
