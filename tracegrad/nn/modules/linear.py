"""Linear maps, and the module that does nothing."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentError
from tracegrad.nn import functional, init
from tracegrad.nn.modules.module import Module
from tracegrad.ops.creation import zeros


class Identity(Module):
    """Returns its argument.

    Parameters
    ----------
    *args, **kwargs
        Ignored, so that it can take the place of any module.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`."""
        return input


class Linear(Module):
    """``input @ weight.T + bias``.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool
        Whether there is a bias.
    device : Device or str, optional
    dtype : DType, optional

    Attributes
    ----------
    weight : Parameter, shape (out_features, in_features)
    bias : Parameter, shape (out_features,), or None

    Notes
    -----
    Both start uniform on ``[-b, b)`` with ``b = 1 / sqrt(in_features)``, drawn in this
    order.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        options = {"device": device, "dtype": dtype}
        self.weight = empty_parameter((out_features, in_features), **options)
        if bias:
            self.bias = empty_parameter((out_features,), **options)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        reset_affine(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the linear map of `input`, shape (..., in_features)."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return sizes and whether there is a bias."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    """``input1 @ weight @ input2 + bias``, one matrix per output.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
    bias : bool
    device : Device or str, optional
    dtype : DType, optional
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ArgumentError(f"in1_features must be positive, not {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        options = {"device": device, "dtype": dtype}
        shape = (out_features, in1_features, in2_features)
        self.weight = empty_parameter(shape, **options)
        if bias:
            self.bias = empty_parameter((out_features,), **options)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return the bilinear map of two inputs, shapes (..., in_features)."""
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return sizes and whether there is a bias."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


def empty_parameter(shape: tuple[int, ...], device: Any, dtype: Any) -> Parameter:
    """Return a parameter whose values are to be set."""
    data = zeros(*shape, device=device, dtype=dtype)
    return Parameter(data)


def reset_affine(weight: Tensor, bias: Tensor | None) -> None:
    """Draw weight and bias as PyTorch does for linear maps and convolutions.

    Source: He et al., "Delving Deep into Rectifiers" (2015), with ``a = sqrt(5)``,
    which makes the bound ``1 / sqrt(fan_in)``.
    """
    init.kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        fan_in, _ = init.fans_of(weight)
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(bias, -bound, bound)
