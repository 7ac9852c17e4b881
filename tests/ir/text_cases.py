"""Cases kept as text: `=== name`, the text, `---` and what is expected."""

import re
from pathlib import Path

import pytest


def read_cases(path: Path) -> list[object]:
    """Return the cases of a file as parameters: text, what is expected."""
    text = path.read_text(encoding="utf-8")
    _, *cases = re.split(r"^=== ", text, flags=re.MULTILINE)
    return [_parameters(case) for case in cases]


def _parameters(case: str) -> object:
    name, _, rest = case.partition("\n")
    text, expected = re.split(r"^---", rest, flags=re.MULTILINE)
    return pytest.param(text, expected.strip(), id=name.replace(" ", "-"))
