"""The read-recorder: what a call reads from outside, guarded as it is read.

An object that came from outside has a path. One without a path was born inside the
call: reading it needs no guard, and writing it is nobody's business.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType, MethodType, TracebackType
from typing import Any, Literal, Protocol, TypeVar

from tracegrad.capture import attributes, calls, kinds
from tracegrad.capture.checks import (
    Check,
    Guard,
    HasKeys,
    HasType,
    IsCode,
    NotSameAs,
    SameAs,
    value_check,
)
from tracegrad.capture.effects import Effect, Location, Unrecordable
from tracegrad.capture.hooks import FunctionHooks, iterated
from tracegrad.capture.instrument import NoSourceError, instrument, is_instrumented
from tracegrad.capture.paths import (
    Argument,
    Arguments,
    Attribute,
    Default,
    Elements,
    Function,
    Held,
    Keyword,
    Keywords,
    Length,
    Path,
    TypeOf,
)
from tracegrad.capture.trust import Trust, is_of_package
from tracegrad.capture.watch import Watch
from tracegrad.errors import CaptureError


class Leaves(Protocol):
    """What the recorder of operators says of tensors, generators and their like."""

    def is_leaf(self, value: object) -> bool:
        """Whether `value` is a leaf; asked of most objects, so it must be quick."""
        ...

    def read(self, value: Any, path: Path, location: Location) -> None:
        """A leaf from outside was reached for the first time."""
        ...

    def number(self, value: float, path: Path, location: Location) -> Any:
        """A dynamic number was read; what is returned takes its place in the call."""
        ...

    def truth(self, value: Any, location: Location) -> bool:
        """A leaf was turned into a truth value."""
        ...

    def attribute(
        self, value: Any, name: str, path: Path | None, location: Location
    ) -> Any:
        """The attribute `name` of a leaf; its path is None if it was born inside."""
        ...

    def preparing(self, owner: Any) -> None:
        """An object is about to prepare its ``state``, outside the recording."""
        ...

    def returned(self, result: Any) -> None:
        """The call is over, and what is outside still known."""
        ...

    def store(self, value: Any, name: str, location: Location) -> str | None:
        """An attribute of a leaf is about to be set: the sentence, if an effect."""
        ...


@dataclass(frozen=True, slots=True)
class LeafRead:
    """A leaf or a dynamic number that a call took from outside."""

    path: Path
    location: Location
    kind: Literal["leaf", "number"]


@dataclass(frozen=True, slots=True)
class Reads:
    """What one recorded call read.

    Attributes
    ----------
    guards : tuple of Guard
        The conditions under which another call reads the same.
    leaves : tuple of LeafRead
        In the order in which they were first read.
    effects : tuple of Effect
        What it did to the world outside.
    reason : Effect, Unrecordable or None
        Why the call can't be captured, if it can't.
    """

    guards: tuple[Guard, ...]
    leaves: tuple[LeafRead, ...]
    effects: tuple[Effect, ...]
    reason: Effect | Unrecordable | None


_T = TypeVar("_T")


class ReadRecorder:
    """Records one call.

    Parameters
    ----------
    leaves : Leaves
        Tells leaves from other objects, and is told of them.
    dynamic : set of Path
        Where numbers are inputs of the program, not guarded values.
    trust : Trust, optional
        Which code is the user's.
    """

    def __init__(
        self,
        leaves: Leaves,
        dynamic: "frozenset[Path]" = frozenset(),
        trust: Trust | None = None,
    ) -> None:
        self.leaves = leaves
        self.trust = trust or Trust()
        self._dynamic = dynamic
        self._paths: dict[int, Path] = {}
        self._kept: dict[int, object] = {}
        self._observed: dict[Path, tuple[object, object]] = {}
        self._guards: dict[tuple[Path, type, object], Guard] = {}
        self._identified: dict[Path, Location] = {}
        self._leaf_reads: list[LeafRead] = []
        self._effects: list[Effect] = []
        self._reason: Effect | Unrecordable | None = None
        self._instrumented: dict[int, Callable[..., Any]] = {}
        self._watch = Watch(self._is_watched, self._report)
        self._quiet = False
        self.born: dict[int, object] = {}
        # Attributes that were read and guarded: where they are, what was there, and
        # what stands for it. A change by whomever shows, for the place is looked at.
        self.memo: dict[tuple[int, str], tuple[dict[str, Any], object, object]] = {}
        self.closed = False
        # A recording that is undone can't undo what happens to other objects.
        self.refuses_effects = False

    # What was recorded

    def reads(self) -> Reads:
        """What the call read, as far as it came."""
        guards = list(self._guards.values())
        if len(self._identified) > 1:
            *others, last = self._identified
            check = NotSameAs(tuple(others))
            guards.append(Guard(last, check, self._identified[last]))
        return Reads(
            tuple(guards),
            tuple(self._leaf_reads),
            tuple(self._effects),
            self._reason,
        )

    def effect(self, location: Location, sentence: str) -> None:
        """Note that the line changes the world outside, or reads one that moves."""
        effect = Effect(sentence, location)
        if self.refuses_effects:
            raise CaptureError(f"example inputs can't be used: the function {effect}")
        self._effects.append(effect)
        self._fail(effect)

    def unrecordable(self, location: Location, sentence: str) -> None:
        """Note that what the line reads can't be known."""
        self._fail(Unrecordable(sentence, location))

    def _fail(self, reason: Effect | Unrecordable) -> None:
        self._reason = self._reason or reason

    def guard(self, path: Path, check: Check, location: Location) -> None:
        """Record a condition on the object at `path`."""
        key = path, type(check), getattr(check, "key", getattr(check, "others", None))
        if key not in self._guards:
            self._guards[key] = Guard(path, check, location)

    def has_dynamic_items(self, path: Path) -> bool:
        """Whether an item of the container at `path` is a dynamic number."""
        return any(path in dynamic.bases for dynamic in self._dynamic)

    # Objects and where they came from

    def path_of(self, value: object) -> Path | None:
        """The first path that led to `value`; None if it was born inside the call."""
        return self._paths.get(id(value))

    def path_or_held(self, value: Any) -> Path:
        """Its path; for a function or class that none led to, the object itself."""
        path = self._paths.get(id(value))
        if path is None:
            name = getattr(value, "__qualname__", type(value).__qualname__)
            path = Held(value, name)
            self.enter(value, path)
        return path

    def class_path(self, cls: type, value: object) -> Path | None:
        """The path of the class of `value`; None if nothing of it can change."""
        if not cls.__flags__ & kinds.HEAP_TYPE or id(cls) in self.born:
            return None
        path = self._paths.get(id(cls))
        if path is None and (base := self._paths.get(id(value))) is not None:
            path = TypeOf(base)
            self.enter(cls, path)
        return path or self.path_or_held(cls)

    def enter(self, value: object, path: Path) -> None:
        """Note where `value` came from, and keep it, so that its id stays its own."""
        self._paths[id(value)] = path
        self._kept[id(value)] = value

    def observe(self, value: Any, path: Path, location: Location) -> Any:
        """Read an object from outside: guard it by its kind.

        Returns
        -------
        object
            `value`, or what stands for it if it is a dynamic number, or holds one.
        """
        known = self._observed.get(path)
        if known is not None:
            same = known[0] is value or kinds.equal_numbers(known[0], value)
            return known[1] if same else value
        shown = self._first_read(value, path, location)
        self._observed[path] = value, shown
        return shown

    def _first_read(self, value: Any, path: Path, location: Location) -> Any:
        if type(value) in (int, float) and path in self._dynamic:
            self.guard(path, HasType(type(value)), location)
            self._leaf_reads.append(LeafRead(path, location, "number"))
            return self.leaves.number(value, path, location)
        if kinds.is_value(value):
            self.guard(path, value_check(value), location)
            return value
        first = self._paths.get(id(value))
        if first is not None:
            if first != path:
                self.guard(path, SameAs((first,)), location)
            return value
        self.enter(value, path)
        if self.leaves.is_leaf(value):
            self._leaf_reads.append(LeafRead(path, location, "leaf"))
            self.leaves.read(value, path, location)
            return value
        return kinds.read(self, value, path, location)

    def compare_identity(self, a: object, b: object, location: Location) -> None:
        """Two objects were compared with `is`; that they're one is guarded already."""
        first, second = self._paths.get(id(a)), self._paths.get(id(b))
        if first is not None and second is not None and a is not b:
            self.guard(first, NotSameAs((second,)), location)

    def identify(self, value: object, location: Location) -> None:
        """The identity of an object was read: by `id()`, or as an element looked up."""
        path = self._paths.get(id(value))
        if path is not None and not self.leaves.is_leaf(value):
            self._identified.setdefault(path, location)

    def length(self, value: Any, location: Location) -> None:
        """The length of a container was read."""
        path = self._paths.get(id(value))
        if path is not None:
            self.observe(len(value), Length(path), location)

    def contents(
        self, value: Any, location: Location, depth: int = 4, instances: bool = False
    ) -> Any:
        """All of a container was read, and to `depth` levels what it holds."""
        return kinds.contents(self, value, location, depth, instances)

    def attribute(self, value: Any, name: str, location: Location) -> Any:
        """Read an attribute as Python does, recording what that reads."""
        return attributes.read(self, value, name, location)

    def iterated(self, value: Any, location: Location, depth: int = 0) -> Any:
        """What to iterate over in place of `value`; `depth` as for `contents`."""
        return iterated(self, value, location, depth)

    def callee(self, function: Any, location: Location) -> Callable[..., Any]:
        """What to call in place of `function`: mostly its instrumented copy."""
        return calls.callee(self, function, location)

    # Calling

    def run(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Call ``function(*args, **kwargs)`` once, and record what it reads.

        Raises
        ------
        BaseException
            What the function raises, with no frames of ours above the user's.
        """
        location = _location_of(function)
        root = Function(getattr(function, "__name__", type(function).__name__))
        self.observe(function, root, location)
        args, kwargs = self._read_arguments(function, args, kwargs, location)
        callee = self.callee(function, location)
        try:
            with self._watch:
                result = callee(*args, **kwargs)
            self.leaves.returned(result)
            return result
        except BaseException as error:
            error.__traceback__ = _user_frames(error.__traceback__)
            raise
        finally:
            self._close()

    def _read_arguments(
        self,
        function: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        location: Location,
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        self.observe(len(args), Length(Arguments()), location)
        self.guard(Keywords(), HasKeys(frozenset(kwargs)), location)
        if len(kwargs) > 1 and _sees_keyword_order(function):
            self.observe(tuple(kwargs), Elements(Keywords()), location)
        names = _parameter_names(function)
        read = tuple(
            self.observe(arg, Argument(i, names.get(i)), location)
            for i, arg in enumerate(args)
        )
        named = {k: self.observe(v, Keyword(k), location) for k, v in kwargs.items()}
        return read, named

    def _close(self) -> None:
        """Let go of the user's objects; hooks of functions that got out do nothing."""
        self.closed = True
        self._paths.clear()
        self._kept.clear()
        self._observed.clear()
        self._instrumented.clear()
        self.born.clear()
        self.memo.clear()

    def instrumented(
        self, function: FunctionType, location: Location
    ) -> Callable[..., Any]:
        """The instrumented copy of a user function; itself, if it has no source."""
        made = self._instrumented.get(id(function))
        if made is not None:
            return made
        path = self.path_or_held(function)
        is_fixed = is_of_package(function)
        if not is_fixed:
            self.guard(path, IsCode(function.__code__), location)
        try:
            made = instrument(function, FunctionHooks(self, function, path))
        except NoSourceError as reason:
            self.unrecordable(location, str(reason))
            return function
        if not is_fixed:
            self._read_defaults(function, made, path, location)
        self._instrumented[id(function)] = made
        return made

    def _read_defaults(
        self,
        function: FunctionType,
        copy: FunctionType,
        path: Path,
        location: Location,
    ) -> None:
        positional, named = function.__defaults__, function.__kwdefaults__
        values = Attribute(path, "__defaults__")
        if positional is None:
            self.observe(None, values, location)
        else:
            self.observe(len(positional), Length(values), location)
            code = function.__code__
            names = code.co_varnames[: code.co_argcount][-len(positional) :]
            copy.__defaults__ = tuple(
                self.observe(value, Default(path, i, name), location)
                for i, (value, name) in enumerate(zip(positional, names, strict=True))
            )
        if named:
            copy.__kwdefaults__ = {
                name: self.observe(value, Default(path, name, name), location)
                for name, value in named.items()
            }

    def vouched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` with all that it calls unwatched: a user vouched for it."""

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.quietly(functools.partial(function, *args, **kwargs))

        return call

    # The watch

    def quietly(self, function: Callable[..., _T], *args: Any) -> _T:
        """Call code of ours unwatched: a watched interpreter is three times slower."""
        if self._quiet:
            return function(*args)
        self._quiet = True
        self._watch.pause()
        try:
            return function(*args)
        finally:
            self._quiet = False
            self._watch.resume()

    def aloud(self, function: Callable[..., _T], *args: Any) -> _T:
        """Call what may be, or reach, user code from code that runs quietly."""
        if not self._quiet:
            return function(*args)
        self._quiet = False
        self._watch.resume()
        try:
            return function(*args)
        finally:
            self._quiet = True
            self._watch.pause()

    def _is_watched(self, code: CodeType) -> bool:
        return self.trust.is_user_code(code) and not is_instrumented(code)

    def _report(self, code: CodeType) -> None:
        here = Location(code.co_filename, code.co_firstlineno)
        self.unrecordable(
            here, f"{code.co_qualname} was called from code that isn't recorded"
        )

    def location(self) -> Location:
        """The user's line that is being executed."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not is_instrumented(frame.f_code):
            frame = frame.f_back
        if frame is None:
            return Location("<unknown>", 0)
        return Location(frame.f_code.co_filename, frame.f_lineno)


def _location_of(function: Any) -> Location:
    function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        call = attributes.class_value(type(function), "__call__")
        code = getattr(call, "__code__", None)
    if not isinstance(code, CodeType):
        return Location("<unknown>", 0)
    return Location(code.co_filename, code.co_firstlineno)


def _sees_keyword_order(function: Any) -> bool:
    """Whether `function` gathers keyword arguments in a dict, which has their order."""
    if type(function) is MethodType:
        function = function.__func__
    if type(function) is not FunctionType:
        return True
    return bool(function.__code__.co_flags & inspect.CO_VARKEYWORDS)


def _parameter_names(function: Any) -> dict[int, str]:
    skipped = 0
    if isinstance(function, MethodType):
        function, skipped = function.__func__, 1
    if not isinstance(function, FunctionType):
        function, skipped = _called_by(type(function)), 1
    if not isinstance(function, FunctionType):
        return {}
    code = function.__code__
    return dict(enumerate(code.co_varnames[skipped : code.co_argcount]))


def _called_by(cls: type) -> Any:
    """Return the method that a call of an instance runs: a module's is `forward`."""
    forward = attributes.class_value(cls, "forward")
    called = attributes.class_value(cls, "__call__")
    return forward if isinstance(forward, FunctionType) else called


def _user_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this package, which only pass through."""
    kept = []
    while traceback is not None:
        if not _is_ours(traceback.tb_frame.f_code):
            kept.append(traceback)
        traceback = traceback.tb_next
    for entry, following in zip(kept, [*kept[1:], None], strict=False):
        entry.tb_next = following
    return kept[0] if kept else None


_HERE = __file__.rpartition("reads.py")[0]


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(_HERE)
