"""Cases kept as text: `=== name`, the text, `--- ` and what is expected."""

from pathlib import Path

import pytest


def read_cases(path: Path) -> list[object]:
    """Return the cases of a file as parameters: text, what is expected."""
    _, *cases = path.read_text(encoding="utf-8").split("\n=== ")
    return [_parameters(case) for case in cases]


def _parameters(case: str) -> object:
    name, _, rest = case.partition("\n")
    text, _, expected = rest.partition("--- ")
    return pytest.param(text, expected.strip(), id=name.replace(" ", "-"))
