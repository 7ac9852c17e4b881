"""Each operator under trace: the same result and gradient, by emitted code.

A captured call may not fall back, and what runs may not be an eager kernel: the tests
look at the program that was made, and let eager kernels fail while it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.ops import checks, derivative_checks
from tests.ops.samples import Sample, call, samples, tensors
from tests.ops.samples import tested as names_to_check
from tracegrad.dispatch import bind
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType

NAMES = names_to_check()
DTYPES = (tg.float32, tg.float64, tg.float16)


@contextmanager
def no_eager_kernels() -> Iterator[None]:
    """Let every eager kernel fail in the block."""

    def refuse(operator: OpDef, operands: Any, attributes: Any) -> Any:
        raise AssertionError(f"the eager kernel of {operator.name} ran")

    before = bind.run_kernel
    bind.run_kernel = refuse
    try:
        yield
    finally:
        bind.run_kernel = before


def flat(result: Any) -> list[Tensor]:
    """Return the tensors of a result."""
    if isinstance(result, Tensor):
        return [result]
    return (
        [t for part in result for t in flat(part)]
        if isinstance(result, tuple | list)
        else []
    )


def assert_same(found: Any, expected: Any, exact: bool = True) -> None:
    """Assert equal values, dtypes, shapes and strides."""
    left, right = flat(found), flat(expected)
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        x, y = a.detach().numpy(), b.detach().numpy()
        if exact:
            np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)


def program(operator: OpDef, sample: Sample) -> Callable[..., Any]:
    """Return a function of tensors that applies the operator."""
    attributes = sample.attributes

    def run(*operands: Any) -> Any:
        return call(operator, operands, attributes)

    return run


def is_whole_view(operator: OpDef) -> bool:
    """Return whether the result is made again by eager view operators, on purpose."""
    return operator.is_view or bool(operator.facts.get("alias"))


@pytest.mark.parametrize("name", NAMES)
def test_forward(name: str) -> None:
    operator = OPERATORS[name]
    for dtype in DTYPES:
        for sample in samples_of(operator, dtype):
            check_forward(operator, sample)


def samples_of(operator: OpDef, dtype: DType) -> list[Sample]:
    """Return the samples that the operator takes in `dtype`, three at most."""
    if not checks.is_defined(operator, dtype):
        return []
    found = []
    for sample in samples(operator, dtype)[:3]:
        try:
            call(operator, tensors(sample), sample.attributes)
        except tg.errors.TracegradError:
            continue
        found.append(sample)
    return found


def check_forward(operator: OpDef, sample: Sample) -> None:
    if operator.facts.get("dynamic_size"):
        check_fallback(operator, sample)
        return
    tg.manual_seed(3)
    expected = call(operator, tensors(sample), sample.attributes)
    traced = tg.trace(program(operator, sample))
    for attempt in range(2):
        tg.manual_seed(3)
        operands = tensors(sample)
        if attempt and not is_whole_view(operator):
            with no_eager_kernels():
                found = traced(*operands)
        else:
            found = traced(*operands)
        assert_same(found, expected)
    assert "eagerly" not in str(traced.explain()), str(traced.explain())
    assert [s.hits for s in traced.specializations] == [1], str(traced.explain())


def check_fallback(operator: OpDef, sample: Sample) -> None:
    """What no program can do runs eagerly, and says so."""
    traced = tg.trace(program(operator, sample))
    assert_same(
        traced(*tensors(sample)), call(operator, tensors(sample), sample.attributes)
    )
    assert "depends on values" in str(traced.explain())


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in NAMES
        if derivative_checks.is_differentiable(OPERATORS[n])
        and derivative_checks.gradient_dtypes(OPERATORS[n])
    ],
)
def test_backward(name: str) -> None:
    operator = OPERATORS[name]
    for sample in samples_of(operator, tg.float64):
        check_backward(operator, sample)


def leaves_of(operands: Any) -> list[Tensor]:
    """Return the floating tensors among operands."""
    return [t for t in flat(tuple(operands)) if t.dtype.kind in ("float", "complex")]


def gradients(run: Callable[..., Any], sample: Sample) -> list[Any]:
    """Return the gradients of a function's results by its floating operands."""
    tg.manual_seed(3)
    operands = tensors(sample)
    leaves = leaves_of(operands)
    for leaf in leaves:
        leaf.requires_grad_()
    results = [t for t in flat(run(*operands)) if t.requires_grad]
    if not results or not leaves:
        return []
    cts = [tg.ones_like(t).detach() * 0.5 for t in results]
    found = tg.autograd.grad(results, leaves, cts, allow_unused=True)
    return [g for g in found if g is not None]


def check_backward(operator: OpDef, sample: Sample) -> None:
    run = program(operator, sample)
    expected = gradients(run, sample)
    traced = tg.trace(run)
    for _ in range(2):
        assert_same(tuple(gradients(traced, sample)), tuple(expected), exact=False)
    if operator.facts.get("alias"):
        # An alias with gradient that is no view can't be made again.
        return
    assert "eagerly" not in str(traced.explain()), str(traced.explain())


def test_the_guard_against_eager_kernels_works() -> None:
    with no_eager_kernels(), pytest.raises(AssertionError, match="eager kernel"):
        tg.ones(2).view(1, 2)
