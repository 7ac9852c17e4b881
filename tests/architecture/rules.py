"""Hold imports against the floors: each rule returns sentences, one per violation."""

import sys
from collections.abc import Iterable, Sequence

from tests.architecture.floors import (
    EVERYTHING_BELOW,
    FLOORS,
    OUTSIDE_PACKAGES,
    PACKAGE,
    PUBLIC_NAMES,
    SURFACE,
    Floor,
)
from tests.architecture.imports import Import

_FLOOR_OF = {part: floor for floor in (*FLOORS, SURFACE) for part in floor.parts}


def part_of(module: str) -> str:
    """`tracegrad.ir.graph` is of the part `ir`; the package itself of `__init__`."""
    return [*module.split("."), "__init__"][1]


def upward_imports(imports: Iterable[Import]) -> list[str]:
    """Imports of the package's own modules that the table does not list."""
    own = [entry for entry in imports if _is_own(entry.target)]
    return [said for entry in own if (said := _against_floor(entry))]


def undeclared_packages(imports: Iterable[Import]) -> list[str]:
    """Imports of outside packages by parts that are not to know them."""
    return [
        f"{entry}; {_allowed_importers(entry)}"
        for entry in imports
        if not _is_own(entry.target)
        and not entry.relative
        and not _is_known_outside(entry)
    ]


def relative_imports(imports: Iterable[Import]) -> list[str]:
    """Imports written with leading dots."""
    return [
        f"{entry} relatively: write the whole name"
        for entry in imports
        if entry.relative
    ]


def import_cycles(imports: Iterable[Import]) -> list[str]:
    """Sets of modules that import each other when imported, one cycle of each."""
    graph: dict[str, set[str]] = {}
    for entry in imports:
        if entry.at_import and _is_own(entry.target):
            graph.setdefault(entry.importer, set()).add(entry.target)
    return [" -> ".join(cycle) for cycle in _cycles(graph)]


def _is_own(module: str) -> bool:
    return module.split(".")[0] == PACKAGE


def _against_floor(entry: Import) -> str:
    importer, target = part_of(entry.importer), part_of(entry.target)
    for part in (importer, target):
        if part not in _FLOOR_OF:
            return f"{entry}: {part!r} has no floor in tests/architecture/floors.py"
    floor = _FLOOR_OF[importer]
    if importer == target or _is_listed(entry.target, floor):
        return ""
    return f"{entry}: floor {floor.number:g} may import {', '.join(floor.may_import)}"


def _is_listed(target: str, floor: Floor) -> bool:
    if target == PACKAGE:
        return PUBLIC_NAMES in floor.may_import
    if EVERYTHING_BELOW in floor.may_import:
        below = _FLOOR_OF[part_of(target)].number < floor.number
        return below or part_of(target) in floor.may_import
    rest = target.removeprefix(f"{PACKAGE}.") + "."
    return any(rest.startswith(f"{allowed}.") for allowed in floor.may_import)


def _is_known_outside(entry: Import) -> bool:
    package = entry.target.split(".")[0]
    if package in sys.stdlib_module_names:
        return True
    return part_of(entry.importer) in OUTSIDE_PACKAGES.get(package, ())


def _allowed_importers(entry: Import) -> str:
    package = entry.target.split(".")[0]
    parts = OUTSIDE_PACKAGES.get(package)
    if parts is None:
        return f"{package} is not a dependency (tests/architecture/floors.py)"
    return f"only {', '.join(parts)} may"


def _cycles(graph: dict[str, set[str]]) -> list[Sequence[str]]:
    """One cycle for each back edge of a depth-first walk (CLRS, section 20.3)."""
    found: list[Sequence[str]] = []
    done: set[str] = set()

    def walk(module: str, path: tuple[str, ...]) -> None:
        if module in path:
            found.append((*path[path.index(module) :], module))
            return
        if module in done:
            return
        for target in sorted(graph.get(module, ())):
            walk(target, (*path, module))
        done.add(module)

    for module in sorted(graph):
        walk(module, ())
    return found
