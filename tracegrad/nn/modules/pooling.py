"""Pooling layers."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.nn import functional
from tracegrad.nn.modules.module import Module


class _MaxPool(Module):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        """Return the geometry."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """Largest element of each window over one dimension.

    Parameters
    ----------
    kernel_size, stride, padding, dilation : int or tuple of int
    return_indices, ceil_mode : bool
        As `functional.max_pool2d` has them.
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and where they are if that was asked."""
        return functional.max_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class MaxPool2d(_MaxPool):
    """Largest element of each window over two dimensions.

    Parameters
    ----------
    kernel_size, stride, padding, dilation : int or tuple of int
    return_indices, ceil_mode : bool
        As `functional.max_pool2d` has them.
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and where they are if that was asked."""
        return functional.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class MaxPool3d(_MaxPool):
    """Largest element of each window over three dimensions.

    Parameters
    ----------
    kernel_size, stride, padding, dilation : int or tuple of int
    return_indices, ceil_mode : bool
        As `functional.max_pool2d` has them.
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and where they are if that was asked."""
        return functional.max_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class AvgPool1d(Module):
    """Mean of each window over one dimension.

    Parameters
    ----------
    kernel_size, stride, padding : int or tuple of int
    ceil_mode, count_include_pad : bool
        As `functional.avg_pool2d` has them.
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = self.kernel_size if stride is None else _single(stride)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return functional.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def extra_repr(self) -> str:
        """Return the geometry."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


def _single(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


class _AvgPool(Module):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def extra_repr(self) -> str:
        """Return the geometry."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class AvgPool2d(_AvgPool):
    """Mean of each window over two dimensions.

    Parameters
    ----------
    kernel_size, stride, padding : int or tuple of int
    ceil_mode, count_include_pad : bool
    divisor_override : int, optional
        As `functional.avg_pool2d` has them.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return functional.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(_AvgPool):
    """Mean of each window over three dimensions.

    Parameters
    ----------
    kernel_size, stride, padding : int or tuple of int
    ceil_mode, count_include_pad : bool
    divisor_override : int, optional
        As `functional.avg_pool2d` has them.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return functional.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class _Adaptive(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Return the result's sizes."""
        return f"output_size={self.output_size}"


class _AdaptiveMax(Module):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        """Return the result's sizes."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Mean of as many windows as asked over one dimension.

    Parameters
    ----------
    output_size : int or tuple of int or None
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return functional.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Largest element of as many windows as asked over one dimension.

    Parameters
    ----------
    output_size : int or tuple of int or None
    return_indices : bool
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and where they are if that was asked."""
        return functional.adaptive_max_pool1d(
            input, self.output_size, self.return_indices
        )


class AdaptiveAvgPool2d(_Adaptive):
    """Mean of as many windows as asked over two dimensions.

    Parameters
    ----------
    output_size : int or tuple of int or None
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return functional.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Largest element of as many windows as asked over two dimensions.

    Parameters
    ----------
    output_size : int or tuple of int or None
    return_indices : bool
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and where they are if that was asked."""
        return functional.adaptive_max_pool2d(
            input, self.output_size, self.return_indices
        )


class AdaptiveAvgPool3d(_Adaptive):
    """Mean of as many windows as asked over three dimensions.

    Parameters
    ----------
    output_size : int or tuple of int or None
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return functional.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """Largest element of as many windows as asked over three dimensions.

    Parameters
    ----------
    output_size : int or tuple of int or None
    return_indices : bool
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and where they are if that was asked."""
        return functional.adaptive_max_pool3d(
            input, self.output_size, self.return_indices
        )
