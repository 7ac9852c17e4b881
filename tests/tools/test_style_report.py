"""The report counts what it says it counts."""

from pathlib import Path

import pytest

from tools.style_report import Length, control_share, functions_of, main

SOURCE = '''"""Module."""


def short():
    return 1


def documented():
    """Two lines
    of docstring."""
    def inner():
        return 2
    return inner
'''


def test_function_length_is_without_docstring() -> None:
    assert functions_of(Path("a.py"), SOURCE) == [
        Length(2, "a.py:4 short"),
        Length(4, "a.py:8 documented"),
        Length(2, "a.py:11 inner"),
    ]


def test_share_of_control_lines(tmp_path: Path) -> None:
    template = tmp_path / "loop.j2"
    template.write_text("{% for x in xs %}\n{{ x }}\n  {% endfor %}\nend\n")
    assert control_share([template]) == 0.5


def test_report_names_the_longest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(SOURCE + "x = 1  # type: ignore[misc]\n")
    main([str(tmp_path)])
    printed = capsys.readouterr().out
    assert "functions: 3, 0 of them over 40 lines" in printed
    assert "documented" in printed
    assert "templates: none" in printed
    assert "type ignores: 1" in printed
