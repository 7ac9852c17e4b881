"""Pooling layers made of others: power means, unpooling, neighbouring channels."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.nn import functional
from tracegrad.nn.modules.conv import numbers
from tracegrad.nn.modules.module import Module


class _LPPool(Module):
    """What the power means share.

    Parameters
    ----------
    norm_type : float
    kernel_size, stride : int or tuple of int
    ceil_mode : bool
    """

    _pool: Any

    def __init__(
        self,
        norm_type: float,
        kernel_size: Any,
        stride: Any = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Return the p-norm of each window."""
        return type(self)._pool(  # type: ignore[no-any-return]
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        """Return the norm and the geometry."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """`functional.lp_pool1d` as a layer."""

    _pool = staticmethod(functional.lp_pool1d)


class LPPool2d(_LPPool):
    """`functional.lp_pool2d` as a layer."""

    _pool = staticmethod(functional.lp_pool2d)


class LPPool3d(_LPPool):
    """`functional.lp_pool3d` as a layer."""

    _pool = staticmethod(functional.lp_pool3d)


class _MaxUnpool(Module):
    """What the unpooling layers share.

    Parameters
    ----------
    kernel_size, stride, padding : int or tuple of int
    """

    rank: int
    _unpool: Any

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = numbers(kernel_size, self.rank)
        self.stride = numbers(kernel_size if stride is None else stride, self.rank)
        self.padding = numbers(padding, self.rank)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Any = None
    ) -> Tensor:
        """Return maxima put back where they were."""
        geometry = (self.kernel_size, self.stride, self.padding)
        return type(self)._unpool(input, indices, *geometry, output_size)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        """Return the geometry."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class MaxUnpool1d(_MaxUnpool):
    """`functional.max_unpool1d` as a layer."""

    rank = 1
    _unpool = staticmethod(functional.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """`functional.max_unpool2d` as a layer."""

    rank = 2
    _unpool = staticmethod(functional.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """`functional.max_unpool3d` as a layer."""

    rank = 3
    _unpool = staticmethod(functional.max_unpool3d)


class LocalResponseNorm(Module):
    """`functional.local_response_norm` as a layer.

    Parameters
    ----------
    size : int
        How many channels are neighbours.
    alpha, beta, k : float
    """

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
    ) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` normalized."""
        return functional.local_response_norm(
            input, self.size, self.alpha, self.beta, self.k
        )

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
