"""Recurrences over arrays, all steps forward and backward: their kernel pairs.

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
    shape : tuple of int
        (T, N, G * H), of the inputs' share of the sums.
    weight : ndarray, shape (G * H, H)
    hidden : ndarray, shape (N, H)
        The initial state.
    reverse : bool
        Whether to go from the last step to the first.
    nonlinearity : str
        Of `PlainSteps`.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        weight: Any,
        hidden: Any,
        reverse: bool,
        nonlinearity: str = "",
    ) -> None:
        self.weight = weight
        self.hidden = hidden
        self.reverse = reverse
        self.tanh = nonlinearity == "tanh"
        self.has_bias = False
        steps, batch, _ = shape
        self.dtype = weight.dtype
        self.shape = (steps, batch, weight.shape[1])
        self.results = np.empty(self.shape, self.dtype)

    def turned(self, steps: Any) -> Any:
        """Return steps in the order in which they are gone through, or back."""
        return steps[::-1] if self.reverse else steps

    def _returned(self) -> Any:
        """Return the results in memory of their own: backward reads them too."""
        return self.turned(self.results).copy()

    def _before(self) -> Any:
        """Return the hidden state before each step."""
        before = np.empty(self.shape, self.dtype)
        before[0] = self.hidden
        before[1:] = self.results[:-1]
        return before

    def _of_given(self, sums: Any) -> Any:
        return np.ascontiguousarray(self.turned(sums))

    def _weight_gradients(self, sums: Any) -> tuple[Any, Any]:
        """Return the gradients of weight and bias, from those of the sums."""
        rows = sums.reshape(-1, sums.shape[-1])
        before = self._before().reshape(-1, self.shape[-1])
        shift = np.add.reduce(rows, 0) if self.has_bias else None
        return rows.T @ before, shift


class PlainSteps(_Steps):
    """h' = tanh(given + U h + b), or with relu."""

    def run(self, given: Any, bias: Any) -> tuple[Any, ...]:
        """Return the results and the final state."""
        self.has_bias = bias is not None
        hidden = self.hidden
        weight = np.ascontiguousarray(self.weight.T)
        given = self.turned(given if bias is None else given + bias)
        for step, result in enumerate(self.results):
            np.matmul(hidden, weight, out=result)
            result += given[step]
            if self.tanh:
                np.tanh(result, out=result)
            else:
                np.maximum(result, 0, out=result)
            hidden = result
        return self._returned(), hidden.copy()

    def back(self, grads: Any, last: Any) -> tuple[Any, ...]:
        """Return the gradients of given, weight, bias and the initial state."""
        sums = np.empty(self.shape, self.dtype)
        slopes = 1 - self.results**2 if self.tanh else self.results > 0
        grads = self.turned(grads)
        ct = last
        for step in reversed(range(len(sums))):
            np.multiply(grads[step] + ct, slopes[step], out=sums[step])
            ct = sums[step] @ self.weight
        return self._of_given(sums), *self._weight_gradients(sums), ct


class LongShortSteps(_Steps):
    """Long short-term memory; the blocks are entry, forget, candidate and exit."""

    def run(self, given: Any, bias: Any, cell: Any) -> tuple[Any, ...]:
        """Return the results, the final hidden and the final cell state."""
        self.has_bias = bias is not None
        steps, batch, size = self.shape
        dtype = self.dtype
        weight = np.ascontiguousarray(self.weight.T)
        self.gates = np.empty((steps, batch, 4 * size), dtype)
        self.cells = np.empty((steps + 1, batch, size), dtype)
        self.bent = np.empty(self.shape, dtype)
        given = self.turned(given if bias is None else given + bias)
        hidden, self.cells[0] = self.hidden, cell
        for step, gates in enumerate(self.gates):
            np.matmul(hidden, weight, out=gates)
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
        return self._returned(), hidden.copy(), self.cells[-1].copy()

    def back(self, grads: Any, last: Any, last_cell: Any) -> tuple[Any, ...]:
        """Return the gradients of given, weight, bias and the initial states."""
        steps, batch, size = self.shape
        blocks = self.gates.reshape(steps, batch, 4, size)
        entry, forget, candidate, exit_ = (blocks[:, :, i] for i in range(4))
        # By what the cell's and the hidden gradient are multiplied, all steps at once.
        slopes = np.empty((steps, batch, 3, size), self.dtype)
        slopes[:, :, 0] = candidate * entry * (1 - entry)
        slopes[:, :, 1] = self.cells[:-1] * forget * (1 - forget)
        slopes[:, :, 2] = entry * (1 - candidate**2)
        exit_slope = self.bent * exit_ * (1 - exit_)
        into_cell = exit_ * (1 - self.bent**2)
        sums = np.empty_like(self.gates)
        parts = sums.reshape(steps, batch, 4, size)
        grads = self.turned(grads)
        ct, ct_cell = last, last_cell
        for step in reversed(range(steps)):
            ct = grads[step] + ct
            ct_cell = ct_cell + ct * into_cell[step]
            np.multiply(ct_cell[:, None], slopes[step], out=parts[step, :, :3])
            np.multiply(ct, exit_slope[step], out=parts[step, :, 3])
            ct_cell = ct_cell * forget[step]
            ct = sums[step] @ self.weight
        return self._of_given(sums), *self._weight_gradients(sums), ct, ct_cell


class GatedSteps(_Steps):
    """Gated recurrent units; the blocks are reset, update and candidate."""

    def run(self, given: Any, bias: Any) -> tuple[Any, ...]:
        """Return the results and the final state."""
        self.has_bias = bias is not None
        steps, batch, size = self.shape
        self.gates = np.empty((steps, batch, 3 * size), self.dtype)
        self.own = np.empty(self.shape, self.dtype)
        weight = np.ascontiguousarray(self.weight.T)
        given = self.turned(given)
        hidden = self.hidden
        for step, gates in enumerate(self.gates):
            sums = hidden @ weight
            if bias is not None:
                sums += bias
            self.own[step] = sums[:, 2 * size :]
            both = gates[:, : 2 * size]
            np.add(given[step, :, : 2 * size], sums[:, : 2 * size], out=both)
            _sigmoid_in(both)
            candidate = gates[:, 2 * size :]
            np.multiply(gates[:, :size], self.own[step], out=candidate)
            candidate += given[step, :, 2 * size :]
            np.tanh(candidate, out=candidate)
            result = self.results[step]
            np.subtract(hidden, candidate, out=result)
            result *= gates[:, size : 2 * size]
            result += candidate
            hidden = result
        return self._returned(), hidden.copy()

    def back(self, grads: Any, last: Any) -> tuple[Any, ...]:
        """Return the gradients of given, weight, bias and the initial state."""
        steps, batch, size = self.shape
        blocks = self.gates.reshape(steps, batch, 3, size)
        reset, update, candidate = (blocks[:, :, i] for i in range(3))
        before = self._before()
        to_candidate = (1 - update) * (1 - candidate**2)
        slopes = np.empty((steps, batch, 3, size), self.dtype)
        slopes[:, :, 0] = to_candidate * self.own * reset * (1 - reset)
        slopes[:, :, 1] = (before - candidate) * update * (1 - update)
        slopes[:, :, 2] = to_candidate * reset
        sums = np.empty_like(self.gates)
        parts = sums.reshape(steps, batch, 3, size)
        inputs = np.empty(self.shape, self.dtype)
        grads = self.turned(grads)
        ct = last
        for step in reversed(range(steps)):
            ct = grads[step] + ct
            np.multiply(ct[:, None], slopes[step], out=parts[step])
            np.multiply(ct, to_candidate[step], out=inputs[step])
            ct = ct * update[step] + sums[step] @ self.weight
        of_weight, of_bias = self._weight_gradients(sums)
        of_given = sums.copy()
        of_given[:, :, 2 * size :] = inputs
        return self._of_given(of_given), of_weight, of_bias, ct


def serves(given: Any, weight: Any, bias: Any, *states: Any, **_: Any) -> bool:
    """Return whether the shapes fit: the operators say what is wrong otherwise."""
    if given.ndim != 3 or weight.ndim != 2 or given.shape[2] != weight.shape[0]:
        return False
    state = (given.shape[1], weight.shape[1])
    fits = bias is None or bias.shape == weight.shape[:1]
    return fits and all(s.shape == state for s in states)


def run_plain(
    given: Any, weight: Any, bias: Any, hidden: Any, nonlinearity: str, reverse: bool
) -> tuple[Any, PlainSteps]:
    """Return results and final state, and what backward needs."""
    steps = PlainSteps(given.shape, weight, hidden, reverse, nonlinearity)
    return steps.run(given, bias), steps


def run_long_short(
    given: Any, weight: Any, bias: Any, hidden: Any, cell: Any, reverse: bool
) -> tuple[Any, LongShortSteps]:
    """Return results and final states, and what backward needs."""
    steps = LongShortSteps(given.shape, weight, hidden, reverse)
    return steps.run(given, bias, cell), steps


def run_gated(
    given: Any, weight: Any, bias: Any, hidden: Any, reverse: bool
) -> tuple[Any, GatedSteps]:
    """Return results and final state, and what backward needs."""
    steps = GatedSteps(given.shape, weight, hidden, reverse)
    return steps.run(given, bias), steps


def back(steps: Any, cts: list[Any], wanted: tuple[bool, ...]) -> Any:
    """Return the gradients of all operands."""
    return steps.back(*cts)
