"""Where in the user's program something happened.

A location keeps the code object and the instruction; file and line are looked up
when somebody asks, because most locations are never printed.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any, final

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Of the standard library: between a user's `with` or decorated call and our code.
_BETWEEN = (contextlib.__file__, functools.__file__)


@final
class Location:
    """A place in a source file.

    Two locations are equal when they name the same file and line.
    """

    __slots__ = ("_code", "_file", "_instruction", "_line")

    def __init__(self, file: str, line: int) -> None:
        self._file: str | None = file
        self._line = line
        self._code: CodeType | None = None
        self._instruction = 0

    @classmethod
    def of_frame(cls, frame: FrameType) -> Location:
        """Return the place where `frame` is now, without looking it up."""
        self = cls.__new__(cls)
        self._file = None
        self._line = 0
        self._code = frame.f_code
        self._instruction = frame.f_lasti
        return self

    def _resolve(self) -> str:
        if self._file is None:
            assert self._code is not None
            self._file = self._code.co_filename
            self._line = _line_of(self._code, self._instruction)
            self._code = None
        return self._file

    @property
    def path(self) -> str:
        """The file's path, as Python knows it."""
        return self._resolve()

    @property
    def file(self) -> str:
        """The file's name without its directory."""
        return os.path.basename(self._resolve())

    @property
    def line(self) -> int:
        """The line, from 1; 0 when there is none."""
        self._resolve()
        return self._line

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def __repr__(self) -> str:
        return f"Location({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Location):
            return NotImplemented
        return (self.file, self.line) == (other.file, other.line)

    def __hash__(self) -> int:
        return hash((self.file, self.line))


def _line_of(code: CodeType, instruction: int) -> int:
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno


def is_ours(filename: str) -> bool:
    """Return whether a file's code is tracegrad's own, emitted code included."""
    return filename.startswith((_PACKAGE, "<tracegrad"))


def _is_passed(filename: str) -> bool:
    return is_ours(filename) or filename in _BETWEEN


def _is_between(frame: FrameType) -> bool:
    """Return whether a frame is of ours, or of what ours is called by."""
    filename = frame.f_code.co_filename
    if filename == "<string>":
        # What `dataclasses` wrote for a class of ours.
        return str(frame.f_globals.get("__name__")).startswith("tracegrad.")
    return _is_passed(filename)


def user_frame() -> FrameType | None:
    """Return the innermost frame that is not tracegrad's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_between(frame):
        frame = frame.f_back
    return frame


def here() -> Location | None:
    """Return the user's current place, or None outside any user code."""
    frame = user_frame()
    return None if frame is None else Location.of_frame(frame)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of something in the line of the user's that led here."""
    depth = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_between(frame):
        depth += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=depth)


# The public name of a function, by its code: how an error knows what was called.
_PUBLISHED: dict[CodeType, str] = {}
_KNOWN: set[str] = set()


def publish(function: Any, name: str, parameters: Sequence[str] = ()) -> None:
    """Let `function` be known by its public name, to Python and to our errors.

    Parameters
    ----------
    function : function
        It gets code of its own: closures of one function would share theirs.
    name : str
        What users call it; Python's errors about its arguments say it.
    parameters : sequence of str
        What to call its first parameters; none to leave them.
    """
    code = function.__code__
    names = (*parameters, *code.co_varnames[len(parameters) :])
    function.__code__ = code.replace(co_name=name, co_qualname=name, co_varnames=names)
    function.__name__ = function.__qualname__ = name
    _PUBLISHED[function.__code__] = name
    know(name)


def is_published(function: Any) -> bool:
    """Return whether `function` is known by a public name."""
    return function.__code__ in _PUBLISHED


def know(name: str) -> None:
    """Note that messages may begin with `name`, an operator's or a function's."""
    _KNOWN.add(name)


def called() -> tuple[Location | None, str]:
    """Return the user's place, and the name of the function that was called there.

    The name is empty if that is no function of tracegrad's with a public name.
    """
    frame: FrameType | None = sys._getframe(1)
    name = ""
    while frame is not None and _is_between(frame):
        name = _PUBLISHED.get(frame.f_code, name)
        frame = frame.f_back
    if name.startswith("__"):
        # Written as an operator or in brackets: there is no name to say.
        name = ""
    return (None if frame is None else Location.of_frame(frame)), name


def known_names() -> set[str]:
    """Return the names that messages may begin with."""
    return _KNOWN
