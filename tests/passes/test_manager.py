"""Running passes: order, verification, listeners."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

import pytest

import tracegrad as tg
import tracegrad.ir as ir
from tracegrad.errors import VerifyError
from tracegrad.ir.graph import Graph
from tracegrad.passes.dce import DeadCodeElimination
from tracegrad.passes.manager import Pass, PassManager, PassRun

TEXT = """
graph f(%x: f32[3]) {
  %a: f32[3] = exp(%x)
  %y: f32[3] = neg(%x)
  return %y
}"""


@final
@dataclass(frozen=True, slots=True)
class Forget(Pass):
    """Breaks the graph: the nodes are gone, their uses are not."""

    name: ClassVar[str] = "forget"

    def run(self, graph: Graph) -> Graph:
        """Return a graph that breaks the rules."""
        return replace(graph, nodes=())


def test_listeners_hear_of_each_pass() -> None:
    runs: list[PassRun] = []
    graph = ir.parse(TEXT)
    passes = [DeadCodeElimination(), DeadCodeElimination()]
    after = PassManager(passes, listeners=[runs.append]).run(graph)
    assert [run.before for run in runs] == [graph, after]
    assert runs[0].after is after
    assert runs[1].after is after
    assert str(runs[0]).startswith("dce: 2 to 1 nodes, ")
    assert str(runs[1]).startswith("dce: unchanged, ")
    assert all(run.seconds > 0 for run in runs)


def test_a_broken_pass_is_named() -> None:
    with pytest.raises(VerifyError, match="after pass forget: graph f: %y is used as"):
        PassManager([Forget()], verify=True).run(ir.parse(TEXT))


def test_verification_by_setting() -> None:
    manager = PassManager([Forget()])
    with tg.config(verify=False):
        manager.run(ir.parse(TEXT))
    with tg.config(verify=True), pytest.raises(VerifyError, match="forget"):
        manager.run(ir.parse(TEXT))


def test_log(capsys: pytest.CaptureFixture[str]) -> None:
    with tg.config(log="passes"):
        PassManager([DeadCodeElimination()]).run(ir.parse(TEXT))
    assert capsys.readouterr().err.startswith("passes: dce: 2 to 1 nodes, ")
