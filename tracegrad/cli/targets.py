"""From ``file.py:function`` or ``package.module:function`` to the object."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from tracegrad.errors import CommandError, TracegradError
from tracegrad.location import is_ours

# What a user's code may raise and a command reports; an interrupt is not among them.
FAILURES = (Exception, SystemExit)


def load(target: str) -> Any:
    """Return what `target` names.

    Parameters
    ----------
    target : str
        ``file.py:name`` or ``package.module:name``; the name may have dots.

    Raises
    ------
    CommandError
        If there is no such file, module or attribute, or importing it fails.
    """
    where, colon, name = target.rpartition(":")
    is_relative = where.startswith(".") and not _is_file(where)
    if not colon or not where or not name or is_relative:
        raise CommandError(
            f"{target!r} is neither file.py:function nor package.module:function"
        )
    module = _module_of_file(where) if _is_file(where) else _module_named(where)
    found: Any = module
    for part in name.split("."):
        found = _attribute(found, part, where)
    return found


def _is_file(where: str) -> bool:
    return where.endswith(".py") or "/" in where or os.sep in where


def _module_of_file(file: str) -> ModuleType:
    path = Path(file)
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise CommandError(f"the file {file} {what}")
    name = path.stem
    while name in sys.modules:
        name += "_"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise CommandError(f"the file {file} is not a Python file (.py)")
    module = importlib.util.module_from_spec(spec)
    # As when Python runs a file: it finds its neighbours.
    _search_first(str(path.resolve().parent))
    sys.modules[name] = module
    loader = spec.loader
    try:
        run_user_code(lambda: loader.exec_module(module), f"importing {file}")
    except CommandError:
        del sys.modules[name]
        raise
    return module


def _module_named(name: str) -> ModuleType:
    _search_first(str(Path.cwd()))
    try:
        module: ModuleType = run_user_code(
            lambda: importlib.import_module(name), f"importing {name}", name
        )
    except ModuleNotFoundError:
        raise CommandError(
            f"there is no module {name} here or among the installed packages"
        ) from None
    return module


def _search_first(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _attribute(holder: Any, name: str, where: str) -> Any:
    missing = object()
    # A name that the user typed, on an object of any kind.
    found = getattr(holder, name, missing)
    if found is missing:
        raise CommandError(f"{where} has no {name!r}{_meant(name, dir(holder))}")
    return found


def _meant(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def run_user_code(
    function: Callable[[], Any], doing: str, module: str | None = None
) -> Any:
    """Return ``function()``; a failure becomes a sentence with the user's line.

    Parameters
    ----------
    function : callable
    doing : str
        What the failure interrupts, such as ``importing model.py``.
    module : str, optional
        The module that is imported: its own absence passes through.

    Raises
    ------
    CommandError
        If it raises.
    """
    try:
        # What it prints must not stand among the lines of a dump.
        with contextlib.redirect_stdout(sys.stderr):
            return function()
    except FAILURES as error:
        if isinstance(error, ModuleNotFoundError) and _is_part(error.name, module):
            raise
        raise CommandError(f"{doing} failed: {_described(error)}") from error


def _is_part(missing: str | None, module: str | None) -> bool:
    if missing is None or module is None:
        return False
    return module == missing or module.startswith(missing + ".")


def _described(error: BaseException) -> str:
    text = str(error) or "no message"
    place = _place(error)
    # The qualified name: a class of tracegrad.errors calls itself by its builtin.
    return f"{type(error).__qualname__}: {text}" + (f" ({place})" if place else "")


def _place(error: BaseException) -> str:
    """Return the innermost user's line that the exception passed through."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{os.path.basename(error.filename)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    users = [
        f for f in frames if not is_ours(f.filename) and "<frozen" not in f.filename
    ]
    if users:
        return f"{os.path.basename(users[-1].filename)}:{users[-1].lineno}"
    location = error.location if isinstance(error, TracegradError) else None
    return str(location) if location is not None else ""
