"""Recurrences: a whole direction of a layer, of equal or of packed sequences."""

from __future__ import annotations

from typing import Any

from tracegrad.ops.contraction import linear
from tracegrad.ops.joining import cat, stack
from tracegrad.ops.recurrence import (
    STEPS,
    States,
    Weights,
    apply_direction,
    run_equal,
)


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
    if sizes is None and weights.projection is None:
        return apply_direction(mode, given, initial, weights, reverse)
    if sizes is None:
        steps = given.unbind(0)
        results, states = run_equal(mode, steps, initial, weights, reverse)
        return stack(results), states
    steps = given.split(sizes, 0)
    run = _run_growing if reverse else _run_shrinking
    results, states = run(mode, steps, sizes, initial, weights)
    return cat(results, 0), states


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
