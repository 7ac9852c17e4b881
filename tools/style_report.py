"""Measure the package's files and functions, and say where the longest are.

    python tools/style_report.py [FOLDER …]

A report, not a gate: a length is a reason to look, not a fault. A function's length is
its lines without its docstring.
"""

import ast
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

LONG_FILE = 600
LONG_FUNCTION = 40
LONGEST_SHOWN = 5

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@final
@dataclass(frozen=True, slots=True, order=True)
class Length:
    """Lines of one thing, and where it stands."""

    lines: int
    where: str


def main(folders: Sequence[str]) -> None:
    """Print the report on Python files and templates below `folders`."""
    files = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
    templates = [t for folder in folders for t in templates_below(Path(folder))]
    sources = {path: path.read_text(encoding="utf-8") for path in files}
    functions = [f for path, text in sources.items() for f in functions_of(path, text)]
    ignores = sum(text.count("# type: ignore") for text in sources.values())

    show("files", [file_length(path) for path in files], over=LONG_FILE)
    show("functions", functions, over=LONG_FUNCTION)
    show("templates", [file_length(path) for path in templates], over=120)
    print(f"control lines in templates: {control_share(templates):.1%}")
    print(f"type ignores: {ignores}")


def templates_below(folder: Path) -> list[Path]:
    """Files in any folder called `templates`."""
    return sorted(t for t in folder.rglob("templates/**/*") if t.is_file())


def file_length(path: Path) -> Length:
    """Lines of a file."""
    return Length(len(path.read_text(encoding="utf-8").splitlines()), str(path))


def functions_of(path: Path, text: str) -> list[Length]:
    """Lengths of all functions in a file, nested ones too."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, _Function)]
    return [Length(body_lines(n), f"{path}:{n.lineno} {n.name}") for n in nodes]


def body_lines(node: _Function) -> int:
    """Lines from `def` to the end, without the docstring."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if not ast.get_docstring(node):
        return lines
    docstring = node.body[0]
    return lines - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def control_share(templates: Iterable[Path]) -> float:
    """Share of template lines that decide something instead of being output."""
    lines = [line for path in templates for line in path.read_text().splitlines()]
    control = [line for line in lines if line.lstrip().startswith("{%")]
    return len(control) / len(lines) if lines else 0.0


def show(title: str, lengths: list[Length], over: int) -> None:
    """Print one row, and the longest things by name."""
    if not lengths:
        print(f"{title}: none")
        return
    ordered = sorted(lengths)
    marks = " / ".join(str(at(ordered, share).lines) for share in (0.5, 0.9, 0.99, 1))
    long = sum(length.lines > over for length in ordered)
    print(f"{title}: {len(ordered)}, {long} of them over {over} lines")
    print(f"    median / p90 / p99 / max: {marks}")
    for length in reversed(ordered[-LONGEST_SHOWN:]):
        print(f"    {length.lines:5} {length.where}")


def at(ordered: list[Length], share: float) -> Length:
    """Nearest-rank percentile."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


if __name__ == "__main__":
    main(sys.argv[1:] or ["tracegrad"])
