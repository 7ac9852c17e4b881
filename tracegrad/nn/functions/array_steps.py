"""Recurrences over arrays: all steps forward, and all steps backward.

Each class keeps from `run` what `back` needs. Shapes: T steps, a batch of N, H
features, G blocks of H rows in the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _sigmoid_in(x: Any) -> None:
    """Overwrite an array by its logistic sigmoid."""
    np.negative(x, out=x)
    with np.errstate(over="ignore"):
        np.exp(x, out=x)
    x += 1
    np.reciprocal(x, out=x)


class _Steps:
    """What the recurrences share.

    Parameters
    ----------
    mode : str
    given : ndarray, shape (T, N, G * H)
        The inputs' share of the sums.
    weight : ndarray, shape (G * H, H)
    bias : ndarray, shape (G * H,), or None
    *initial : ndarray, shape (N, H)
    """

    def __init__(
        self, mode: str, given: Any, weight: Any, bias: Any, *initial: Any
    ) -> None:
        self.mode = mode
        self.given = given
        self.weight = weight
        self.bias = bias
        self.initial = initial
        steps, batch, _ = given.shape
        self.shape = (steps, batch, weight.shape[1])
        self.results = np.empty(self.shape, given.dtype)
        self.turned = np.ascontiguousarray(weight.T)

    def _before(self) -> Any:
        """Return the hidden state before each step."""
        before = np.empty(self.shape, self.given.dtype)
        before[0] = self.initial[0]
        before[1:] = self.results[:-1]
        return before

    def _weight_gradients(self, sums: Any) -> tuple[Any, Any]:
        """Return the gradients of weight and bias, from those of the sums."""
        rows = sums.reshape(-1, sums.shape[-1])
        before = self._before().reshape(-1, self.shape[-1])
        shift = None if self.bias is None else np.add.reduce(rows, 0)
        return rows.T @ before, shift


class PlainSteps(_Steps):
    """h' = tanh(given + U h + b), or with relu."""

    def run(self) -> tuple[Any, ...]:
        """Return the results and the final state."""
        hidden = self.initial[0]
        given = self.given if self.bias is None else self.given + self.bias
        for step, result in enumerate(self.results):
            np.matmul(hidden, self.turned, out=result)
            result += given[step]
            if self.mode == "RNN_TANH":
                np.tanh(result, out=result)
            else:
                np.maximum(result, 0, out=result)
            hidden = result
        return self.results, hidden.copy()

    def back(self, grads: Any, last: Any) -> tuple[Any, ...]:
        """Return the gradients of given, weight, bias and the initial state."""
        sums = np.empty(self.shape, self.given.dtype)
        tanh = self.mode == "RNN_TANH"
        slopes = 1 - self.results**2 if tanh else self.results > 0
        ct = last
        for step in reversed(range(len(sums))):
            np.multiply(grads[step] + ct, slopes[step], out=sums[step])
            ct = sums[step] @ self.weight
        return sums, *self._weight_gradients(sums), ct


class LongShortSteps(_Steps):
    """Long short-term memory; the blocks are entry, forget, candidate and exit."""

    def run(self) -> tuple[Any, ...]:
        """Return the results, the final hidden and the final cell state."""
        steps, batch, size = self.shape
        dtype = self.given.dtype
        self.gates = np.empty((steps, batch, 4 * size), dtype)
        self.cells = np.empty((steps + 1, batch, size), dtype)
        self.bent = np.empty(self.shape, dtype)
        given = self.given if self.bias is None else self.given + self.bias
        hidden, self.cells[0] = self.initial
        for step, gates in enumerate(self.gates):
            np.matmul(hidden, self.turned, out=gates)
            gates += given[step]
            _sigmoid_in(gates[:, : 2 * size])
            candidate = gates[:, 2 * size : 3 * size]
            np.tanh(candidate, out=candidate)
            _sigmoid_in(gates[:, 3 * size :])
            cell = self.cells[step + 1]
            np.multiply(gates[:, size : 2 * size], self.cells[step], out=cell)
            cell += gates[:, :size] * candidate
            np.tanh(cell, out=self.bent[step])
            hidden = self.results[step]
            np.multiply(gates[:, 3 * size :], self.bent[step], out=hidden)
        return self.results, hidden.copy(), self.cells[-1].copy()

    def back(self, grads: Any, last: Any, last_cell: Any) -> tuple[Any, ...]:
        """Return the gradients of given, weight, bias and the initial states."""
        steps, batch, size = self.shape
        blocks = self.gates.reshape(steps, batch, 4, size)
        entry, forget, candidate, exit_ = (blocks[:, :, i] for i in range(4))
        # By what the cell's and the hidden gradient are multiplied, all steps at once.
        slopes = np.empty((steps, batch, 3, size), self.given.dtype)
        slopes[:, :, 0] = candidate * entry * (1 - entry)
        slopes[:, :, 1] = self.cells[:-1] * forget * (1 - forget)
        slopes[:, :, 2] = entry * (1 - candidate**2)
        exit_slope = self.bent * exit_ * (1 - exit_)
        into_cell = exit_ * (1 - self.bent**2)
        sums = np.empty_like(self.gates)
        parts = sums.reshape(steps, batch, 4, size)
        ct, ct_cell = last, last_cell
        for step in reversed(range(steps)):
            ct = grads[step] + ct
            ct_cell = ct_cell + ct * into_cell[step]
            np.multiply(ct_cell[:, None], slopes[step], out=parts[step, :, :3])
            np.multiply(ct, exit_slope[step], out=parts[step, :, 3])
            ct_cell = ct_cell * forget[step]
            ct = sums[step] @ self.weight
        return sums, *self._weight_gradients(sums), ct, ct_cell


class GatedSteps(_Steps):
    """Gated recurrent units; the blocks are reset, update and candidate."""

    def run(self) -> tuple[Any, ...]:
        """Return the results and the final state."""
        steps, batch, size = self.shape
        self.gates = np.empty((steps, batch, 3 * size), self.given.dtype)
        self.own = np.empty(self.shape, self.given.dtype)
        hidden = self.initial[0]
        for step, gates in enumerate(self.gates):
            sums = hidden @ self.turned
            if self.bias is not None:
                sums += self.bias
            self.own[step] = sums[:, 2 * size :]
            both = gates[:, : 2 * size]
            np.add(self.given[step, :, : 2 * size], sums[:, : 2 * size], out=both)
            _sigmoid_in(both)
            candidate = gates[:, 2 * size :]
            np.multiply(gates[:, :size], self.own[step], out=candidate)
            candidate += self.given[step, :, 2 * size :]
            np.tanh(candidate, out=candidate)
            result = self.results[step]
            np.subtract(hidden, candidate, out=result)
            result *= gates[:, size : 2 * size]
            result += candidate
            hidden = result
        return self.results, hidden.copy()

    def back(self, grads: Any, last: Any) -> tuple[Any, ...]:
        """Return the gradients of given, weight, bias and the initial state."""
        steps, batch, size = self.shape
        blocks = self.gates.reshape(steps, batch, 3, size)
        reset, update, candidate = (blocks[:, :, i] for i in range(3))
        before = self._before()
        to_candidate = (1 - update) * (1 - candidate**2)
        slopes = np.empty((steps, batch, 3, size), self.given.dtype)
        slopes[:, :, 0] = to_candidate * self.own * reset * (1 - reset)
        slopes[:, :, 1] = (before - candidate) * update * (1 - update)
        slopes[:, :, 2] = to_candidate * reset
        sums = np.empty_like(self.gates)
        parts = sums.reshape(steps, batch, 3, size)
        inputs = np.empty(self.shape, self.given.dtype)
        ct = last
        for step in reversed(range(steps)):
            ct = grads[step] + ct
            np.multiply(ct[:, None], slopes[step], out=parts[step])
            np.multiply(ct, to_candidate[step], out=inputs[step])
            ct = ct * update[step] + sums[step] @ self.weight
        of_weight, of_bias = self._weight_gradients(sums)
        of_given = sums.copy()
        of_given[:, :, 2 * size :] = inputs
        return of_given, of_weight, of_bias, ct


KINDS: dict[str, Any] = {
    "RNN_TANH": PlainSteps,
    "RNN_RELU": PlainSteps,
    "LSTM": LongShortSteps,
    "GRU": GatedSteps,
}
