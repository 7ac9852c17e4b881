"""Read import statements from source, wherever they stand, without running anything."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tests.architecture.floors import GENERATED_STUBS, PACKAGE


@final
@dataclass(frozen=True, slots=True)
class Import:
    """One imported module.

    Attributes
    ----------
    importer, target : str
        Dotted module names. For `from package import name` the target is
        `package.name` if that is a module, else `package`.
    path, line
        Where the statement stands.
    at_import : bool
        Whether it runs when the importer is imported: not in a function, not under
        `TYPE_CHECKING`, not in a stub. Only such imports can make a cycle.
    relative : bool
        Whether it was written with leading dots.
    """

    importer: str
    target: str
    path: Path
    line: int
    at_import: bool
    relative: bool

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.importer} imports {self.target}"


def module_name(path: Path, root: Path) -> str:
    """Dotted name of a file below `root`, the folder that holds the package."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def source_files(root: Path) -> list[Path]:
    """Every module and stub of the package that a person wrote."""
    package = root / PACKAGE
    generated = {package / name for name in GENERATED_STUBS}
    files = {*package.rglob("*.py"), *package.rglob("*.pyi")}
    return sorted(files - generated)


def read_imports(root: Path) -> list[Import]:
    """Every import statement of the package below `root`."""
    files = source_files(root)
    modules = frozenset(module_name(path, root) for path in files)
    found = []
    for path in files:
        reader = _Reader(path, root, modules)
        reader.visit(ast.parse(path.read_text(encoding="utf-8"), filename=str(path)))
        found += reader.found
    return found


@final
class _Reader(ast.NodeVisitor):
    """Collects the imports of one file."""

    def __init__(self, path: Path, root: Path, modules: frozenset[str]) -> None:
        self.found: list[Import] = []
        self._importer = module_name(path, root)
        self._is_package = path.stem == "__init__"
        self._path = path.relative_to(root)
        self._modules = modules
        self._at_import = path.suffix == ".py"

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self._absolute(node)
        names = [f"{base}.{alias.name}" for alias in node.names]
        targets = [name if name in self._modules else base for name in names]
        for target in dict.fromkeys(targets):
            self._add(target, node.lineno, relative=node.level > 0)

    def visit_Call(self, node: ast.Call) -> None:
        """Take `import_module("name")` for what it is."""
        called = ast.unparse(node.func).rpartition(".")[2]
        if called in ("import_module", "__import__") and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                self._add(name.value, node.lineno, relative=name.value[:1] == ".")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._visit_all(node.body, "TYPE_CHECKING" not in ast.unparse(node.test))
        self._visit_all(node.orelse, runs=True)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_all(list(ast.iter_child_nodes(node)), runs=False)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_all(list(ast.iter_child_nodes(node)), runs=False)

    def _visit_all(self, nodes: list[ast.stmt] | list[ast.AST], runs: bool) -> None:
        before = self._at_import
        self._at_import = before and runs
        for node in nodes:
            self.visit(node)
        self._at_import = before

    def _absolute(self, node: ast.ImportFrom) -> str:
        if node.level == 0:
            return node.module or ""
        parts = self._importer.split(".")
        kept = len(parts) - node.level + (1 if self._is_package else 0)
        return ".".join([*parts[:kept], *([node.module] if node.module else [])])

    def _add(self, target: str, line: int, relative: bool = False) -> None:
        self.found.append(
            Import(self._importer, target, self._path, line, self._at_import, relative)
        )
