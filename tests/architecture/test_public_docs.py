"""Every module, and every public class and function, says what it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.floors import PACKAGE

ROOT = Path(__file__).parents[2]
# The documentation of these stands at what they belong to.
EXEMPT_DECORATORS = ("overload", "override", "setter", "deleter")

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def undocumented(root: Path) -> list[str]:
    """Modules and public definitions of the package that have no docstring."""
    found = []
    for path in sorted((root / PACKAGE).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        where = path.relative_to(root)
        if not ast.get_docstring(tree):
            found.append(f"{where}: the module")
        found += [
            f"{where}:{node.lineno}: {name}"
            for name, node in _public(tree, prefix="")
            if not ast.get_docstring(node)
        ]
    return found


def _public(
    parent: ast.Module | ast.ClassDef, prefix: str
) -> Iterator[tuple[str, _Definition]]:
    for node in parent.body:
        if not isinstance(node, _Definition) or _is_exempt(node):
            continue
        name = f"{prefix}{node.name}"
        yield name, node
        if isinstance(node, ast.ClassDef):
            yield from _public(node, prefix=f"{name}.")


def _is_exempt(node: _Definition) -> bool:
    if node.name.startswith("_"):
        return True
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(d.rpartition(".")[2] in EXEMPT_DECORATORS for d in decorators)


def test_package_is_documented() -> None:
    assert undocumented(ROOT) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x = 1", "the module"),
        ("'''Doc.'''\nclass A: ...", "A"),
        ("'''Doc.'''\ndef f(): ...", "f"),
        ("'''Doc.'''\nasync def f(): ...", "f"),
        ("'''Doc.'''\nclass A:\n  '''Doc.'''\n  def f(self): ...", "A.f"),
    ],
)
def test_planted_silence_is_found(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / PACKAGE).mkdir()
    (tmp_path / PACKAGE / "dtypes.py").write_text(text)
    (said,) = undocumented(tmp_path)
    assert said.endswith(f": {name}")


@pytest.mark.parametrize(
    "text",
    ["def _f(): ...", "class _A:\n  def f(self): ...", "@t.overload\ndef f(): ..."],
)
def test_private_names_may_be_silent(tmp_path: Path, text: str) -> None:
    (tmp_path / PACKAGE).mkdir()
    (tmp_path / PACKAGE / "dtypes.py").write_text(f"'''Doc.'''\n{text}\n")
    assert undocumented(tmp_path) == []
