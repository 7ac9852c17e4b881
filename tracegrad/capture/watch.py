"""Notices user frames that ran uninstrumented while a call was recorded.

Callbacks, properties, `__iter__`, `__del__` and sort keys reach user code without a
hook of ours in between; what they read would go unguarded.
"""

import cProfile
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, TracebackType
from typing import Any, Protocol, Self

from tracegrad.capture import monitoring


class Witness(Protocol):
    """Sees the code objects that start to run in this thread, unless paused."""

    def start(self) -> None:
        """Begin to see."""
        ...

    def stop(self) -> Iterable[CodeType]:
        """See no more; what was seen, and perhaps code that is of no interest."""
        ...

    def pause(self) -> object:
        """Look away."""
        ...

    def resume(self) -> object:
        """Look again."""
        ...


class Watch:
    """While entered, watches which code runs in this thread.

    Parameters
    ----------
    is_watched : callable
        Whether a code object is of interest.
    report : callable
        Called with each one of interest, when the watch ends.
    """

    def __init__(
        self,
        is_watched: Callable[[CodeType], bool],
        report: Callable[[CodeType], None],
    ) -> None:
        self._is_watched = is_watched
        self._report = report
        self._witness: Witness = _Nobody()

    def __enter__(self) -> Self:
        self._witness = _witness(self._is_watched)
        self._witness.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        seen = self._witness.stop()
        self._witness = _Nobody()
        for code in seen:
            if self._is_watched(code):
                self._report(code)

    def pause(self) -> None:
        """Look away, from code of ours."""
        self._witness.pause()

    def resume(self) -> None:
        """Look again."""
        self._witness.resume()


def _witness(is_watched: Callable[[CodeType], bool]) -> Witness:
    previous = sys.getprofile()
    found = monitoring.witness(is_watched)
    if found is not None:
        return found
    # From 3.12 on cProfile is one for all threads, so two recordings would mix.
    if previous is None and sys.version_info < (3, 12):
        return _Counting()
    return _Hook(previous)


class _Nobody:
    """When no call is recorded."""

    def start(self) -> None:
        pass

    def stop(self) -> Iterable[CodeType]:
        return ()

    def pause(self) -> None:
        pass

    def resume(self) -> None:
        pass


class _Counting:
    """The hook of `cProfile`: it is in C, and keeps the code objects it sees."""

    def __init__(self) -> None:
        self._profile = cProfile.Profile(subcalls=False, builtins=False)
        self.start = self.resume = self._profile.enable
        self.pause = self._profile.disable

    def stop(self) -> Iterable[CodeType]:
        self._profile.disable()
        codes = (entry.code for entry in self._profile.getstats())
        return [code for code in codes if isinstance(code, CodeType)]


class _Hook:
    """A hook in Python, beside a profiler that is there already and stays."""

    def __init__(self, previous: Any) -> None:
        self._previous = previous
        self._called_on = previous if callable(previous) else None
        self._paused = False
        # By id, for hashing a code object hashes all its parts.
        self._seen: dict[int, CodeType] = {}

    def start(self) -> None:
        sys.setprofile(self._see)

    def stop(self) -> Iterable[CodeType]:
        if self._previous is None or callable(self._previous):
            sys.setprofile(self._previous)
        else:
            # Another `cProfile`: only it can put its own hook back.
            self._previous.enable()
        return self._seen.values()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False

    def _see(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and not self._paused:
            self._seen[id(frame.f_code)] = frame.f_code
        if self._called_on is not None:
            self._called_on(frame, event, arg)
