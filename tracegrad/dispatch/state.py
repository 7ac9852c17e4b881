"""What is installed between an operator call and its kernel, per thread.

The common case is that nothing is: two process-wide counts say whether *any*
thread has something installed, so that the fast path reads no thread-local.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, final

if TYPE_CHECKING:
    from tracegrad.dispatch.lessons import Lesson
    from tracegrad.dispatch.protocols import Autocast, Recorder, Transform


@final
class Installed:
    """Process-wide counts of what the threads have installed.

    Attributes
    ----------
    busy : int
        Recorders, transforms and autocasts in any thread.
    grad_off : int
        Blocks in any thread in which gradients are off.
    learning : int
        Calls in any thread that are made the general way and noted.
    """

    __slots__ = ("_lock", "busy", "grad_off", "learning")

    def __init__(self) -> None:
        self.busy = 0
        self.grad_off = 0
        self.learning = 0
        self._lock = threading.Lock()

    def add_busy(self, change: int) -> None:
        """Change the count of installed things."""
        with self._lock:
            self.busy += change

    def add_learning(self, change: int) -> None:
        """Change the count of calls that are noted."""
        with self._lock:
            self.learning += change
            # So that nothing takes a shorter way than the one that is noted.
            self.busy += change

    def add_grad_off(self, change: int) -> None:
        """Change the count of blocks without gradients."""
        with self._lock:
            self.grad_off += change


installed = Installed()


@final
class ThreadState(threading.local):
    """The modes of this thread.

    Attributes
    ----------
    grad_enabled : bool
        Whether operators on tracked tensors make tape entries.
    inference : bool
        Whether new tensors are inference tensors.
    recorder : Recorder or None
        What records the operators of a capture.
    transforms : tuple of Transform
        Functional transforms, outermost first.
    autocast : Autocast or None
        What chooses the dtypes that operators compute in.
    scope : str
        The composite that is being expanded.
    anomaly : str
        ``"lines"`` when tape entries note where they were made, ``"nan"`` when
        backward looks for NaN too, else empty.
    lesson : Lesson or None
        What notes the operators of a call.
    """

    def __init__(self) -> None:
        self.grad_enabled = True
        self.inference = False
        self.recorder: Recorder | None = None
        self.transforms: tuple[Transform, ...] = ()
        self.autocast: Autocast | None = None
        self.scope = ""
        self.anomaly = ""
        self.lesson: Lesson | None = None


thread = ThreadState()


def spoil() -> None:
    """Say that the call being noted does what it may do otherwise the next time."""
    lesson = thread.lesson
    if lesson is not None:
        lesson.spoilt = True


def install_recorder(recorder: Recorder | None) -> Recorder | None:
    """Install `recorder` in this thread and return the one before."""
    before = thread.recorder
    installed.add_busy((recorder is not None) - (before is not None))
    thread.recorder = recorder
    return before


def install_transforms(transforms: tuple[Transform, ...]) -> tuple[Transform, ...]:
    """Install `transforms` in this thread and return those before."""
    before = thread.transforms
    installed.add_busy(len(transforms) - len(before))
    thread.transforms = transforms
    return before


def install_autocast(autocast: Autocast | None) -> Autocast | None:
    """Install `autocast` in this thread and return the one before."""
    before = thread.autocast
    installed.add_busy((autocast is not None) - (before is not None))
    thread.autocast = autocast
    return before


def set_grad_enabled(enabled: bool) -> bool:
    """Turn gradients on or off in this thread and return what it was."""
    before = thread.grad_enabled
    if before != enabled:
        installed.add_grad_off(1 if before else -1)
        thread.grad_enabled = enabled
    return before


@final
class paused_recorder:  # noqa: N801 - a context manager used like a function
    """Run a block unseen by the recorder."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = install_recorder(None)

    def __exit__(self, *exception: object) -> None:
        install_recorder(self._before)


@final
class no_autocast:  # noqa: N801 - a context manager used like a function
    """Run a block in which operators compute in the dtypes of their operands."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = install_autocast(None)

    def __exit__(self, *exception: object) -> None:
        install_autocast(self._before)


@final
class no_tape:  # noqa: N801 - a context manager used like a function
    """Run a block without making tape entries."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = set_grad_enabled(False)

    def __exit__(self, *exception: object) -> None:
        set_grad_enabled(self._before)


_F = TypeVar("_F", bound=Callable[..., object])


def outside_recording(function: _F) -> _F:
    """Mark a method that captures run unrecorded and unguarded (decorator).

    For preparations that look at no tensor's value and do nothing when they were done
    before, such as making an optimizer's state: what they make counts as having been
    there before the captured call. What they change must be in the ``state`` dictionary
    of their object.
    """
    function.__dict__["__tracegrad_outside__"] = True
    return function
