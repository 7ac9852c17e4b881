"""Recurrent layers: RNN, LSTM, GRU."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tracegrad.dispatch.tensor import Parameter
from tracegrad.errors import ArgumentError, ArgumentTypeError, ShapeError
from tracegrad.location import warn
from tracegrad.nn import init
from tracegrad.nn.functions.recurrence import run_direction
from tracegrad.nn.modules.linear import empty_parameter
from tracegrad.nn.modules.module import Module
from tracegrad.nn.utils.rnn import PackedSequence
from tracegrad.ops import recurrence
from tracegrad.ops.creation import zeros
from tracegrad.ops.dropout import dropout
from tracegrad.ops.joining import cat, stack


class _Sequences(NamedTuple):
    """Inputs step by step, and how they came: the batch size of each step."""

    data: Any
    sizes: list[int] | None
    batch: int


class RNNBase(Module):
    """What the recurrent layers share.

    Parameters
    ----------
    mode : str
        ``"LSTM"``, ``"GRU"``, ``"RNN_TANH"`` or ``"RNN_RELU"``.
    input_size, hidden_size, num_layers : int
    bias, batch_first : bool
    dropout : float
        After each layer but the last.
    bidirectional : bool
    proj_size : int
        To how many features an LSTM's hidden state is projected; 0 for no projection.
    device : Device or str, optional
    dtype : DType, optional

    Attributes
    ----------
    weight_ih_l{k}, weight_hh_l{k}, bias_ih_l{k}, bias_hh_l{k} : Parameter
        Of layer k; with ``_reverse`` for the other direction.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_sizes(hidden_size, num_layers, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._names = [
            self._make_direction(layer, suffix, device, dtype)
            for layer in range(num_layers)
            for suffix in ("", "_reverse")[: 1 + bidirectional]
        ]
        self.reset_parameters()

    @property
    def _out_size(self) -> int:
        return self.proj_size or self.hidden_size

    def _make_direction(
        self, layer: int, suffix: str, device: Any, dtype: Any
    ) -> list[str]:
        """Make one direction's parameters; return their names."""
        directions = 1 + self.bidirectional
        width = self._out_size * directions if layer else self.input_size
        rows = recurrence.GATES[self.mode] * self.hidden_size
        shapes = {"weight_ih": (rows, width), "weight_hh": (rows, self._out_size)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}  # type: ignore[dict-item]
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for name, shape in shapes.items():
            parameter = empty_parameter(shape, device, dtype)
            setattr(self, f"{name}_l{layer}{suffix}", parameter)
        return [f"{name}_l{layer}{suffix}" for name in shapes]

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly within ``1 / sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing: parameters have no layout of their own here."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._names]

    def extra_repr(self) -> str:
        """Return the sizes, and what is not as by default."""
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        for name, default in defaults.items():
            value = getattr(self, name)
            if value != default:
                text += f", {name}={value}"
        return text

    # -- states -------------------------------------------------------------------

    def _state_widths(self) -> tuple[int, ...]:
        return (self._out_size,)

    def _states(self, hx: Any, batch: int, batched: bool, like: Any) -> list[Any]:
        """Return the initial states, each of shape (layers, batch, features)."""
        layers = self.num_layers * (1 + self.bidirectional)
        widths = self._state_widths()
        if hx is None:
            made = {"dtype": like.dtype, "device": like.device}
            return [zeros(layers, batch, width, **made) for width in widths]
        given = list(hx) if len(widths) > 1 else [hx]
        for state, width in zip(given, widths, strict=True):
            wanted = (layers, batch, width) if batched else (layers, width)
            if tuple(state.shape) != wanted:
                raise ShapeError(
                    f"{self._get_name()}: a hidden state must have shape "
                    f"{list(wanted)}, not {list(state.shape)}"
                )
        return given if batched else [state.unsqueeze(1) for state in given]

    def _sequences(self, input: Any) -> _Sequences:
        if isinstance(input, PackedSequence):
            sizes = input.batch_sizes.tolist()
            found = _Sequences(input.data, sizes, sizes[0])
        else:
            if input.ndim not in (2, 3):
                raise ArgumentError(
                    f"{self._get_name()}: Expected input to be 2D or 3D, got "
                    f"{input.ndim}D instead"
                )
            if input.ndim == 2:
                input = input.unsqueeze(1)
            elif self.batch_first:
                input = input.transpose(0, 1)
            found = _Sequences(input, None, input.shape[1])
        if found.data.shape[-1] != self.input_size:
            raise ShapeError(
                f"{self._get_name()}: input.size(-1) must be equal to input_size. "
                f"Expected {self.input_size}, got {found.data.shape[-1]}"
            )
        return found

    # -- running ------------------------------------------------------------------

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the last layer's results at each step, and the final states.

        Parameters
        ----------
        input : Tensor or PackedSequence
            Of shape (length, batch, features), (batch, length, features) with
            `batch_first`, or (length, features).
        hx : Tensor or tuple of Tensor, optional
            The initial states, zeros if not given: shape (layers * directions, batch,
            features); an LSTM has two.

        Raises
        ------
        ArgumentError, ShapeError
            If a shape does not fit.
        """
        sequences = self._sequences(input)
        packed = isinstance(input, PackedSequence)
        batched = packed or input.ndim == 3
        states = self._states(hx, sequences.batch, batched, sequences.data)
        if packed and hx is not None and input.sorted_indices is not None:
            states = [s.index_select(1, input.sorted_indices) for s in states]
        result, final = self._run(sequences, states)
        if packed:
            return self._packed(input, result, final)
        if not batched:
            result, final = result.squeeze(1), [s.squeeze(1) for s in final]
        elif self.batch_first:
            result = result.transpose(0, 1)
        return result, self._handed_out(final)

    def _packed(self, input: Any, result: Any, final: list[Any]) -> Any:
        order = input.unsorted_indices
        if order is not None:
            final = [s.index_select(1, order) for s in final]
        packed = PackedSequence(result, input.batch_sizes, input.sorted_indices, order)
        return packed, self._handed_out(final)

    def _handed_out(self, final: list[Any]) -> Any:
        return final[0] if len(final) == 1 else tuple(final)

    def _run(self, sequences: _Sequences, states: list[Any]) -> tuple[Any, list[Any]]:
        data = sequences.data
        directions = 1 + self.bidirectional
        initial = [state.unbind(0) for state in states]
        final: list[list[Any]] = [[] for _ in states]
        weights = self.all_weights
        for layer in range(self.num_layers):
            results = []
            for direction in range(directions):
                at = layer * directions + direction
                result, last = run_direction(
                    self.mode,
                    data,
                    sequences.sizes,
                    tuple(s[at] for s in initial),
                    recurrence.Weights.of(weights[at], self.bias),
                    direction == 1,
                )
                results.append(result)
                for kept, state in zip(final, last, strict=True):
                    kept.append(state)
            data = results[0] if directions == 1 else cat(results, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                data = dropout(data, self.dropout)
        return data, [stack(kept) for kept in final]


def _check_sizes(
    hidden_size: int, num_layers: int, dropout: float, proj_size: int
) -> None:
    if isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ArgumentError(f"dropout must be a number from 0 to 1, not {dropout!r}")
    if dropout > 0 and num_layers == 1:
        warn(
            "dropout comes after each recurrent layer but the last, so that with "
            f"num_layers=1 dropout={dropout} does nothing"
        )
    if not isinstance(hidden_size, int):
        raise ArgumentTypeError(
            f"hidden_size must be an int, not {type(hidden_size).__name__}"
        )
    if hidden_size <= 0 or num_layers <= 0:
        raise ArgumentError(
            f"hidden_size and num_layers must be greater than zero, not {hidden_size} "
            f"and {num_layers}"
        )
    if not 0 <= proj_size < hidden_size:
        raise ArgumentError(
            f"proj_size must be from 0 to less than hidden_size {hidden_size}, not "
            f"{proj_size}"
        )


class RNN(RNNBase):
    """Elman's recurrence: ``h' = tanh(W x + b + U h + c)``, or with relu.

    Parameters
    ----------
    input_size, hidden_size, num_layers : int
    nonlinearity : str
        ``"tanh"`` or ``"relu"``.
    bias, batch_first, dropout, bidirectional, device, dtype
        As `RNNBase` has them.

    Notes
    -----
    Source: Elman, "Finding Structure in Time" (1990).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ArgumentError(
                f"RNN: nonlinearity must be 'tanh' or 'relu', not {nonlinearity!r}"
            )
        self.nonlinearity = nonlinearity
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )


class LSTM(RNNBase):
    """Long short-term memory.

    Parameters
    ----------
    input_size, hidden_size, num_layers : int
    bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        As `RNNBase` has them.

    Notes
    -----
    Source: Hochreiter, Schmidhuber, "Long Short-Term Memory" (1997), with forget gates;
    Sak et al. (2014) for the projection.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def _state_widths(self) -> tuple[int, ...]:
        return (self._out_size, self.hidden_size)


class GRU(RNNBase):
    """Gated recurrent units.

    Parameters
    ----------
    input_size, hidden_size, num_layers : int
    bias, batch_first, dropout, bidirectional, device, dtype
        As `RNNBase` has them.

    Notes
    -----
    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder"
    (2014); the reset gate is applied after the product, as in PyTorch.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )
