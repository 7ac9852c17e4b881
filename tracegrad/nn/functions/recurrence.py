"""Recurrences: one step of RNN, LSTM and GRU, and a whole direction of a layer."""

from __future__ import annotations

from typing import Any, NamedTuple

from tracegrad.ops.activations import rectified
from tracegrad.ops.contraction import linear
from tracegrad.ops.hyperbolic import tanh
from tracegrad.ops.joining import cat, stack
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


def run_direction(
    mode: str,
    data: Any,
    sizes: list[int] | None,
    initial: States,
    weights: Weights,
    reverse: bool,
) -> tuple[Any, States]:
    """Return the results of all steps, as `data` came, and the final states.

    Parameters
    ----------
    mode : str
    data : Tensor, shape (length, batch, features) or (sum of sizes, features)
    sizes : list of int, or None
        The batch size of each step, falling, if the steps are packed.
    initial : tuple of Tensor, shape (batch, features)
    weights : Weights
    reverse : bool
        Whether to go from the last step to the first.
    """
    # The products with all inputs at once: one large product, not many small ones.
    given: Any = linear(data, weights.of_input, weights.input_bias)
    if sizes is None:
        steps = given.unbind(0)
        results, states = run_equal(mode, steps, initial, weights, reverse)
        return stack(results), states
    steps = given.split(sizes, 0)
    run = _run_growing if reverse else _run_shrinking
    results, states = run(mode, steps, sizes, initial, weights)
    return cat(results, 0), states


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


def _run_shrinking(
    mode: str, steps: Any, sizes: list[int], states: States, weights: Weights
) -> tuple[list[Any], States]:
    """Run forward: sequences that have ended drop out of the batch."""
    results: list[Any] = []
    ended: list[States] = []
    for given, size in zip(steps, sizes, strict=True):
        if size < states[0].shape[0]:
            ended.append(tuple(s[size:] for s in states))
            states = tuple(s[:size] for s in states)
        states = STEPS[mode](mode, given, states, weights)
        results.append(states[0])
    parts = [states, *reversed(ended)]
    return results, tuple(cat(list(part), 0) for part in zip(*parts, strict=True))


def _run_growing(
    mode: str, steps: Any, sizes: list[int], initial: States, weights: Weights
) -> tuple[list[Any], States]:
    """Run backward: sequences join the batch where they end."""
    results: list[Any] = []
    states = tuple(s[: sizes[-1]] for s in initial)
    for given, size in zip(reversed(steps), reversed(sizes), strict=True):
        have = states[0].shape[0]
        if size > have:
            states = tuple(
                cat([s, first[have:size]], 0)
                for s, first in zip(states, initial, strict=True)
            )
        states = STEPS[mode](mode, given, states, weights)
        results.append(states[0])
    return results[::-1], states
