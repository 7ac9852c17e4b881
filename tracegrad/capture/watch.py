"""Notices user frames that run uninstrumented while a call is recorded.

Callbacks, properties, `__iter__`, `__del__` and sort keys reach user code without a
hook of ours in between; what they read would go unguarded.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any, Self

ProfileFunction = Callable[[FrameType, str, Any], object]


class Watch:
    """While entered, reports each new frame of user code in this thread.

    Parameters
    ----------
    is_watched : callable
        Whether frames of a code object are of interest; asked once per code object.
    report : callable
        Called with a frame of interest, before its first line runs.

    Notes
    -----
    `sys.setprofile` is per thread, so that threads don't see each other. What was
    installed before (a profiler, coverage) is called on, and put back at the end.
    """

    def __init__(
        self,
        is_watched: Callable[[CodeType], bool],
        report: Callable[[FrameType], None],
    ) -> None:
        self._is_watched = is_watched
        self._report = report
        self._previous: ProfileFunction | None = None
        # By id, for hashing a code object hashes all its parts; kept alive by `_kept`.
        self._ignored: set[int] = set()
        self._kept: list[CodeType] = []

    def __enter__(self) -> Self:
        self._previous = sys.getprofile()
        sys.setprofile(self._profile if self._previous is None else self._both)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sys.setprofile(self._previous)

    def _profile(self, frame: FrameType, event: str, arg: Any) -> None:
        if event != "call" or id(frame.f_code) in self._ignored:
            return
        if self._is_watched(frame.f_code):
            self._report(frame)
            return
        self._ignored.add(id(frame.f_code))
        self._kept.append(frame.f_code)

    def _both(self, frame: FrameType, event: str, arg: Any) -> None:
        self._profile(frame, event, arg)
        if self._previous is not None:
            self._previous(frame, event, arg)
