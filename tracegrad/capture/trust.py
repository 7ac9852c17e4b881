"""Which code is the user's, and so is instrumented; all other runs as it is."""

import os
import site
import sys
import sysconfig
import weakref
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

# Parts of tracegrad that are written as a user would write them, on public names: what
# they read (a module's `training`, an optimizer's `lr`) must be guarded.
USER_PARTS = ("nn", "optim", "func", "data", "distributions")

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# By id: a user's callable may have an equality and a hash of its own.
_PURE: "dict[int, weakref.ref[Any]]" = {}


def assume_pure(function: _F) -> _F:
    """Vouch that `function` reads only its arguments and changes nothing.

    It then runs as it is when a call is recorded, and its result for the arguments'
    values is part of the program.

    Parameters
    ----------
    function : callable
        Any object that can be referred to weakly.

    Returns
    -------
    callable
        `function` itself.
    """
    key = id(function)
    _PURE[key] = weakref.ref(function, lambda _: _PURE.pop(key, None))
    return function


def is_assumed_pure(function: object) -> bool:
    """Whether a user vouched for `function`."""
    return id(function) in _PURE


class Trust:
    """Tells user code by its file; one answer per file is kept.

    Parameters
    ----------
    user_packages : iterable of str
        Installed packages that are to be treated as user code, by their import names.
    trusted_files : iterable of str
        Files that run as they are, wherever they lie.
    """

    def __init__(
        self,
        user_packages: Iterable[str] = (),
        trusted_files: Iterable[str] = (),
    ) -> None:
        self._named = tuple(user_packages)
        self._by_file = dict.fromkeys(trusted_files, False)

    def is_user_code(self, code: CodeType) -> bool:
        """Whether `code` is to be instrumented, and is watched for."""
        known = self._by_file.get(code.co_filename)
        if known is None:
            known = self._by_file[code.co_filename] = self._is_user(code.co_filename)
        return known and not is_generated(code)

    def is_user_module(self, name: str) -> bool:
        """Whether a module is user code; what isn't imported is."""
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is None:
            return name not in sys.builtin_module_names
        return self._by_file.get(file, self._is_user(file))

    def _is_user(self, file: str) -> bool:
        if file.startswith(("<frozen ", "<tracegrad ")):
            return False
        path = os.path.abspath(file)
        if _within(path, _PACKAGE):
            parts = os.path.relpath(path, _PACKAGE).split(os.sep)
            return os.path.splitext(parts[0])[0] in USER_PARTS
        for folder in _installed_folders():
            if _within(path, folder):
                parts = os.path.relpath(path, folder).split(os.sep)
                return os.path.splitext(parts[0])[0] in self._named
        return not _within(path, _standard_library())


def is_of_package(function: object) -> bool:
    """Whether `function` is a plain one of tracegrad's own, its code fixed.

    Nobody gives such a function another code or other defaults; a name that is bound
    to another function is another matter, and guarded.
    """
    if type(function) is not FunctionType or function.__closure__:
        return False
    name = function.__globals__.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    return (
        module is not None
        and function.__globals__ is vars(module)
        and _within(function.__code__.co_filename, _PACKAGE)
    )


def is_generated(code: CodeType) -> bool:
    """Whether dataclasses, namedtuple or attrs wrote this: it only reads fields.

    The module frame in which such code is made counts as well: a user's own call of
    `exec` is noticed by itself.
    """
    if code.co_filename == "<string>":
        return (
            code.co_qualname == "<module>"
            or code.co_qualname.startswith("__create_fn__")
            or code.co_names == _TUPLE_NEW
        )
    return code.co_filename.startswith("<attrs generated")


_TUPLE_NEW = ("_tuple_new",)


def _within(path: str, folder: str) -> bool:
    return path.startswith(folder + os.sep)


def _standard_library() -> str:
    return sysconfig.get_paths()["stdlib"]


_INSTALLED = tuple(
    sorted(
        {
            *(sysconfig.get_paths()[kind] for kind in ("purelib", "platlib")),
            *site.getsitepackages(),
            site.getusersitepackages(),
        }
    )
)


def _installed_folders() -> tuple[str, ...]:
    return _INSTALLED
