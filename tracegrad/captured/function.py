"""A captured function's life: guards, programs, recording, fallback, explanation."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any, final

from tracegrad.capture.handlers import register_handler
from tracegrad.capture.journal import Journal
from tracegrad.capture.paths import Attribute
from tracegrad.capture.session import Recording, record_call
from tracegrad.captured.explain import Explanation
from tracegrad.captured.guards import CompiledGuards
from tracegrad.captured.misses import Changes
from tracegrad.captured.runner import FAILED, Left
from tracegrad.captured.specialization import Specialization
from tracegrad.compiler import DerivedProgram, compile_graph
from tracegrad.config import config
from tracegrad.dispatch.state import no_autocast, thread
from tracegrad.dtypes import get_default_dtype
from tracegrad.errors import CaptureError, NumberNeededError
from tracegrad.ir.graph import Graph
from tracegrad.location import warn

# Beyond this many programs, or kinds of calls that run eagerly, nothing is recorded.
MAX_SPECIALIZATIONS = 16

_OWN = frozenset(
    [
        "eager",
        "target",
        "strict",
        "specializations",
        "_explanation",
        "_lock",
        "_changes",
        "_last",
        "_has_warned",
        "_eager_cases",
    ]
)
# What a plain function has of its own besides its attributes.
_OF_FUNCTIONS = frozenset({"__defaults__", "__kwdefaults__"})

Mode = tuple[Any, ...]


def current_mode() -> Mode:
    """Return what of this thread's modes programs depend on."""
    autocast = thread.autocast
    return (
        thread.grad_enabled,
        get_default_dtype(),
        thread.inference,
        None if autocast is None else autocast.key,
    )


@final
class CapturedFunction:
    """What `trace` returns: callable like the function, and open to look into.

    Attributes
    ----------
    eager : callable
        The user's function.
    specializations : list of Specialization
    graph : Graph or None
        Of the last call that ran a program, or was recorded for one; None before any
        such call, and where calls run eagerly. `explain()` says why.
    source : str
        The emitted text of that program; empty where `graph` is None.
    """

    def __init__(
        self, function: Callable[..., Any], target: str | None, strict: bool
    ) -> None:
        self.eager = function
        functools.update_wrapper(self, function, updated=())
        self.target = target
        self.strict = strict
        self.specializations: list[Specialization] = []
        self._explanation = Explanation(_name_of(function))
        self._lock = threading.RLock()
        self._changes = Changes()
        self._last: Specialization | None = None
        # Whether a warning said that something could not be compiled.
        self._has_warned = False
        # Guards, each with its mode, of the calls that are known to run eagerly.
        self._eager_cases: list[tuple[Mode, CompiledGuards]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: a program where one fits, else a recorded eager call."""
        if thread.recorder is not None or thread.transforms or thread.anomaly:
            return self.eager(*args, **kwargs)
        mode = current_mode()
        left: dict[int, Any] = {}
        for specialization in self.specializations:
            if specialization.mode != mode:
                continue
            leaves = specialization.matches(self.eager, args, kwargs)
            if leaves is None:
                continue
            result = specialization.run(leaves)
            if result is FAILED:
                # From its start, so that the error, its line and what was done before
                # it are eager mode's own.
                return self.eager(*args, **kwargs)
            if result.__class__ is not Left:
                specialization.hits += 1
                self._last = specialization
                return result
            left[id(specialization)] = result.check
            self._changes.left(result.check)
            self._explanation.left(specialization, result.check)
        if not self._lock.acquire(blocking=False):
            # Another thread records; waiting for it could be waiting for ever.
            return self.eager(*args, **kwargs)
        try:
            return self._missed(args, kwargs, mode, left)
        finally:
            self._lock.release()

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind as a method; the programs are those of the class."""
        return self if instance is None else MethodType(self, instance)

    # -- calls without a program ------------------------------------------------------

    def _missed(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        mode: Mode,
        left: Mapping[int, Any],
    ) -> Any:
        if self._is_known_eager(args, kwargs, mode):
            return self._eagerly(args, kwargs)
        call = (self.eager, args, kwargs)
        misses = self._changes.misses(self.specializations, call, mode, left)
        reason = self._why_no_more()
        if reason:
            self._explanation.fell_back(reason)
            return self._eagerly(args, kwargs)
        recording = record_call(
            self.eager,
            args,
            kwargs,
            _name_of(self.eager),
            frozenset(self._changes.numbers),
        )
        self._keep(recording, mode, misses)
        return recording.result

    def _is_known_eager(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], mode: Mode
    ) -> bool:
        return any(
            known == mode and guards.check(self.eager, args, kwargs) is not None
            for known, guards in self._eager_cases
        )

    def _eagerly(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if self.strict or config.strict:
            raise CaptureError(f"this call would run eagerly; {self._explanation}")
        return self.eager(*args, **kwargs)

    def _why_no_more(self) -> str:
        if len(self.specializations) >= MAX_SPECIALIZATIONS:
            return f"there are {MAX_SPECIALIZATIONS} programs, no more are made"
        if len(self._eager_cases) >= MAX_SPECIALIZATIONS:
            return "recording was tried and given up too often"
        changed = self._changes.too_many()
        return f"{changed}, no more programs are made for it" if changed else ""

    def record_examples(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record with example inputs, and put back what the call changed.

        Raises
        ------
        CaptureError
            If the function does something to other objects, which can't be undone.
        """
        mode = current_mode()
        journal = Journal()
        try:
            recording = record_call(
                self.eager, args, kwargs, _name_of(self.eager), journal=journal
            )
        finally:
            journal.undo()
        self._keep(recording, mode, [])

    # -- programs ---------------------------------------------------------------------

    def _keep(self, recording: Recording, mode: Mode, misses: list[str]) -> None:
        reason = recording.reason
        if recording.graph is not None:
            reason = self._changes.why_not_kept(recording.graph)
        if reason:
            self._stay_eager(recording, mode, reason)
            return
        assert recording.graph is not None
        try:
            # The graph has its casts; the rules of derivatives choose no dtypes.
            with no_autocast():
                specialization = self._specialized(recording, recording.graph, mode)
        except NumberNeededError:
            self._changes.fix(recording.numbers)
            return
        except Exception as error:  # whatever it is, eager mode works
            self._refused(recording, mode, error)
            return
        self.specializations.append(specialization)
        self._last = specialization
        wanted = self.target or config.target
        self._explanation.captured(specialization, wanted, misses)

    def _stay_eager(self, recording: Recording, mode: Mode, reason: str) -> None:
        """Note that calls like the recorded one run eagerly."""
        self._explanation.fell_back(reason)
        guards = CompiledGuards.compile(recording.reads.guards)
        self._eager_cases.append((mode, guards))
        if self.strict or config.strict:
            raise CaptureError(f"{_name_of(self.eager)}: {reason}")

    def _specialized(
        self, recording: Recording, graph: Graph, mode: Mode
    ) -> Specialization:
        target = self.target or config.target
        assert recording.places is not None
        if recording.places.is_differentiable:
            derived = DerivedProgram(graph, target)
            return Specialization(recording, derived.forward, derived, mode)
        return Specialization(recording, compile_graph(graph, target), None, mode)

    def _refused(self, recording: Recording, mode: Mode, error: Exception) -> None:
        """Go on eagerly with what could be recorded but not compiled, and say so."""
        if self.strict or config.strict:
            raise error
        said = f"it could not be compiled: {type(error).__name__}: {error}"
        if not self._has_warned:
            self._has_warned = True
            warn(f"{_name_of(self.eager)} runs eagerly, {said}")
        self._stay_eager(recording, mode, said)

    # -- what it looks like -----------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """Find what else the function has: a captured module's parameters, say."""
        if "eager" not in self.__dict__:
            raise AttributeError(name)
        if name.startswith("__") and name not in _OF_FUNCTIONS:
            raise AttributeError(name)
        return getattr(self.eager, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set what is its own; all else belongs to the function."""
        if name in _OWN or name.startswith("__") or "eager" not in self.__dict__:
            object.__setattr__(self, name, value)
        else:
            setattr(self.eager, name, value)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle and copy the function; programs are made anew."""
        if isinstance(self.eager, FunctionType) and _is_importable(self):
            # A decorated function: its name now means the captured one.
            return self.eager.__qualname__
        return CapturedFunction, (self.eager, self.target, self.strict)

    def __repr__(self) -> str:
        """Say what it is and how far it got; the rest is in `explain()`."""
        return (
            f"<captured function {_name_of(self.eager)}: {self._explanation.summary()}>"
        )

    @property
    def graph(self) -> Graph | None:
        """The graph of the last call that was captured, None if none was.

        There is none before the first call, nor where calls run eagerly: print
        ``explain()`` to see why.
        """
        return None if self._last is None else self._last.graph

    @property
    def graphs(self) -> list[Graph]:
        """The graphs of all specializations."""
        return [s.graph for s in self.specializations]

    @property
    def source(self) -> str:
        """The emitted text of the last call's program, empty where `graph` is None."""
        return "" if self._last is None else self._last.compiled.source.text

    def explain(self) -> Explanation:
        """Return the report of what was captured and why not the rest."""
        return self._explanation

    def cache_clear(self) -> None:
        """Forget all programs."""
        with self._lock:
            self.specializations.clear()
            self._eager_cases.clear()
            self._changes = Changes()
            self._explanation = Explanation(_name_of(self.eager))
        self._has_warned = False
        self._last = None


def _is_importable(captured: CapturedFunction) -> bool:
    found: Any = sys.modules.get(captured.eager.__module__)
    for name in captured.eager.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is captured


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _inline(
    recorder: Any,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    location: Any,
) -> Any:
    """Record a call of a captured function as one of the function itself."""
    if isinstance(function, MethodType):
        function, args = function.__func__, (function.__self__, *args)
    path = recorder.path_of(function)
    eager = function.eager
    if path is not None:
        eager = recorder.observe(eager, Attribute(path, "eager"), location)
    return recorder.callee(eager, location)(*args, **kwargs)


register_handler(CapturedFunction, _inline)
