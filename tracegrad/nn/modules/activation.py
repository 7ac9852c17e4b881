"""Activation layers: thin modules over `functional`."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentError
from tracegrad.nn import functional
from tracegrad.nn.modules.module import Module
from tracegrad.ops.creation import zeros


class _InPlace(Module):
    """An activation without parameters that can write into its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Return whether it works in place."""
        return "inplace=True" if self.inplace else ""


def _suffix(inplace: bool) -> str:
    return ", inplace=True" if inplace else ""


class ReLU(_InPlace):
    """``max(0, x)`` of each element.

    Parameters
    ----------
    inplace : bool
        Whether to write into the input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.relu(input, self.inplace)


class SELU(_InPlace):
    """A scaled exponential linear unit with fixed constants of each element.

    Parameters
    ----------
    inplace : bool
        Whether to write into the input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.selu(input, self.inplace)


class SiLU(_InPlace):
    """``x * sigmoid(x)`` of each element.

    Parameters
    ----------
    inplace : bool
        Whether to write into the input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.silu(input, self.inplace)


class Mish(_InPlace):
    """``x * tanh(softplus(x))`` of each element.

    Parameters
    ----------
    inplace : bool
        Whether to write into the input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.mish(input, self.inplace)


class Hardsigmoid(_InPlace):
    """``clamp(x / 6 + 1 / 2, 0, 1)`` of each element.

    Parameters
    ----------
    inplace : bool
        Whether to write into the input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.hardsigmoid(input, self.inplace)


class Hardswish(_InPlace):
    """``x * hardsigmoid(x)`` of each element.

    Parameters
    ----------
    inplace : bool
        Whether to write into the input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.hardswish(input, self.inplace)


class ReLU6(_InPlace):
    """``clamp(x, 0, 6)`` of each element.

    Parameters
    ----------
    inplace : bool
        Whether to write into the input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.relu6(input, self.inplace)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))`` of each element."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.sigmoid(input)


class LogSigmoid(Module):
    """``log(sigmoid(x))`` of each element."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.logsigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent of each element."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.tanh(input)


class Tanhshrink(Module):
    """``x - tanh(x)`` of each element."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.tanhshrink(input)


class Softsign(Module):
    """``x / (1 + abs(x))`` of each element."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.softsign(input)


class LeakyReLU(Module):
    """``x``, or the slope times it if negative, of each element.

    Parameters
    ----------
    negative_slope : float
    inplace : bool
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """Return the parameters."""
        return f"negative_slope={self.negative_slope}{_suffix(self.inplace)}"


class ELU(Module):
    """``x``, or ``alpha * expm1(x)`` if negative, of each element.

    Parameters
    ----------
    alpha : float
    inplace : bool
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Return the parameters."""
        return f"alpha={self.alpha}{_suffix(self.inplace)}"


class CELU(Module):
    """``x``, or ``alpha * expm1(x / alpha)`` if negative, of each element.

    Parameters
    ----------
    alpha : float
    inplace : bool
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Return the parameters."""
        return f"alpha={self.alpha}{_suffix(self.inplace)}"


class Hardtanh(Module):
    """``clamp(x, min_val, max_val)`` of each element.

    Parameters
    ----------
    min_val : float
    max_val : float
    inplace : bool
    """

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
    ) -> None:
        super().__init__()
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Return the parameters."""
        return f"min_val={self.min_val}, max_val={self.max_val}{_suffix(self.inplace)}"


class Threshold(Module):
    """``x`` if above a threshold, else a value, of each element.

    Parameters
    ----------
    threshold : float
    value : float
    inplace : bool
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """Return the parameters."""
        return f"threshold={self.threshold}, value={self.value}{_suffix(self.inplace)}"


class Hardshrink(Module):
    """``x``, or 0 if from ``-lambd`` to ``lambd``, of each element.

    Parameters
    ----------
    lambd : float
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Return the parameters."""
        return f"{self.lambd}"


class Softshrink(Module):
    """``x`` brought nearer to 0 by ``lambd`` of each element.

    Parameters
    ----------
    lambd : float
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Return the parameters."""
        return f"{self.lambd}"


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta`` of each element.

    Parameters
    ----------
    beta : float
    threshold : float
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return the parameters."""
        return f"beta={self.beta}, threshold={self.threshold}"


class GELU(Module):
    """``x`` times the normal distribution function of each element.

    Parameters
    ----------
    approximate : str
        ``"none"``, or ``"tanh"`` for an approximation.
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Return which form it is."""
        return f"approximate={self.approximate!r}"


class PReLU(Module):
    """``x``, or a learned slope times it if negative, of each element.

    Parameters
    ----------
    num_parameters : int
        1, or the number of channels.
    init : float
        The slope to start with.
    device : Device or str, optional
    dtype : DType, optional

    Attributes
    ----------
    weight : Parameter, shape (num_parameters,)
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        data = zeros(num_parameters, device=device, dtype=dtype)
        self.weight = Parameter(data + init)

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of `input`."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the number of slopes."""
        return f"num_parameters={self.num_parameters}"


class GLU(Module):
    """One half of a dimension times the sigmoid of the other.

    Parameters
    ----------
    dim : int
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the gated half of `input`."""
        return functional.glu(input, self.dim)

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class _OverRows(Module):
    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class Softmax(_OverRows):
    """Exponentials scaled to sum 1 along a dimension.

    Parameters
    ----------
    dim : int
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return it for `input`."""
        return functional.softmax(input, self.dim)


class LogSoftmax(_OverRows):
    """Logarithm of the softmax along a dimension.

    Parameters
    ----------
    dim : int
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return it for `input`."""
        return functional.log_softmax(input, self.dim)


class Softmin(_OverRows):
    """Softmax of the negative elements along a dimension.

    Parameters
    ----------
    dim : int
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return it for `input`."""
        return functional.softmin(input, self.dim)


class Softmax2d(Module):
    """Softmax over the channels of (batch, channels, height, width).

    Raises
    ------
    ArgumentError
        If the input has neither 3 nor 4 dimensions.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return it for `input`."""
        if input.ndim not in (3, 4):
            raise ArgumentError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead"
            )
        return functional.softmax(input, -3)
