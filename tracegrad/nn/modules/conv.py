"""Convolution layers."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentError
from tracegrad.nn import functional
from tracegrad.nn.modules.linear import empty_parameter, reset_affine
from tracegrad.nn.modules.module import Module


def numbers(value: Any, rank: int) -> tuple[int, ...]:
    """Return one number per spatial dimension."""
    return (value,) * rank if isinstance(value, int) else tuple(value)


class _Conv(Module):
    """What the convolutions share.

    Attributes
    ----------
    weight : Parameter, shape (out_channels, in_channels / groups, *kernel_size)
        Of a transposed one (in_channels, out_channels / groups, *kernel_size).
    bias : Parameter, shape (out_channels,), or None
    """

    rank: int
    transposed = False
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        output_padding: Any = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_groups(in_channels, out_channels, groups)
        if isinstance(padding, str) and padding not in ("valid", "same"):
            raise ArgumentError(
                f"padding must be 'valid', 'same' or numbers, not {padding!r}"
            )
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ArgumentError(
                "padding_mode must be 'zeros', 'reflect', 'replicate' or 'circular', "
                f"not {padding_mode!r}"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = numbers(kernel_size, self.rank)
        self.stride = numbers(stride, self.rank)
        self.padding: Any = (
            padding if isinstance(padding, str) else numbers(padding, self.rank)
        )
        self.dilation = numbers(dilation, self.rank)
        self.output_padding = numbers(output_padding, self.rank)
        self.groups = groups
        self.padding_mode = padding_mode
        options = {"device": device, "dtype": dtype}
        first, second = (
            (in_channels, out_channels)
            if self.transposed
            else (out_channels, in_channels)
        )
        shape = (first, second // groups, *self.kernel_size)
        self.weight = empty_parameter(shape, **options)
        if bias:
            self.bias = empty_parameter((out_channels,), **options)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        reset_affine(self.weight, self.bias)

    def _padded(self, input: Tensor) -> tuple[Tensor, Any]:
        """Return the input and what is left to pad with zeros."""
        if self.padding_mode == "zeros":
            return input, self.padding
        around: list[int] = []
        for low, high in reversed(self._sides()):
            around += [low, high]
        return functional.pad(input, tuple(around), mode=self.padding_mode), 0

    def _sides(self) -> list[tuple[int, int]]:
        if self.padding == "valid":
            return [(0, 0)] * self.rank
        if self.padding == "same":
            spans = [
                d * (k - 1)
                for d, k in zip(self.dilation, self.kernel_size, strict=True)
            ]
            return [(span // 2, span - span // 2) for span in spans]
        return [(p, p) for p in self.padding]

    def extra_repr(self) -> str:
        """Return the sizes, and what is not as by default."""
        parts = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        zeros, ones = (0,) * self.rank, (1,) * self.rank
        if self.padding != zeros:
            parts.append(f"padding={self.padding}")
        if self.dilation != ones:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != zeros:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


def _check_groups(in_channels: int, out_channels: int, groups: int) -> None:
    if groups <= 0:
        raise ArgumentError(f"groups must be a positive integer, not {groups}")
    if in_channels % groups:
        raise ArgumentError(f"in_channels {in_channels} must be divisible by groups")
    if out_channels % groups:
        raise ArgumentError(f"out_channels {out_channels} must be divisible by groups")


class Conv1d(_Conv):
    """Cross-correlation over one dimension.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, dilation : int or tuple of int
    padding : int, tuple of int, "same" or "valid"
    groups : int
    bias : bool
    padding_mode : str
        ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
    device : Device or str, optional
    dtype : DType, optional
    """

    rank = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return the cross-correlation of `input`, shape (batch, channels, …)."""
        padded, padding = self._padded(input)
        return functional.conv1d(
            padded,
            self.weight,
            self.bias,
            self.stride,
            padding,
            self.dilation,
            self.groups,
        )


class Conv2d(_Conv):
    """Cross-correlation over two dimensions.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, dilation : int or tuple of int
    padding : int, tuple of int, "same" or "valid"
    groups : int
    bias : bool
    padding_mode : str
        ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
    device : Device or str, optional
    dtype : DType, optional
    """

    rank = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return the cross-correlation of `input`, shape (batch, channels, …)."""
        padded, padding = self._padded(input)
        return functional.conv2d(
            padded,
            self.weight,
            self.bias,
            self.stride,
            padding,
            self.dilation,
            self.groups,
        )


class Conv3d(_Conv):
    """Cross-correlation over three dimensions.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, dilation : int or tuple of int
    padding : int, tuple of int, "same" or "valid"
    groups : int
    bias : bool
    padding_mode : str
        ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
    device : Device or str, optional
    dtype : DType, optional
    """

    rank = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return the cross-correlation of `input`, shape (batch, channels, …)."""
        padded, padding = self._padded(input)
        return functional.conv3d(
            padded,
            self.weight,
            self.bias,
            self.stride,
            padding,
            self.dilation,
            self.groups,
        )


class ConvTranspose1d(_Conv):
    """The transpose of `Conv1d` in its input ("deconvolution").

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, padding, output_padding, dilation : int or tuple of int
    groups : int
    bias : bool
    padding_mode : str
        ``"zeros"`` only.
    device : Device or str, optional
    dtype : DType, optional
    """

    rank = 1
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ArgumentError(
                f"ConvTranspose1d pads with zeros only, not {padding_mode!r}"
            )
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            output_padding,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return the transposed convolution of `input`."""
        return functional.conv_transpose1d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.groups,
            self.dilation,
        )


class ConvTranspose2d(_Conv):
    """The transpose of `Conv2d` in its input ("deconvolution").

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, padding, output_padding, dilation : int or tuple of int
    groups : int
    bias : bool
    padding_mode : str
        ``"zeros"`` only.
    device : Device or str, optional
    dtype : DType, optional
    """

    rank = 2
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ArgumentError(
                f"ConvTranspose2d pads with zeros only, not {padding_mode!r}"
            )
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            output_padding,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return the transposed convolution of `input`."""
        return functional.conv_transpose2d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.groups,
            self.dilation,
        )
