"""Recurrences: one step of RNN, LSTM and GRU, and all steps of one direction.

The directions are composites with kernel pairs: eagerly one call, not one per step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops import _recurrence_steps
from tracegrad.ops._families import composite
from tracegrad.ops.activations import rectified
from tracegrad.ops.contraction import linear
from tracegrad.ops.hyperbolic import tanh
from tracegrad.ops.joining import stack
from tracegrad.ops.logistic import sigmoid

# How many blocks of `hidden_size` rows the weights of a mode have.
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}

States = tuple[Any, ...]


class Weights(NamedTuple):
    """One direction's parameters; None for those it lacks."""

    of_input: Any
    of_hidden: Any
    input_bias: Any
    hidden_bias: Any
    projection: Any

    @staticmethod
    def of(parameters: list[Any], bias: bool) -> Weights:
        """Return the parameters in the order of their making, by name."""
        first, second, *rest = parameters
        shift, own_shift = (rest.pop(0), rest.pop(0)) if bias else (None, None)
        return Weights(first, second, shift, own_shift, rest[0] if rest else None)


def rnn_step(mode: str, given: Any, states: States, weights: Weights) -> States:
    """Return the next state, from the input's share of the sum."""
    total = given + linear(states[0], weights.of_hidden, weights.hidden_bias)
    return (tanh(total) if mode == "RNN_TANH" else rectified(total),)


def lstm_step(mode: str, given: Any, states: States, weights: Weights) -> States:
    """Return the next hidden and cell state, from the input's share of the gates."""
    hidden, cell = states
    gates: Any = given + linear(hidden, weights.of_hidden, weights.hidden_bias)
    entry, forget, candidate, exit_ = gates.chunk(4, -1)
    cell = sigmoid(forget) * cell + sigmoid(entry) * tanh(candidate)
    hidden = sigmoid(exit_) * tanh(cell)
    if weights.projection is not None:
        hidden = linear(hidden, weights.projection)
    return hidden, cell


def gru_step(mode: str, given: Any, states: States, weights: Weights) -> States:
    """Return the next state, from the input's share of the gates."""
    (hidden,) = states
    own: Any = linear(hidden, weights.of_hidden, weights.hidden_bias)
    size = hidden.shape[-1]
    given_gates, given_candidate = given.split([2 * size, size], -1)
    own_gates, own_candidate = own.split([2 * size, size], -1)
    reset, update = sigmoid(given_gates + own_gates).chunk(2, -1)
    candidate: Any = tanh(given_candidate + reset * own_candidate)
    return (candidate + update * (hidden - candidate),)


STEPS = {
    "RNN_TANH": rnn_step,
    "RNN_RELU": rnn_step,
    "LSTM": lstm_step,
    "GRU": gru_step,
}


def run_equal(
    mode: str, steps: Any, states: States, weights: Weights, reverse: bool
) -> tuple[list[Any], States]:
    """Return the results of steps that all have one batch, and the final states."""
    step = STEPS[mode]
    results = []
    for given in reversed(steps) if reverse else steps:
        states = step(mode, given, states, weights)
        results.append(states[0])
    return results[::-1] if reverse else results, states


def _direction(
    mode: str, given: Any, weights: Weights, reverse: bool, *states: Any
) -> tuple[Any, ...]:
    if mode != "GRU" and weights.hidden_bias is not None:
        # Once for all steps: only a GRU's reset gate needs the sum by itself.
        given = given + weights.hidden_bias
        weights = weights._replace(hidden_bias=None)
    results, last = run_equal(mode, given.unbind(0), states, weights, reverse)
    return stack(results), *last


def _own(weight: Tensor, bias: Tensor | None) -> Weights:
    return Weights(None, weight, None, bias, None)


def _examples(mode: str, count: int) -> Any:
    """Return examples with and without bias, in both directions."""

    def examples(rng: Any) -> list[tuple[Any, Any]]:
        rows = GATES[mode] * 3
        bias = rng.normal(size=rows)
        return [
            (
                (
                    rng.normal(size=(4, 2, rows)),
                    rng.normal(size=(rows, 3)),
                    shift,
                    *(rng.normal(size=(2, 3)) for _ in range(count)),
                ),
                {"reverse": reverse},
            )
            for shift, reverse in ((bias, False), (None, True))
        ]

    return examples


def _plain_examples(rng: Any) -> list[tuple[Any, Any]]:
    found = _examples("RNN_TANH", 1)(rng)
    relu = [(operands, more | {"nonlinearity": "relu"}) for operands, more in found]
    return [(o, more | {"nonlinearity": "tanh"}) for o, more in found] + relu


@composite(public=False, method=False, examples=_plain_examples)
def rnn_direction(
    given: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    hidden: Tensor,
    nonlinearity: str,
    reverse: bool,
) -> Tensor:
    """Results of all steps of an RNN and its final state, from the inputs' share.

    Source: Elman, "Finding Structure in Time" (1990).
    """
    mode = "RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU"
    return _direction(mode, given, _own(weight, bias), reverse, hidden)  # type: ignore[return-value]


@composite(public=False, method=False, examples=_examples("LSTM", 2))
def lstm_direction(
    given: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    hidden: Tensor,
    cell: Tensor,
    reverse: bool,
) -> Tensor:
    """Results of all steps of an LSTM and its final states, from the inputs' share.

    Source: Hochreiter, Schmidhuber, "Long Short-Term Memory" (1997).
    """
    return _direction("LSTM", given, _own(weight, bias), reverse, hidden, cell)  # type: ignore[return-value]


@composite(public=False, method=False, examples=_examples("GRU", 1))
def gru_direction(
    given: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    hidden: Tensor,
    reverse: bool,
) -> Tensor:
    """Results of all steps of a GRU and its final state, from the inputs' share.

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder"
    (2014), section 2.3.
    """
    return _direction("GRU", given, _own(weight, bias), reverse, hidden)  # type: ignore[return-value]


_KERNELS: dict[str, Any] = {
    "backward": _recurrence_steps.back,
    "serves": _recurrence_steps.serves,
    "reads": ("weight", "hidden"),
    "any_layout": True,
}
rnn_direction.kernels(forward=_recurrence_steps.run_plain, **_KERNELS)
lstm_direction.kernels(forward=_recurrence_steps.run_long_short, **_KERNELS)
gru_direction.kernels(forward=_recurrence_steps.run_gated, **_KERNELS)


def apply_direction(
    mode: str, given: Any, states: States, weights: Weights, reverse: bool
) -> tuple[Any, States]:
    """Return the results and final states of one direction, by its operator."""
    own = (given, weights.of_hidden, weights.hidden_bias)
    if mode == "LSTM":
        results, *last = lstm_direction(*own, *states, reverse)
    elif mode == "GRU":
        results, *last = gru_direction(*own, *states, reverse)
    else:
        nonlinearity = "tanh" if mode == "RNN_TANH" else "relu"
        results, *last = rnn_direction(*own, *states, nonlinearity, reverse)
    return results, tuple(last)
