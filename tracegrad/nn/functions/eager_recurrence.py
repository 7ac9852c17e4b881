"""A direction of a recurrence in eager mode: one node of the tape, not one per step.

The values are those of `recurrence.run_direction`, which says what is computed, and
which serves under capture, under transforms and for second derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tracegrad as tg
from tracegrad.dispatch.state import runs_plainly
from tracegrad.dtypes import float32, float64
from tracegrad.nn.functions import array_steps, recurrence
from tracegrad.ops.conversion import from_numpy
from tracegrad.ops.joining import stack


def serves(data: Any, weights: recurrence.Weights, initial: Any) -> bool:
    """Return whether a direction can run as one node: eager, on the CPU, not half."""
    if not runs_plainly() or weights.projection is not None:
        return False
    tensors = (data, weights.of_input, weights.of_hidden, *initial)
    return all(
        x.dtype is data.dtype and x._array.__class__ is np.ndarray for x in tensors
    ) and data.dtype in (float32, float64)


class _Direction(tg.autograd.Function):
    """All steps of one direction."""

    @staticmethod
    def forward(
        ctx: Any, mode: str, given: Any, weight: Any, bias: Any, *initial: Any
    ) -> Any:
        """Return the results of all steps, and the final states."""
        tensors = (given, weight, bias, *initial)
        arrays = [None if x is None else x._array for x in tensors]
        steps = array_steps.KINDS[mode](mode, *arrays)
        ctx.save_for_backward(*tensors)
        ctx.mode = mode
        ctx.steps = steps
        results, *states = steps.run()
        # A copy: the caller may write into it, and backward reads the results.
        return from_numpy(results.copy()), *map(from_numpy, states)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients, by arrays or, to be differentiated, by operators."""
        tensors = ctx.saved_tensors
        if tg.is_grad_enabled():
            return (None, *_by_operators(ctx.mode, tensors, grads))
        found = ctx.steps.back(*[g._array for g in grads])
        return (None, *[None if a is None else from_numpy(a) for a in found])


def _by_operators(mode: str, tensors: Any, grads: Any) -> list[Any]:
    given, weight, bias, *initial = tensors
    weights = recurrence.Weights(None, weight, None, bias, None)
    results, states = recurrence.run_equal(
        mode, given.unbind(0), tuple(initial), weights, False
    )
    outputs = [stack(results), *states]
    wanted = [x for x in tensors if x is not None and x.requires_grad]
    gradients = tg.autograd.grad(
        outputs, wanted, list(grads), create_graph=True, allow_unused=True
    )
    found = iter(gradients)
    return [next(found) if x is not None and x.requires_grad else None for x in tensors]


def run_direction(
    mode: str, given: Any, initial: Any, weights: recurrence.Weights, reverse: bool
) -> tuple[Any, Any]:
    """Return the results of all steps and the final states; see `recurrence`."""
    turned = given.flip(0) if reverse else given
    result, *states = _Direction.apply(
        mode, turned, weights.of_hidden, weights.hidden_bias, *initial
    )
    return result.flip(0) if reverse else result, tuple(states)
