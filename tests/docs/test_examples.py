"""Each example runs, as a user runs it, and is short enough to be read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# `digits.py` trains for a while; README's first command runs it in CI.
SHORT = [p for p in sorted((ROOT / "examples").glob("*.py")) if p.name != "digits.py"]
MAX_LINES = 120


@pytest.mark.parametrize("example", SHORT, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("example", SHORT, ids=lambda path: path.stem)
def test_example_is_short(example: Path) -> None:
    assert len(example.read_text(encoding="utf-8").splitlines()) < MAX_LINES


def test_there_are_examples() -> None:
    names = {path.stem for path in SHORT}
    expected = {"add_an_operator", "autograd_tour", "trace_and_read_ir", "write_a_pass"}
    assert expected <= names
