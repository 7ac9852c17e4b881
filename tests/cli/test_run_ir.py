from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tracegrad.cli import run_ir
from tracegrad.cli.main import main

GRAPH = """graph f(%x: f32[2, 3], %n: i64[2]) {
  %y: f32[2, 3] = exp(%x)                                  # f.py:1
  %s: f32[2] = sum(%y, dim=[1], keepdim=False, dtype=None) # f.py:2
  %m: i64[2] = mul(%n, %n)                                 # f.py:3
  return %s, %m
}
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Run ``tracegrad run-ir`` beside f.tg; status, output, errors."""
    (tmp_path / "f.tg").write_text(GRAPH)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    n = np.array([3, -4])
    np.savez(tmp_path / "good.npz", x=x, n=n)
    np.savez(tmp_path / "missing.npz", x=x)
    np.savez(tmp_path / "more.npz", x=x, n=n, z=n)
    np.savez(tmp_path / "dtype.npz", x=x.astype(np.float64), n=n)
    np.savez(tmp_path / "shape.npz", x=x.T, n=n)
    np.savez(tmp_path / "objects.npz", x=np.array([{}], dtype=object), n=n)
    np.save(tmp_path / "array.npy", x)
    (tmp_path / "words.npz").write_text("words")
    (tmp_path / "bytes.tg").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "operator.tg").write_text(GRAPH.replace("exp(", "expp("))
    (tmp_path / "spec.tg").write_text(GRAPH.replace("%y: f32[2, 3]", "%y: f32[2, 4]"))
    (tmp_path / "two.tg").write_text(GRAPH + GRAPH)
    (tmp_path / "size.tg").write_text(
        "graph f(%x: f32[B]) {\n  %y: f32[B] = exp(%x)\n  return %y\n}\n"
    )
    (tmp_path / "divide.tg").write_text(
        "graph f(%x: i64[2]) {\n  %y: i64[2] = floor_divide(%x, 0)\n  return %y\n}\n"
    )
    (tmp_path / "check.tg").write_text(CHECKED)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(["run-ir", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


CHECKED = """graph f(%x: f32[3], %flag: i64[]) {
  %y: f32[3] = neg(%x)
  check %flag == 100
  return %y
}
"""


def test_results_are_printed_and_agree(run: Run) -> None:
    status, out, err = run("f.tg", "--inputs", "good.npz")
    assert (status, err) == (0, "")
    assert "%m =\n[ 9 16]" in out
    assert "agree" in out
    assert "differ" not in out


def test_without_inputs_they_are_drawn(run: Run) -> None:
    first = run("f.tg")
    assert first[0] == 0
    assert run("f.tg") == first


def test_results_are_saved(run: Run, tmp_path: Path) -> None:
    run("f.tg", "--inputs", "good.npz", "-o", "out.npz")
    with np.load(tmp_path / "out.npz") as saved:
        assert sorted(saved.files) == ["m", "s"]
        assert saved["m"].tolist() == [9, 16]


def test_a_check_that_leaves_is_said(run: Run) -> None:
    status, out, _ = run("check.tg")
    assert status == 0
    assert "nothing to compare" in out


@pytest.mark.parametrize("name", ["s", "m"])
def test_a_difference_is_found(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def wrong(graph: object, inputs: object) -> list[object]:
        found = list(correct(graph, inputs))
        index = ["s", "m"].index(name)
        found[index] = found[index] + 1
        return found

    correct = run_ir._compiled
    monkeypatch.setattr(run_ir, "_compiled", wrong)
    status, out, _ = run("f.tg", "--inputs", "good.npz")
    assert status == 1
    assert "differ" in next(line for line in out.splitlines() if f"%{name}  " in line)


MISTAKES = [
    (("nothing.tg",), "can't read nothing.tg: No such file"),
    ((".",), "can't read .: Is a directory"),
    (("bytes.tg",), "bytes.tg is not a text in UTF-8"),
    (("operator.tg",), "operator.tg is not a graph: line 2, column"),
    (("operator.tg",), "no operator is called 'expp'; did you mean 'exp'"),
    (("spec.tg",), "spec.tg breaks a rule of the IR: "),
    (("two.tg",), "two.tg is not a graph: line 7"),
    (("size.tg",), "%x has a symbolic size; run-ir needs numbers"),
    (
        ("divide.tg",),
        "divide.tg: running it failed: floor_divide: an integer was divided",
    ),
    (("f.tg", "--inputs", "nothing.npz"), "can't read nothing.npz: No such file"),
    (("f.tg", "--inputs", "words.npz"), "words.npz is not an archive of arrays (.npz)"),
    (("f.tg", "--inputs", "array.npy"), "array.npy is not an archive of arrays (.npz)"),
    (("f.tg", "--inputs", "objects.npz"), "objects.npz is not an archive of arrays"),
    (("f.tg", "--inputs", "missing.npz"), "the graph takes x, n; missing.npz has x"),
    (("f.tg", "--inputs", "more.npz"), "the graph takes x, n; more.npz has x, n, z"),
    (("f.tg", "--inputs", "dtype.npz"), "%x is f32[2, 3]; the array given is float64"),
    (("f.tg", "--inputs", "shape.npz"), "array given is float32 of shape [3, 2]"),
    (("f.tg", "-o", "no/such.npz"), "can't write no/such.npz: "),
]


@pytest.mark.parametrize(("arguments", "said"), MISTAKES)
def test_mistake_is_a_sentence(run: Run, arguments: tuple[str, ...], said: str) -> None:
    status, _, err = run(*arguments)
    assert status == 2
    assert said in err
    assert "Traceback" not in err
