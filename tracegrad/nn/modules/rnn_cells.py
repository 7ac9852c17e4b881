"""One step of a recurrence as a layer."""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ShapeError
from tracegrad.nn import init
from tracegrad.nn.modules.linear import empty_parameter
from tracegrad.nn.modules.module import Module
from tracegrad.ops import recurrence
from tracegrad.ops.contraction import linear
from tracegrad.ops.creation import zeros


class RNNCellBase(Module):
    """What the cells share.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    num_chunks : int
        How many blocks of `hidden_size` rows the weights have.
    device : Device or str, optional
    dtype : DType, optional
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = empty_parameter((rows, input_size), device, dtype)
        self.weight_hh = empty_parameter((rows, hidden_size), device, dtype)
        if bias:
            self.bias_ih = empty_parameter((rows,), device, dtype)
            self.bias_hh = empty_parameter((rows,), device, dtype)
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly within ``1 / sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        """Return the sizes, and what is not as by default."""
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        if nonlinearity != "tanh":
            text += f", nonlinearity={nonlinearity}"
        return text

    def _stepped(self, mode: str, input: Any, states: Any, count: int) -> Any:
        name = self._get_name()
        if input.ndim not in (1, 2):
            raise ArgumentError(
                f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead"
            )
        if input.shape[-1] != self.input_size:
            raise ShapeError(
                f"{name}: the input has {input.shape[-1]} features, not "
                f"{self.input_size}"
            )
        batched = input.ndim == 2
        x = input if batched else input.unsqueeze(0)
        if states is None:
            shape = (x.shape[0], self.hidden_size)
            nothing = zeros(*shape, dtype=x.dtype, device=x.device)
            states = (nothing,) * count
        elif not batched:
            states = tuple(s.unsqueeze(0) for s in states)
        weights = recurrence.Weights(
            self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None
        )
        given = linear(x, self.weight_ih, self.bias_ih)
        found = recurrence.STEPS[mode](mode, given, tuple(states), weights)
        return found if batched else tuple(s.squeeze(0) for s in found)


class RNNCell(RNNCellBase):
    """One step of `RNN`.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    nonlinearity : str
        ``"tanh"`` or ``"relu"``.
    device : Device or str, optional
    dtype : DType, optional
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state, shape (batch, hidden_size)."""
        mode = f"RNN_{self.nonlinearity.upper()}"
        if mode not in recurrence.STEPS:
            raise ShapeError(f"Unknown nonlinearity: {self.nonlinearity}")
        states = None if hx is None else (hx,)
        return self._stepped(mode, input, states, 1)[0]  # type: ignore[no-any-return]


class LSTMCell(RNNCellBase):
    """One step of `LSTM`.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    device : Device or str, optional
    dtype : DType, optional
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the next hidden and cell state, each (batch, hidden_size)."""
        return self._stepped("LSTM", input, hx, 2)  # type: ignore[no-any-return]


class GRUCell(RNNCellBase):
    """One step of `GRU`.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    device : Device or str, optional
    dtype : DType, optional
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state, shape (batch, hidden_size)."""
        states = None if hx is None else (hx,)
        return self._stepped("GRU", input, states, 1)[0]  # type: ignore[no-any-return]
