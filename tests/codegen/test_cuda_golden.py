"""The golden kernels are what is emitted."""

import pytest

from tests.codegen.golden import CASES, FOLDER, text_of


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    golden = (FOLDER / f"{name}.cu").read_text()
    assert text_of(name) == golden, "if meant: python -m tests.codegen.golden"


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(CASES)
