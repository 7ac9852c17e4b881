"""Each operator with test data: eager on the device, traced, and its gradient.

Compiling a kernel takes a third of a second, so every run traces a slice of the
operators, another one each day; `--run-slow` and `.ci/full` trace all.
"""

import datetime

import pytest

from tests.cuda import operators
from tests.ops import captured, derivative_checks, samples
from tests.support.cuda_on_cpu.fake_cupy import Installed
from tracegrad.dispatch.operator import OPERATORS

NAMES = samples.tested()
STATIC = [n for n in NAMES if captured.has_known_sizes(OPERATORS[n])]
# A captured function can't return what is an alias of its input, with a gradient.
UNCAPTURED = {"marked"}
DIFFERENTIABLE = [
    n
    for n in STATIC
    if derivative_checks.is_differentiable(OPERATORS[n])
    and derivative_checks.gradient_dtypes(OPERATORS[n])
    and n not in UNCAPTURED
]
SLICES = 28


def todays(names: list[str]) -> list[str]:
    """The operators whose turn it is."""
    return names[datetime.date.today().toordinal() % SLICES :: SLICES]


@pytest.mark.parametrize("name", NAMES)
def test_eager(fake_cupy: Installed, name: str) -> None:
    operators.check_eager(OPERATORS[name])


@pytest.mark.parametrize("name", todays(STATIC))
def test_traced_today(fake_cupy: Installed, name: str) -> None:
    operators.check_traced(OPERATORS[name])


@pytest.mark.parametrize("name", todays(DIFFERENTIABLE))
def test_traced_gradient_today(fake_cupy: Installed, name: str) -> None:
    operators.check_traced_gradient(OPERATORS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", STATIC)
def test_traced(fake_cupy: Installed, name: str) -> None:
    operators.check_traced(OPERATORS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_traced_gradient(fake_cupy: Installed, name: str) -> None:
    operators.check_traced_gradient(OPERATORS[name])


def test_every_slice_is_somebodys_turn() -> None:
    turns = [names for k in range(SLICES) for names in NAMES[k::SLICES]]
    assert sorted(turns) == NAMES
