"""The template environment: strictness, indentation, and the user's text."""

from typing import Any

import jinja2
import pytest

from tracegrad.codegen.environment import ENVIRONMENT, MAX_COMMENT, UserText, comment
from tracegrad.errors import CompileError


def rendered(text: str, **values: Any) -> str:
    return ENVIRONMENT.from_string(text).render(**values)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        rendered("{{ missing }}")
    with pytest.raises(jinja2.UndefinedError):
        rendered("{% if missing %}{% endif %}")


def test_an_unknown_filter_is_an_error() -> None:
    with pytest.raises(jinja2.TemplateAssertionError):
        rendered("{{ x | upper }}", x="a")


def test_none_is_not_printed() -> None:
    with pytest.raises(CompileError, match="None"):
        rendered("{{ x }}", x=None)


def test_lines_keep_the_indentation_of_their_place() -> None:
    template = "f() {\n{% if yes %}\n    {{ body }}\n{% endif %}\n}\n"
    text = rendered(template, yes=True, body="a;\n\nb;")
    assert text == "f() {\n    a;\n\n    b;\n}\n"


@pytest.mark.parametrize(
    "template", ["{{ x }}", "  {{ x }}", "{{ x ~ 'y' }}!", "{{ [x] | join }}"]
)
def test_user_text_outside_a_comment_is_refused(template: str) -> None:
    with pytest.raises(CompileError, match="comment"):
        rendered(template, x=UserText("evil()"))


def test_user_text_in_a_comment() -> None:
    assert rendered("// {{ x | comment }}", x=UserText("a */ b")) == "// a * / b"


HOSTILE = [
    "a\nb", "a\rb", "a\u2028b", "a\x85b", "a\x0cb", "ends in \\", "a */ b", "a /* b",
    "a **//**/ b", "\u202ereversed", "a\x00b", "what ??/", "*" * 500,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_comment_stays_one_comment(text: str) -> None:
    shown = comment(UserText(text))
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1
    assert len(shown) <= MAX_COMMENT
    for forbidden in ("*/", "/*", "\\", "??/"):
        assert forbidden not in shown
