"""profile, record_function and schedule."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any, final

from tracegrad.errors import ArgumentError
from tracegrad.profiler.events import Averages, Event, write_chrome_trace


class ProfilerActivity(Enum):
    """What to measure; only what runs on the CPU is."""

    CPU = 0
    CUDA = 2
    XPU = 1


class ProfilerAction(Enum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Return the function from a step's number to what a profile does in it.

    Parameters
    ----------
    wait, warmup, active : int
        Steps of a cycle: without measuring, measuring for nothing, measuring.
    repeat : int
        How many cycles; 0 for no end.
    skip_first : int
        Steps before the first cycle.
    skip_first_wait : int
        Whether the first cycle has no wait.

    Raises
    ------
    ArgumentError
        If no step of a cycle is active, or a number is negative.

    Examples
    --------
    >>> plan = schedule(wait=1, warmup=0, active=2, repeat=1)
    >>> [plan(step).name for step in range(4)]
    ['NONE', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    numbers = (wait, warmup, repeat, skip_first, skip_first_wait)
    if active <= 0 or any(number < 0 for number in numbers):
        raise ArgumentError(
            "schedule(): active must be positive and the other numbers not negative"
        )
    length = wait + warmup + active

    def plan(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        cycle, place = divmod(step, length)
        if (repeat and cycle >= repeat) or place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        is_last = place == length - 1
        return ProfilerAction.RECORD_AND_SAVE if is_last else ProfilerAction.RECORD

    return plan


_active: list[profile] = []


def _now_us() -> float:
    return time.perf_counter() * 1e6


@final
class record_function:  # noqa: N801 - PyTorch's name
    """Name a block, as a context manager or a decorator, for profiles to measure.

    Parameters
    ----------
    name : str
    args : str, optional
        Accepted.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._starts: list[float] = []

    def __enter__(self) -> record_function:
        self._starts.append(_now_us())
        return self

    def __exit__(self, *exception: object) -> None:
        start = self._starts.pop()
        for active in _active:
            active._note(self.name, start)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function as such a block."""

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapped


@final
class profile:  # noqa: N801 - PyTorch's name
    """Measure the blocks that `record_function` names, and steps.

    Parameters
    ----------
    activities : iterable of ProfilerActivity, optional
        Accepted; what runs on the CPU is measured.
    schedule : callable, optional
        From a step's number to what is done in it; all is measured without it.
    on_trace_ready : callable, optional
        Called with the profile where a cycle of the schedule ends.
    **others
        Accepted as PyTorch's, without effect.

    Examples
    --------
    >>> with profile() as measured:
    ...     with record_function("work"):
    ...         total = sum(range(10))
    >>> [average.key for average in measured.key_averages()]
    ['work']
    """

    def __init__(
        self,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        **others: Any,
    ) -> None:
        del activities, others
        self._schedule = schedule
        self._on_trace_ready = on_trace_ready
        self._events: list[Event] = []
        self._saved: list[Event] = []
        self.step_num = 0
        self._step_start = 0.0

    def _action(self) -> ProfilerAction:
        if self._schedule is None:
            return ProfilerAction.RECORD
        return self._schedule(self.step_num)

    def _note(self, name: str, start: float) -> None:
        if self._action() in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            duration = _now_us() - start
            event = Event(name, start, duration, threading.get_ident())
            self._events.append(event)

    def start(self) -> None:
        """Begin to measure."""
        _active.append(self)
        self._step_start = _now_us()

    def stop(self) -> None:
        """Measure no more."""
        if self in _active:
            _active.remove(self)
        if self._events:
            self._finish_cycle()

    def step(self) -> None:
        """Say that a step of the program is over."""
        if self._schedule is not None:
            self._note(f"ProfilerStep#{self.step_num}", self._step_start)
        is_last = self._action() is ProfilerAction.RECORD_AND_SAVE
        self.step_num += 1
        if is_last:
            self._finish_cycle()
        self._step_start = _now_us()

    def _finish_cycle(self) -> None:
        self._saved, self._events = self._events, []
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def events(self) -> list[Event]:
        """Return what was measured: of the running cycle, or of the last."""
        return self._events or self._saved

    def key_averages(self, **others: Any) -> Averages:
        """Return sums by name; arguments are accepted as PyTorch's."""
        del others
        return Averages(self.events())

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write what was measured for chrome://tracing or Perfetto."""
        write_chrome_trace(path, self.events())


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Return an `on_trace_ready` that writes traces into a folder.

    Parameters
    ----------
    dir_name : str
        It is made if it is not there.
    worker_name : str, optional
        The beginning of the files' names.
    use_gzip : bool
        Accepted; files are not compressed.
    """
    del use_gzip

    def write(measured: profile) -> None:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        name = worker_name or f"worker_{os.getpid()}"
        measured.export_chrome_trace(folder / f"{name}.{time.time_ns()}.pt.trace.json")

    return write
