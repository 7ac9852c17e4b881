"""Where a recorded operator was called, if only code of the package stands between.

A layer of `tracegrad.nn` that is captured by itself runs no line of the user's: the
innermost one is that which called the captured function, and it says nothing. Then the
place is where the layer's class, or the function, is defined.
"""

from __future__ import annotations

import inspect
from types import FrameType, FunctionType, MethodType
from typing import Any, final

from tracegrad.location import Location, user_frame


@final
class Origin:
    """The captured function, and the frame that called it."""

    def __init__(self, function: Any = None) -> None:
        self._function = function
        self._outside: FrameType | None = user_frame()
        self._defined: Location | None = None

    def here(self) -> Location | None:
        """Return the user's place inside the captured function, or its definition."""
        frame = user_frame()
        if frame is not None and frame is not self._outside:
            return Location.of_frame(frame)
        if self._defined is None and self._function is not None:
            self._defined = _definition(self._function)
        return self._defined

    def let_go(self) -> None:
        """Forget the frame, which holds the caller's variables."""
        self._outside = None


def _definition(function: Any) -> Location | None:
    # A module's `__getattr__` must not be asked for attributes: it is being recorded.
    if isinstance(function, MethodType):
        function = function.__func__
    if isinstance(function, FunctionType):
        code = inspect.unwrap(function).__code__
        return Location(code.co_filename, code.co_firstlineno)
    cls = type(function)
    try:
        return Location(inspect.getfile(cls), inspect.getsourcelines(cls)[1])
    except (OSError, TypeError):
        return None
