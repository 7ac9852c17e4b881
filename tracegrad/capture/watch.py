"""Notices user frames that ran uninstrumented while a call was recorded.

Callbacks, properties, `__iter__`, `__del__` and sort keys reach user code without a
hook of ours in between; what they read would go unguarded.
"""

import cProfile
import sys
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any, Self

ProfileFunction = Callable[[FrameType, str, Any], object]


class Watch:
    """While entered, keeps the code objects that run in this thread.

    Parameters
    ----------
    is_watched : callable
        Whether a code object is of interest.
    report : callable
        Called with each one of interest, when the watch ends.

    Notes
    -----
    A profile hook written in Python would take four fifths of a recording's time. That
    of `cProfile` is in C, and keeps the code objects it sees, which is all we need. A
    profiler that is there already is called on, through Python, and put back at the end.
    """

    def __init__(
        self,
        is_watched: Callable[[CodeType], bool],
        report: Callable[[CodeType], None],
    ) -> None:
        self._is_watched = is_watched
        self._report = report
        self._previous: Any = None
        self._counting: cProfile.Profile | None = None
        # By id, for hashing a code object hashes all its parts.
        self._seen: dict[int, CodeType] = {}

    def __enter__(self) -> Self:
        self._previous = sys.getprofile()
        # From 3.12 on cProfile is one for all threads.
        if self._previous is None and sys.version_info < (3, 12):
            self._counting = cProfile.Profile(subcalls=False, builtins=False)
            self._counting.enable()
        elif callable(self._previous):
            sys.setprofile(self._both)
        else:
            sys.setprofile(self._profile)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._counting is not None:
            self._counting.disable()
            codes = [entry.code for entry in self._counting.getstats()]
            self._seen = {id(code): code for code in codes}
        elif callable(self._previous) or self._previous is None:
            sys.setprofile(self._previous)
        else:
            # Another `cProfile`: only it can put its own hook back.
            self._previous.enable()
        for code in self._seen.values():
            if isinstance(code, CodeType) and self._is_watched(code):
                self._report(code)

    def _profile(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            self._seen[id(frame.f_code)] = frame.f_code

    def _both(self, frame: FrameType, event: str, arg: Any) -> None:
        self._profile(frame, event, arg)
        self._previous(frame, event, arg)
