"""Batch and instance normalization layers."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.dtypes import int64
from tracegrad.errors import ArgumentError
from tracegrad.nn import functional, init
from tracegrad.nn.modules.module import Module
from tracegrad.ops.creation import ones, zeros


class _RunningStatistics(Module):
    """Scale, shift and running statistics of channels.

    Attributes
    ----------
    weight, bias : Parameter, shape (num_features,), or None
    running_mean, running_var : Tensor, shape (num_features,), or None
    num_batches_tracked : Tensor, shape (), int64, or None
    """

    _ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        options = {"device": device, "dtype": dtype}
        if affine:
            self.weight = Parameter(ones(num_features, **options))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(zeros(num_features, **options))
        else:
            self.register_parameter("bias", None)
        if track_running_stats:
            count = zeros(dtype=int64, device=device)
            self.register_buffer("running_mean", zeros(num_features, **options))
            self.register_buffer("running_var", ones(num_features, **options))
            self.register_buffer("num_batches_tracked", count)
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)

    def reset_running_stats(self) -> None:
        """Forget the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the running statistics; scale 1, shift 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input(self, input: Tensor) -> None:
        if input.ndim not in self._ranks:
            wanted = " or ".join(f"{rank}D" for rank in self._ranks)
            raise ArgumentError(f"expected {wanted} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        """Return the number of channels and the settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_RunningStatistics):
    def forward(self, input: Tensor) -> Tensor:
        """Return `input` normalized per channel."""
        self._check_input(input)
        moving = self.training and self.track_running_stats
        factor = 0.0 if self.momentum is None else self.momentum
        if moving and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                # A cumulative mean: the count is data, and stays a tensor.
                factor = 1.0 / self.num_batches_tracked
        own_statistics = self.training or self.running_mean is None
        used = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if used else None,
            self.running_var if used else None,
            self.weight,
            self.bias,
            own_statistics,
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (batch, channels) or (batch, channels, length).

    Parameters
    ----------
    num_features : int
        The number of channels.
    eps : float
        Added to the variance.
    momentum : float or None
        How far the running statistics move with each batch; None takes the mean of
        all batches.
    affine : bool
        Whether the result is scaled and shifted.
    track_running_stats : bool
        Whether there are running statistics, used in evaluation.
    device : Device or str, optional
    dtype : DType, optional
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (batch, channels, height, width); as `BatchNorm1d`."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalization of (batch, channels, depth, height, width)."""

    _ranks = (5,)


class _InstanceNorm(_RunningStatistics):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        settings = (eps, momentum, affine, track_running_stats, device, dtype)
        super().__init__(num_features, *settings, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` normalized per example and channel."""
        self._check_input(input)
        if input.ndim < self._ranks[-1]:
            return self._normalized(input.unsqueeze(0)).squeeze(0)  # type: ignore[attr-defined]
        return self._normalized(input)

    def _normalized(self, input: Tensor) -> Tensor:
        own_statistics = self.training or not self.track_running_stats
        return functional.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            own_statistics,
            self.momentum,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of (batch, channels, length) or (channels, length)."""

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of ([batch,] channels, height, width)."""

    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of ([batch,] channels, depth, height, width)."""

    _ranks = (4, 5)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over processes; here over one, as `BatchNorm1d`.

    Parameters
    ----------
    num_features : int
    eps, momentum, affine, track_running_stats, device, dtype
        As for `BatchNorm1d`.
    process_group : None
        There are no others.
    """

    _ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        settings = (eps, momentum, affine, track_running_stats, device, dtype)
        super().__init__(num_features, *settings, bias=bias)

    @classmethod
    def convert_sync_batchnorm(
        cls, module: Module, process_group: Any = None
    ) -> Module:
        """Return `module` as it is: over one process there is nothing to convert."""
        return module
