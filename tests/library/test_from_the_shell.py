"""Graphs with custom operators on the command line, and in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE = """
import tracegrad as tg


@tg.library.custom_op("shell::triple", mutates_args=())
def triple(x: tg.Tensor) -> tg.Tensor:
    return x * 3


@triple.register_fake
def _(x):
    return tg.empty_like(x)


def function(x):
    return triple(x) + 1
"""
GRAPH = """graph f(%x: f32[2]) {
  %y: f32[2] = shell::triple(%x)
  return %y
}
"""


def shell(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tracegrad", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "operators.py").write_text(MODULE)
    (tmp_path / "f.tg").write_text(GRAPH)
    return tmp_path


def test_run_ir_imports_what_defines_the_operator(folder: Path) -> None:
    found = shell(folder, "run-ir", "f.tg", "--import", "operators")
    assert found.returncode == 0, found.stderr
    missing = shell(folder, "run-ir", "f.tg")
    assert missing.returncode == 2
    assert "shell::triple" in missing.stderr
    wrong = shell(folder, "run-ir", "f.tg", "--import", "nowhere")
    assert "can't import nowhere" in wrong.stderr


def test_dump_ir_shows_one_node(folder: Path) -> None:
    found = shell(folder, "dump-ir", "operators.py:function", "--input", "x=f32[2]")
    assert found.returncode == 0, found.stderr
    assert "= shell::triple(%x)" in found.stdout
