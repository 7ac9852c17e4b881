"""Each pass on graphs kept as text; those of the docstrings are cases, too."""

import inspect
import textwrap
from pathlib import Path

import pytest

import tracegrad.ir as ir
from tests.ir.text_cases import read_cases
from tests.support.round_trip import check_round_trip
from tracegrad.passes.canonicalize import Canonicalize
from tracegrad.passes.constant_fold import ConstantFold
from tracegrad.passes.cse import CommonSubexpressions
from tracegrad.passes.dce import DeadCodeElimination
from tracegrad.passes.decompose import Decompose
from tracegrad.passes.fusion import Fuse
from tracegrad.passes.gradient_marks import RemoveGradientMarks
from tracegrad.passes.manager import Pass
from tracegrad.passes.pipeline import PIPELINE
from tracegrad.passes.simplify import Simplify

CASES = Path(__file__).parent / "cases"
PASSES: dict[str, Pass] = {
    "canonicalize": Canonicalize(),
    "constant_fold": ConstantFold(),
    "cse": CommonSubexpressions(),
    "dce": DeadCodeElimination(),
    "decompose": Decompose(),
    "fuse": Fuse(),
    "remove_gradient_marks": RemoveGradientMarks(),
    "simplify": Simplify(),
}


def all_cases() -> list[object]:
    found = []
    for name in PASSES:
        for case in read_cases(CASES / f"{name}.tg"):
            case_id = f"{name}-{case.id}"
            found.append(pytest.param(PASSES[name], *case.values, id=case_id))
    return found


@pytest.mark.parametrize(("done", "before", "expected"), all_cases())
def test_case(done: Pass, before: str, expected: str) -> None:
    graph = ir.parse(before)
    after = done.run(graph)
    check_round_trip(after)
    if expected == "unchanged":
        assert after is graph
    else:
        assert str(after) == str(ir.parse(expected))
        assert after == done.run(graph)


def blocks(text: str) -> list[str]:
    """Return the indented blocks that follow `::`."""
    _, *parts = text.split("::\n")
    found = []
    for part in parts:
        lines = part.strip("\n").splitlines()
        block = [line for line in lines if line.startswith("    ") or not line]
        found.append(textwrap.dedent("\n".join(block)))
    return found


@pytest.mark.parametrize("done", PIPELINE, ids=lambda done: done.name)
def test_docstring(done: Pass) -> None:
    before, after = map(ir.parse, blocks(inspect.getdoc(type(done)) or ""))
    assert str(done.run(before)) == str(after)


@pytest.mark.parametrize("done", PIPELINE, ids=lambda done: done.name)
def test_pass_has_cases(done: Pass) -> None:
    assert done in PASSES.values()
