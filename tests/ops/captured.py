"""An operator in captured code: its graph's text, and what compiled code answers."""

from typing import Any

import numpy as np

import tracegrad as tg
from tests.ops.checks import value_dtype
from tests.ops.samples import (
    Sample,
    arrays,
    leaves,
    parsed,
    results,
    samples,
    tensors,
)
from tests.support.round_trip import check_round_trip
from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.tensor import spec_of


def program_of(operator: OpDef, sample: Sample) -> tuple[Any, list[Any]]:
    """Return a function of the tensors alone that applies the operator, and these."""
    operands, attributes = parsed(operator, tensors(sample), sample.attributes)

    pattern = [_pattern(o) for o in operands]

    def program(*given: Any) -> Any:
        rest = iter(given)
        mixed = [_filled(p, rest) for p in pattern]
        return bind(operator, mixed, attributes)

    return program, [t for o in operands for t in _flat(o)]


def _flat(operand: Any) -> list[Any]:
    if isinstance(operand, tuple):
        return list(operand)
    return [operand] if isinstance(operand, tg.Tensor) else []


def _pattern(operand: Any) -> Any:
    """Return how many tensors an operand takes, -1 for one, or a value as it is."""
    if isinstance(operand, tuple):
        return "tensors", len(operand)
    return ("tensors", -1) if isinstance(operand, tg.Tensor) else ("value", operand)


def _filled(pattern: Any, rest: Any) -> Any:
    kind, value = pattern
    if kind == "value":
        return value
    return next(rest) if value < 0 else tuple(next(rest) for _ in range(value))


def check_captured(operator: OpDef, target: str) -> None:
    """Compiled code runs, nothing falls back, and it answers as eager mode does."""
    for sample in samples(operator, value_dtype(operator)):
        program, given = program_of(operator, sample)
        expected = arrays(program(*given))
        captured = tg.trace(program, target=target, strict=True)
        captured(*given)
        for found in (captured(*given), captured(*[t.clone() for t in given])):
            assert len(captured.graphs) == 1
            check_round_trip(captured.graph)
            for have, want in zip(arrays(found), expected, strict=True):
                assert have.dtype == want.dtype
                assert have.shape == want.shape
                np.testing.assert_array_equal(have, want)


def has_known_sizes(operator: OpDef) -> bool:
    """Return whether the results' sizes follow from the operands' specs."""
    (sample, *_) = samples(operator, value_dtype(operator))
    if operator.body is not None:
        return True
    operands, attributes = parsed(operator, tensors(sample), sample.attributes)
    specs = operator.abstract(*map(_spec, operands), **attributes)
    every = specs if isinstance(specs, tuple) else (specs,)
    return all(isinstance(size, int) for spec in every for size in spec.shape)


def _spec(operand: Any) -> Any:
    if isinstance(operand, tuple):
        return tuple(map(_spec, operand))
    return spec_of(operand) if isinstance(operand, tg.Tensor) else operand


def check_captured_gradient(operator: OpDef, target: str) -> None:
    """A gradient taken inside captured code is the eager one."""
    for sample in samples(operator, value_dtype(operator)):
        apply, given = program_of(operator, sample)

        def program(*tensors: Any, _apply: Any = apply) -> Any:
            loss = total(_apply(*tensors))
            wanted = leaves(list(tensors))
            found = tg.autograd.grad(loss, wanted, allow_unused=True)
            # Copies: gradients of a cat are views of one tensor.
            return [None if g is None else g.clone() for g in found]

        tracked = [t.requires_grad_() if t.dtype.kind in _TRACKED else t for t in given]
        if not leaves(tracked) or not total(apply(*tracked)).requires_grad:
            continue
        expected = program(*tracked)
        captured = tg.trace(program, target=target, strict=True)
        captured(*tracked)
        found = captured(*tracked)
        assert len(captured.graphs) == 1
        for have, want in zip(found, expected, strict=True):
            assert (have is None) == (want is None)
            if have is not None:
                assert have.dtype is want.dtype
                np.testing.assert_allclose(
                    have._array, want._array, rtol=1e-12, atol=1e-14
                )


_TRACKED = ("float", "complex")


def total(result: Any) -> Any:
    """Return the sum of all floating results, a real number."""
    parts = [r for r in results(result) if r.dtype.kind in _TRACKED]
    sums = [(r * r).sum() for r in parts]
    loss = sum(sums[1:], sums[0])
    return loss.real if loss.is_complex() else loss
