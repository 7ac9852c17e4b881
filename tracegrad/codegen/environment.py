"""The template environment of every target: strict, and closed to the user's text.

Templates hold structure. They lie in ``templates/<language>/``, one file name meaning
the same thing in each language, and end in ``.j2``.

- A name that was not given is an error, and so is printing None.
- A value of several lines that stands alone on its line, ``{{ body }}``, keeps the
  indentation of that line; the line goes where the value is empty.
- `UserText` (names, lines, docstrings of the user's program) can be printed through
  the filter ``comment`` only.
"""

from __future__ import annotations

import re
from typing import Any, final

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension

from tracegrad.errors import CompileError

# Longer comments would push the code out of sight.
MAX_COMMENT = 160

_ALONE = re.compile(
    r"^([ \t]*)\{\{(?![-+])((?:(?!\}\}).)+)(?<![-+])\}\}[ \t]*\n", re.MULTILINE
)


@final
class UserText:
    """Text that comes from the user's program: it may become a comment only.

    Parameters
    ----------
    text : str
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UserText) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"UserText({self.text!r})"

    def __str__(self) -> str:
        raise CompileError(
            f"a template prints the user's text {self.text!r} outside a comment"
        )


def comment(text: UserText | str) -> str:
    r"""Return `text` as it can stand in a comment of Python or of the C family.

    Line breaks and invisible characters become spaces (a bidirectional mark could show
    other code than runs), comment ends are taken apart, and neither a backslash is left
    to continue the line nor three quotes to end a Python string around it.

    Examples
    --------
    >>> comment("x = 1 */ evil();\n#include")
    'x = 1 * / evil(); #include'
    """
    found = text.text if isinstance(text, UserText) else text
    shown = "".join(c if c.isprintable() else " " for c in found)
    shown = shown.replace("\\", "|").replace("??/", "? ?/").replace('"""', "'''")
    shown = re.sub(r"\*(?=/)", "* ", shown)
    shown = re.sub(r"/(?=\*)", "/ ", shown).strip()
    return shown if len(shown) <= MAX_COMMENT else shown[: MAX_COMMENT - 1] + "…"


def standing_alone(text: object, indentation: str) -> str:
    """Return `text` as lines with `indentation`; nothing if it is empty."""
    lines = str(_printable(text)).split("\n")
    if lines == [""]:
        return ""
    return "".join(f"{indentation}{line}\n" if line else "\n" for line in lines)


@final
class _KeepIndentation(Extension):
    """Gives a filter to each expression that stands alone on a line."""

    def preprocess(
        self, source: str, name: str | None, filename: str | None = None
    ) -> str:
        return _ALONE.sub(r'{{ (\2) | standing_alone("\1") }}', source)


def _printable(value: Any) -> Any:
    """Return what a template prints, unless it may not."""
    if value is None:
        raise CompileError("a template prints a value that is None")
    return str(value) if isinstance(value, UserText) else value


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tracegrad.codegen", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        extensions=[_KeepIndentation],
        finalize=_printable,
    )
    environment.filters = {
        "comment": comment,
        "standing_alone": standing_alone,
        "join": environment.filters["join"],
        "indent": environment.filters["indent"],
    }
    return environment


ENVIRONMENT = _environment()


def render(template: str, **values: Any) -> str:
    """Return the text of a template.

    Parameters
    ----------
    template : str
        Such as ``cuda/pointwise.cu.j2``.
    **values
        All that the template names.
    """
    return ENVIRONMENT.get_template(template).render(**values)
