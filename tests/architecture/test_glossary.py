"""Classes are named in the words of `docs/glossary.md`."""

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.floors import PACKAGE

ROOT = Path(__file__).parents[2]
FOLDERS = ("ir", "passes", "codegen")


def banned_words() -> list[str]:
    """Read the words in the last section of the glossary."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    section = text.partition("## Not in a class name")[2]
    return re.findall(r"`(\w+)`", section)


def named_in_foreign_words(root: Path, banned: list[str]) -> list[str]:
    """Classes below `root` with a banned word in their name, and the word."""
    found = []
    for folder in FOLDERS:
        for path in sorted((root / PACKAGE / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names = [n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
            found += [
                f"{path.relative_to(root)}: {name} ({word})"
                for name in names
                for word in banned
                if word.lower() in name.lower()
            ]
    return found


def test_glossary_bans_words() -> None:
    assert {"UOp", "Eqn", "Aval", "Jaxpr", "Proxy"} <= set(banned_words())


def test_classes_use_the_glossary() -> None:
    assert named_in_foreign_words(ROOT, banned_words()) == []


@pytest.mark.parametrize("name", ["UOp", "JaxprEqn", "TensorProxy", "ShapedAval"])
def test_planted_word_is_found(tmp_path: Path, name: str) -> None:
    folder = tmp_path / PACKAGE / "ir"
    folder.mkdir(parents=True)
    (folder / "graph.py").write_text(f"class Graph: ...\nclass {name}: ...\n")
    found = named_in_foreign_words(tmp_path, banned_words())
    assert found
    assert all(f"ir/graph.py: {name} (" in said for said in found)
