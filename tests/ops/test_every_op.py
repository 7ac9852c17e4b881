"""The generic test: each operator of the registry, each check, one test.

An operator is tested by being defined. Pointwise ones say where they are smooth
(`domain`), others give `examples`; a `reference` says what the values are where NumPy
has no function of the operator's name.
"""

from collections.abc import Callable
from typing import Any

import pytest

import tracegrad as tg
from tests.ops import captured, checks, derivative_checks, pair_checks, samples
from tracegrad.dispatch.operator import OPERATORS, OpDef

NAMES = samples.tested()
POINTWISE = [n for n in NAMES if OPERATORS[n].family == "pointwise"]
DIFFERENTIABLE = [
    n
    for n in NAMES
    if derivative_checks.is_differentiable(OPERATORS[n])
    and derivative_checks.gradient_dtypes(OPERATORS[n])
]


def _over(names: list[str]) -> Callable[[Any], Any]:
    return pytest.mark.parametrize("operator", [OPERATORS[n] for n in names], ids=names)


@_over(NAMES)
def test_value(operator: OpDef) -> None:
    checks.check_value(operator)


@_over(NAMES)
def test_spec(operator: OpDef) -> None:
    checks.check_spec(operator)


@_over(POINTWISE)
def test_refusal(operator: OpDef) -> None:
    checks.check_refusal(operator)


@_over(NAMES)
def test_layouts(operator: OpDef) -> None:
    checks.check_layouts(operator)


@_over(POINTWISE)
def test_broadcast(operator: OpDef) -> None:
    checks.check_broadcast(operator)


@_over(NAMES)
def test_forms(operator: OpDef) -> None:
    checks.check_forms(operator)


@_over(NAMES)
def test_purity(operator: OpDef) -> None:
    checks.check_purity(operator)


@_over(DIFFERENTIABLE)
def test_vjp(operator: OpDef) -> None:
    derivative_checks.check_vjp(operator)


@_over([n for n in DIFFERENTIABLE if OPERATORS[n].body is None])
def test_jvp(operator: OpDef) -> None:
    derivative_checks.check_jvp(operator)


@_over(DIFFERENTIABLE)
def test_second_derivative(operator: OpDef) -> None:
    derivative_checks.check_second(operator)


@_over([n for n in DIFFERENTIABLE if OPERATORS[n].body is None])
def test_saved(operator: OpDef) -> None:
    derivative_checks.check_saved(operator)


@_over([n for n in POINTWISE if n in DIFFERENTIABLE])
def test_gradient_dtypes(operator: OpDef) -> None:
    derivative_checks.check_gradient_dtypes(operator)


@_over([n for n in NAMES if OPERATORS[n].pair is not None])
def test_kernel_pair(operator: OpDef) -> None:
    pair_checks.check_pair(operator)


STATIC = [n for n in NAMES if captured.has_known_sizes(OPERATORS[n])]


@_over(STATIC)
def test_captured(operator: OpDef) -> None:
    captured.check_captured(operator, "numpy")


@_over([n for n in NAMES if n not in STATIC])
@pytest.mark.xfail(
    reason="a result whose size depends on values is not captured yet", strict=True
)
def test_captured_with_unknown_sizes(operator: OpDef) -> None:
    captured.check_captured(operator, "numpy")


@_over(DIFFERENTIABLE)
def test_captured_gradient(operator: OpDef) -> None:
    captured.check_captured_gradient(operator, "numpy")


# What no array of numbers is an example of; where it is tested instead.
NO_EXAMPLES = {
    "cholesky_lower": "reads one triangle, shares the gradient: test_linalg_torch",
    "eigh_lower": "reads one triangle, shares the gradient: test_linalg_torch",
    "graft": "the value of one operand, the gradient of the other: tests/tensor",
    "hooked": "calls a Python function: tests/autograd",
    "to_device": "from one device to another: tests/cuda, tests/backends",
}


def test_every_operator_says_how_it_is_tested() -> None:
    silent = [
        name
        for name, operator in OPERATORS.items()
        if name not in NAMES
        # Custom operators of other tests are users' own.
        and operator.family != "custom"
        and not operator.is_random
        and operator.family != "control"
        and name not in NO_EXAMPLES
    ]
    assert silent == [], "state `domain` (pointwise) or `examples` in the definition"


def test_registry_is_public() -> None:
    public = [name for name, operator in OPERATORS.items() if operator.public]
    assert [name for name in public if not hasattr(tg, name)] == []
