import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tracegrad as tg
from tools.generate import COMMAND, FILES, ROOT, main, stale
from tools.stubs import Stub, function_lines, operator_signature
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.tensor import Tensor


def test_generated_files_are_fresh() -> None:
    # A process of its own: other tests define operators.
    found = subprocess.run(
        [sys.executable, "-m", "tools.generate", "--check"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, ""), f"{found.stdout}run {COMMAND}"


def test_stale_and_missing_files_are_found(tmp_path: Path) -> None:
    files = {
        "old.md": lambda: "new",
        "absent.md": lambda: "new",
        "same.md": lambda: "a",
    }
    (tmp_path / "old.md").write_text("old")
    (tmp_path / "same.md").write_text("a")
    assert stale(tmp_path, files) == ["old.md", "absent.md"]


def test_check_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(FILES, "docs/operators.md", lambda: "another table")
    assert main(["--check"]) == 1
    assert f"docs/operators.md is stale; run {COMMAND}\n" in capsys.readouterr().out


def test_each_method_is_in_the_stub() -> None:
    text = (ROOT / "tracegrad/dispatch/tensor.pyi").read_text()
    methods = [n for n, v in vars(Tensor).items() if inspect.isfunction(v)]
    assert [n for n in methods if f"    def {n}(" not in text] == []


def test_each_operator_is_in_the_table() -> None:
    text = (ROOT / "docs/operators.md").read_text()
    names = [name for name, op in OPERATORS.items() if "tracegrad." in op.module]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_numbers_stand_for_tensors_in_a_signature() -> None:
    signature = operator_signature(OPERATORS["mul"], with_out=True)
    assert str(signature.parameters["other"].annotation) == "Tensor | complex"
    assert "out" in signature.parameters


def test_hidden_builtins_are_spelt_out() -> None:
    def f(n: "int", flag: "bool" = True) -> "float": ...

    stub = Stub("elsewhere", {"int", "float"})
    (line,) = function_lines(stub, "f", f, inspect.signature(f))
    assert line == "def f(n: builtins.int, flag: bool = ...) -> builtins.float: ..."


def test_stub_is_of_the_version_that_runs() -> None:
    text = (ROOT / "tracegrad/__init__.pyi").read_text()
    operators = [op for op in OPERATORS.values() if "tracegrad." in op.module]
    public = [op.name for op in operators if op.public]
    assert [n for n in public if f"def {n}(" not in text and hasattr(tg, n)] == []
