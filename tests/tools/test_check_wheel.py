"""Each fault of a wheel is found, and a good wheel has none."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.check_wheel import faults

TEMPLATE = "tracegrad/codegen/templates/numpy/loop.py.j2"
GOOD = (
    "tracegrad/__init__.py",
    "tracegrad/py.typed",
    TEMPLATE,
    "tracegrad-0.1.dist-info/METADATA",
)
GOOD_NAME = "tracegrad-0.1-py3-none-any.whl"


@pytest.fixture(autouse=True)
def tree_with_a_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    template = tmp_path / TEMPLATE
    template.parent.mkdir(parents=True)
    template.touch()


def wheel(folder: Path, names: tuple[str, ...], name: str = GOOD_NAME) -> Path:
    path = folder / name
    with ZipFile(path, "w") as archive:
        for entry in names:
            archive.writestr(entry, "text")
    return path


def test_good_wheel(tmp_path: Path) -> None:
    assert faults(wheel(tmp_path, GOOD), limit_bytes=1_000_000) == []


@pytest.mark.parametrize("missing", ["tracegrad/py.typed", TEMPLATE])
def test_missing_file(tmp_path: Path, missing: str) -> None:
    names = tuple(name for name in GOOD if name != missing)
    assert faults(wheel(tmp_path, names), 1_000_000) == [f"{missing} is missing"]


def test_foreign_file(tmp_path: Path) -> None:
    (said,) = faults(wheel(tmp_path, (*GOOD, "tests/test_a.py")), 1_000_000)
    assert said == "tests/test_a.py should not be there"


def test_too_large(tmp_path: Path) -> None:
    path = wheel(tmp_path, GOOD)
    (said,) = faults(path, limit_bytes=path.stat().st_size)
    assert "allowed are under" in said


def test_not_pure_python(tmp_path: Path) -> None:
    path = wheel(tmp_path, GOOD, "tracegrad-0.1-cp311-cp311-linux_x86_64.whl")
    (said,) = faults(path, 1_000_000)
    assert said.endswith("is not pure Python")
