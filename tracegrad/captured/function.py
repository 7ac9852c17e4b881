"""A captured function's life: guards, programs, recording, fallback, explanation."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any, final

from tracegrad.capture.journal import Journal
from tracegrad.capture.outputs import Fresh
from tracegrad.capture.paths import (
    Argument,
    Attribute,
    Cell,
    Default,
    Environment,
    Global,
    Item,
    Keyword,
    Path,
)
from tracegrad.capture.session import Recording, record_call
from tracegrad.captured.explain import Explanation
from tracegrad.captured.guards import Miss
from tracegrad.captured.specialization import FAILED, LEFT, Specialization
from tracegrad.compiler import DerivedProgram, compile_graph
from tracegrad.config import config
from tracegrad.dispatch.state import thread
from tracegrad.dtypes import get_default_dtype
from tracegrad.errors import CaptureError, TracegradError
from tracegrad.ir.graph import Graph

# Beyond this many programs the function stays eager, and says so.
MAX_SPECIALIZATIONS = 16


@final
class CapturedFunction:
    """What `trace` returns: callable like the function, and open to look into.

    Attributes
    ----------
    eager : callable
        The user's function.
    specializations : list of Specialization
    graph : Graph or None
        Of the last call that ran a program.
    source : str
        The emitted text of that program.
    """

    def __init__(
        self, function: Callable[..., Any], target: str | None, strict: bool
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self.eager = function
        self.target = target
        self.strict = strict
        self.specializations: list[Specialization] = []
        self._explanation = Explanation(_name_of(function))
        self._lock = threading.RLock()
        # Where numbers were seen to change: inputs of the next program.
        self._dynamic: set[Path] = set()
        self._last: Specialization | None = None
        # Whether compiling failed: it would fail again at each call.
        self._given_up = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: a program where one fits, else a recorded eager call."""
        if self._given_up or thread.recorder is not None or thread.transforms:
            return self.eager(*args, **kwargs)
        mode = thread.grad_enabled, get_default_dtype()
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
            if result is not LEFT:
                self._last = specialization
                return result
        return self._record(args, kwargs, mode)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind as a method."""
        return self if instance is None else functools.partial(self, instance)

    def _record(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], mode: tuple[Any, ...]
    ) -> Any:
        if len(self.specializations) >= MAX_SPECIALIZATIONS:
            self._explanation.limit(MAX_SPECIALIZATIONS)
            return self.eager(*args, **kwargs)
        misses = self._misses(args, kwargs, mode)
        recording = record_call(
            self.eager, args, kwargs, _name_of(self.eager), frozenset(self._dynamic)
        )
        self._keep(recording, mode, misses)
        return recording.result

    def record_examples(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record with example inputs, and put back what the call changed.

        Raises
        ------
        CaptureError
            If the function does something to other objects, which can't be undone.
        """
        mode = thread.grad_enabled, get_default_dtype()
        journal = Journal()
        try:
            recording = record_call(
                self.eager, args, kwargs, _name_of(self.eager), journal=journal
            )
        finally:
            journal.undo()
        self._keep(recording, mode, [])

    def _misses(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], mode: tuple[Any, ...]
    ) -> list[str]:
        found = []
        for specialization in self.specializations:
            if specialization.mode != mode:
                found.append(f"the mode was {specialization.mode} and is {mode}")
                continue
            miss = specialization.guards.first_miss(self.eager, args, kwargs)
            if miss is not None and is_changed_number(miss, self.eager, args, kwargs):
                assert miss.path is not None
                self._dynamic.add(miss.path)
            reason = "" if miss is None else str(miss)
            found.append(
                reason or "the inputs share memory in another way, or a check left"
            )
        return found

    def _keep(
        self, recording: Recording, mode: tuple[Any, ...], misses: list[str]
    ) -> None:
        if recording.graph is None:
            self._explanation.fell_back(recording.reason)
            if self.strict or config.strict:
                raise CaptureError(f"{_name_of(self.eager)}: {recording.reason}")
            return
        try:
            specialization = self._specialized(recording, recording.graph, mode)
        except TracegradError as error:
            self._refused(error)
            return
        with self._lock:
            self.specializations.append(specialization)
        self._last = specialization
        self._explanation.captured(specialization, misses)

    def _specialized(
        self, recording: Recording, graph: Graph, mode: tuple[Any, ...]
    ) -> Specialization:
        target = self.target or config.target
        if any(isinstance(p, Fresh) and p.tape == "live" for p in recording.places):
            derived = DerivedProgram(graph, target)
            return Specialization(recording, derived.forward, derived, mode)
        return Specialization(recording, compile_graph(graph, target), None, mode)

    def _refused(self, error: TracegradError) -> None:
        """Go on eagerly with what could be recorded but not compiled, and say so."""
        if self.strict or config.strict:
            raise error
        self._given_up = True
        self._explanation.fell_back(f"it could not be compiled: {error}")
        warnings.warn(
            f"{_name_of(self.eager)} runs eagerly, it could not be compiled: {error}",
            stacklevel=5,
        )

    def __getattr__(self, name: str) -> Any:
        """Find what else the function has: a captured module's parameters, say."""
        if name.startswith("__") or "eager" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.eager, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the function; programs are made anew."""
        return CapturedFunction, (self.eager, self.target, self.strict)

    @property
    def graph(self) -> Graph | None:
        """The graph of the last call that was captured."""
        return None if self._last is None else self._last.graph

    @property
    def graphs(self) -> list[Graph]:
        """The graphs of all specializations."""
        return [s.graph for s in self.specializations]

    @property
    def source(self) -> str:
        """The emitted text of the last call's program; empty if there is none."""
        return "" if self._last is None else self._last.compiled.source.text

    def explain(self) -> Explanation:
        """Return the report of what was captured and why not the rest."""
        return self._explanation

    def cache_clear(self) -> None:
        """Forget all programs."""
        with self._lock:
            self.specializations.clear()
        self._given_up = False
        self._last = None


def is_changed_number(
    miss: Miss, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> bool:
    """Return whether what changed is a Python number that a program could take."""
    path = miss.path
    if path is None or not isinstance(path, _NUMBER_PLACES):
        return False
    try:
        value = path.evaluate(Environment(function, args, kwargs))
    except (AttributeError, IndexError, KeyError, TypeError):
        return False
    return type(value) in (int, float) and _is_number_text(miss.old)


def _is_number_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# A number in these places is a value; a length, say, is structure.
_NUMBER_PLACES = (Argument, Keyword, Attribute, Item, Global, Cell, Default)


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
