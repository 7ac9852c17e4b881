"""Imports point down. Each rule is shown to fail on something planted."""

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.architecture import rules
from tests.architecture.floors import FLOORS, NOT_AT_IMPORT, PACKAGE
from tests.architecture.imports import Import, read_imports

ROOT = Path(__file__).parents[2]
ALL_RULES = (
    rules.upward_imports,
    rules.undeclared_packages,
    rules.relative_imports,
    rules.import_cycles,
)


def plant(root: Path, files: dict[str, str]) -> list[Import]:
    """Write a small package below `root` and read its imports."""
    for name, text in files.items():
        path = root / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_imports(root)


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.__name__)
def test_package_obeys(rule: Callable[[Iterable[Import]], list[str]]) -> None:
    assert rule(read_imports(ROOT)) == []


def test_every_top_level_name_has_a_floor() -> None:
    package = ROOT / PACKAGE
    names = {path.stem for path in package.glob("*.py*") if path.stem != "py"}
    names |= {path.name for path in package.iterdir() if any(path.glob("**/*.py"))}
    known = {part for floor in FLOORS for part in floor.parts}
    assert names - known - {"__init__"} == set()


@pytest.mark.skipif(
    not (ROOT / PACKAGE / "__init__.py").exists(), reason="there is no package yet"
)
def test_import_loads_eager_mode_only() -> None:
    script = f"import sys, {PACKAGE}; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(NOT_AT_IMPORT) & set(done.stdout.split()) == set()


UPWARD = {
    "at the top": "from tracegrad.passes import fusion\n",
    "as a module": "import tracegrad.passes.fusion\n",
    "of the part itself": "from tracegrad import passes\n",
    "in a function": "def late():\n    from tracegrad.passes import fusion\n",
    "in an async function": "async def late():\n    import tracegrad.passes\n",
    "in a method": "class A:\n    def late(self):\n        import tracegrad.passes\n",
    "in a try block": "try:\n    import tracegrad.passes\nexcept ImportError: pass\n",
    "for type checkers": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from tracegrad.passes.fusion import Fuse\n"
    ),
    "relatively": "from ..passes import fusion\n",
    "by importlib": "import importlib\nimportlib.import_module('tracegrad.passes')\n",
}


@pytest.mark.parametrize("text", UPWARD.values(), ids=UPWARD.keys())
def test_planted_upward_import_is_found(tmp_path: Path, text: str) -> None:
    files = {"passes/__init__.py": "", "passes/fusion.py": "", "ir/graph.py": text}
    (said,) = rules.upward_imports(plant(tmp_path, files))
    assert said.startswith("tracegrad/ir/graph.py:")
    assert "tracegrad.ir.graph imports tracegrad.passes" in said


@pytest.mark.parametrize(
    ("importer", "target"),
    [
        ("dtypes", "dispatch"),
        ("dispatch/tensor", "ops"),
        ("ir/graph", "autograd"),
        ("autograd/tape", "ir"),
        ("ir/graph", "ops"),
        ("codegen/lower", "passes"),
        ("runtime/executable", "codegen.kernel"),
        ("compiler", "capture"),
        ("capture/recorder", "compiler"),
        ("captured/function", "passes"),
        ("func/grad", "nn"),
        ("nn/linear", "ir"),
        ("torch/nn", "cli"),
        ("ops/pointwise", "nowhere"),
    ],
)
def test_planted_import_outside_the_table_is_found(
    tmp_path: Path, importer: str, target: str
) -> None:
    text = f"import tracegrad.{target}\n"
    assert len(rules.upward_imports(plant(tmp_path, {f"{importer}.py": text}))) == 1


@pytest.mark.parametrize(
    ("importer", "target"),
    [
        ("spec", "dtypes"),
        ("ops/pointwise", "dispatch.tensor"),
        ("ops/pointwise", "ops.family"),
        ("runtime/executable", "codegen.source"),
        ("captured/function", "compiler"),
        ("testing/parity", "passes.fusion"),
        ("torch/nn", "nn.linear"),
        ("cli/main", "viewer"),
    ],
)
def test_import_in_the_table_is_accepted(
    tmp_path: Path, importer: str, target: str
) -> None:
    text = f"import tracegrad.{target}\n"
    assert rules.upward_imports(plant(tmp_path, {f"{importer}.py": text})) == []


def test_public_names_are_for_the_floors_above_them(tmp_path: Path) -> None:
    text = "from tracegrad import tensor\n"
    files = {"__init__.py": "", "nn/linear.py": text, "ops/pointwise.py": text}
    (said,) = rules.upward_imports(plant(tmp_path, files))
    assert "tracegrad.ops.pointwise" in said


def test_planted_package_is_found(tmp_path: Path) -> None:
    files = {
        "ops/a.py": "import networkx\n",
        "passes/b.py": "import networkx as nx\nimport os\nimport numpy as np\n",
        "codegen/c.py": "from scipy.special import erf\n",
    }
    first, second = rules.undeclared_packages(plant(tmp_path, files))
    assert "tracegrad.codegen.c imports scipy.special; scipy is not a dep" in first
    assert "tracegrad.ops.a imports networkx; only passes, ir, export may" in second


def test_planted_relative_import_is_found(tmp_path: Path) -> None:
    files = {"ops/a.py": "from .b import c\nfrom . import b\n", "ops/b.py": ""}
    first, second = rules.relative_imports(plant(tmp_path, files))
    assert "ops/a.py:1: tracegrad.ops.a imports tracegrad.ops.b relatively" in first
    assert "ops/a.py:2: tracegrad.ops.a imports tracegrad.ops.b relatively" in second


def test_planted_cycle_is_found(tmp_path: Path) -> None:
    files = {
        "ops/a.py": "import tracegrad.ops.b\n",
        "ops/b.py": "from tracegrad.ops import c\n",
        "ops/c.py": "from tracegrad.ops.a import anything\n",
    }
    said = rules.import_cycles(plant(tmp_path, files))
    assert said == [
        "tracegrad.ops.a -> tracegrad.ops.b -> tracegrad.ops.c -> tracegrad.ops.a"
    ]


def test_import_for_type_checkers_makes_no_cycle(tmp_path: Path) -> None:
    files = {
        "ops/a.py": "import tracegrad.ops.b\n",
        "ops/b.pyi": "import tracegrad.ops.a\n",
        "ops/b.py": (
            "from typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    import tracegrad.ops.a\n"
        ),
    }
    assert rules.import_cycles(plant(tmp_path, files)) == []
