"""`sys.monitoring` (Python 3.12 and later) as a witness of which code runs.

Code that is of no interest is seen once and costs nothing after that.
"""

import sys
import threading
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

_NAME = "tracegrad"
# 0 to 2 and 5 are for debuggers, coverage, profilers and optimizers.
_TOOLS = (4, 3)


def witness(is_watched: Callable[[CodeType], bool]) -> "Monitor | None":
    """A witness; None before Python 3.12, or if others have taken all places."""
    if not hasattr(sys, "monitoring"):
        return None
    return Monitor(is_watched) if _shared.is_available() else None


class Monitor:
    """Sees the code that starts to run in the thread that made it."""

    def __init__(self, is_watched: Callable[[CodeType], bool]) -> None:
        self.is_watched = is_watched
        self.seen: dict[int, CodeType] = {}
        self.paused = False

    def start(self) -> None:
        """Begin to see."""
        _shared.add(self)

    def stop(self) -> Iterable[CodeType]:
        """See no more; what was seen."""
        _shared.remove()
        return self.seen.values()

    def pause(self) -> None:
        """Look away."""
        self.paused = True

    def resume(self) -> None:
        """Look again."""
        self.paused = False


class _Shared:
    """The one place that monitoring gives us, shared by the threads that record."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._monitors: dict[int, Monitor] = {}
        self._tool: int | None = None

    @property
    def _monitoring(self) -> Any:
        return getattr(sys, "monitoring")  # noqa: B009 (mypy checks as for 3.11)

    def is_available(self) -> bool:
        """Whether a place is ours, or free."""
        with self._lock:
            places = map(self._monitoring.get_tool, _TOOLS)
            return self._tool is not None or None in places

    def add(self, monitor: Monitor) -> None:
        """Let `monitor` see what runs in this thread."""
        with self._lock:
            self._monitors[threading.get_ident()] = monitor
            if self._tool is None:
                self._take_place()
            # What an earlier recording wasn't interested in may interest this one.
            self._monitoring.restart_events()

    def remove(self) -> None:
        """Let go of the monitor of this thread."""
        with self._lock:
            self._monitors.pop(threading.get_ident(), None)
            if not self._monitors and self._tool is not None:
                self._monitoring.set_events(self._tool, 0)
                self._monitoring.free_tool_id(self._tool)
                self._tool = None

    def _take_place(self) -> None:
        api = self._monitoring
        self._tool = next(tool for tool in _TOOLS if api.get_tool(tool) is None)
        api.use_tool_id(self._tool, _NAME)
        events = api.events.PY_START, api.events.PY_RESUME
        for event in events:
            api.register_callback(self._tool, event, self._see)
        api.set_events(self._tool, events[0] | events[1])

    def _see(self, code: CodeType, offset: int) -> object:
        monitor = self._monitors.get(threading.get_ident())
        if monitor is None or monitor.paused:
            return None
        if monitor.is_watched(code):
            monitor.seen[id(code)] = code
            return None
        # Another thread's recording may be interested.
        alone = len(self._monitors) == 1
        return self._monitoring.DISABLE if alone else None


_shared = _Shared()
