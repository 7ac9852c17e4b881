"""Where a command's text goes: standard output, a file, a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tracegrad.errors import CommandError


def write(text: str, file: str | None) -> None:
    """Write `text`, ended by a newline, to a file or to standard output.

    Raises
    ------
    CommandError
        If the file can't be written.
    """
    text = text.rstrip("\n") + "\n"
    if file is None:
        _print(text)
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"can't write {file}: {error.strerror}") from None


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`) has seen enough. Python flushes once more at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: by rich on a terminal where it is installed, else in columns."""
    if sys.stdout.isatty() and find_spec("rich") is not None:
        _rich_table(headings, rows)
        return
    _print(columns(headings, rows))


def columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as plain text, one line per row.

    Examples
    --------
    >>> print(columns(("name", "family"), [("exp", "pointwise")]), end="")
    name  family
    exp   pointwise
    """
    lines = [list(headings), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    return "".join(line.rstrip() + "\n" for line in padded)


def _rich_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    shown = import_module("rich.table").Table(*headings, box=None, header_style="bold")
    escape = import_module("rich.markup").escape
    for row in rows:
        shown.add_row(*map(escape, row))
    import_module("rich.console").Console().print(shown)
