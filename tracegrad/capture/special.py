"""Builtins that read in a way of their own: `getattr`, `len`, `locals`, `dict.get`."""

import builtins
import functools
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tracegrad.capture import attributes, kinds
from tracegrad.capture.checks import Holds
from tracegrad.capture.effects import Location
from tracegrad.capture.paths import Item, Path, TypeOf
from tracegrad.capture.rewrite import HOOK

if TYPE_CHECKING:
    from tracegrad.capture.reads import ReadRecorder

Callee = Callable[..., Any]
_MISSING: Any = object()


def of_builtin(
    recorder: "ReadRecorder", function: Any, location: Location
) -> Callee | None:
    """What to call for a builtin function that needs more than its arguments read."""
    make = _FUNCTIONS.get(getattr(function, "__name__", ""))
    if make is None or make[0] is not function:
        return None
    callee: Callee = make[1](recorder, location)
    return callee


def of_type(recorder: "ReadRecorder", cls: type, location: Location) -> Callee | None:
    """The same for builtin types."""
    if cls is not type:
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        made = type(*args, **kwargs)
        if len(args) == 1:
            path = recorder.path_of(args[0])
            if path is not None and recorder.path_of(made) is None:
                recorder.enter(made, TypeOf(path))
        else:
            recorder.born[id(made)] = made
        return made

    return call


def _getattr(recorder: "ReadRecorder", location: Location) -> Callee:
    def call(value: Any, name: Any, *default: Any) -> Any:
        if not isinstance(name, str):
            return getattr(value, name, *default)
        if not default:
            return recorder.attribute(value, name, location)
        try:
            return recorder.attribute(value, name, location)
        except AttributeError:
            return default[0]

    return call


def getattribute(recorder: "ReadRecorder", location: Location, *owner: Any) -> Callee:
    """``object.__getattribute__``, bound to an owner or not."""

    def call(value: Any, name: Any) -> Any:
        if not isinstance(name, str) or recorder.leaves.is_leaf(value):
            return object.__getattribute__(value, name)
        return attributes.of_instance(recorder, value, name, location)

    return functools.partial(call, *owner)


def _hasattr(recorder: "ReadRecorder", location: Location) -> Callee:
    def call(value: Any, name: Any) -> bool:
        if not isinstance(name, str):
            return hasattr(value, name)
        try:
            recorder.attribute(value, name, location)
        except AttributeError:
            return False
        return True

    return call


def _storing(function: Callable[..., Any], verb: str) -> Any:
    def make(recorder: "ReadRecorder", location: Location) -> Callee:
        def call(value: Any, name: str, *rest: Any) -> Any:
            path = recorder.path_of(value)
            if recorder.leaves.is_leaf(value):
                sentence = recorder.leaves.store(value, name, location)
                if sentence is not None:
                    recorder.effect(location, sentence)
            elif path is not None:
                recorder.effect(location, f"{verb} {path.text()}.{name}")
            return function(value, name, *rest)

        return call

    return make


def _len(recorder: "ReadRecorder", location: Location) -> Callee:
    def call(value: Any) -> int:
        own = attributes.class_value(type(value), "__len__")
        if isinstance(own, types.FunctionType) and not recorder.leaves.is_leaf(value):
            method = recorder.attribute(value, "__len__", location)
            return int(recorder.callee(method, location)())
        if not recorder.leaves.is_leaf(value):
            recorder.length(value, location)
        return len(value)

    return call


def _id(recorder: "ReadRecorder", location: Location) -> Callee:
    def call(value: Any) -> int:
        recorder.identify(value, location)
        return id(value)

    return call


def _iter(recorder: "ReadRecorder", location: Location) -> Callee:
    def call(value: Any, *sentinel: Any) -> Any:
        if sentinel:
            return iter(recorder.callee(value, location), *sentinel)
        return iter(recorder.iterated(value, location))

    return call


def _vars(recorder: "ReadRecorder", location: Location) -> Callee:
    def call(*value: Any) -> Any:
        if value:
            return recorder.attribute(value[0], "__dict__", location)
        return _frame_locals(sys._getframe(1))

    return call


def _locals(recorder: "ReadRecorder", location: Location) -> Callee:
    def call() -> Any:
        return _frame_locals(sys._getframe(1))

    return call


def _frame_locals(frame: types.FrameType) -> dict[str, Any]:
    return {name: value for name, value in frame.f_locals.items() if name != HOOK}


def _globals(recorder: "ReadRecorder", location: Location) -> Callee:
    def call() -> Any:
        return sys._getframe(1).f_globals

    recorder.unrecordable(location, "reads globals()")
    return call


def _unseen(function: Any, sentence: str) -> Any:
    """A builtin that looks at its caller's frame: it runs there, and isn't followed."""

    def make(recorder: "ReadRecorder", location: Location) -> Callee:
        recorder.unrecordable(location, sentence)
        return function  # type: ignore[no-any-return]

    return make


_FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "getattr": (getattr, _getattr),
    "hasattr": (hasattr, _hasattr),
    "setattr": (setattr, _storing(setattr, "sets")),
    "delattr": (delattr, _storing(delattr, "deletes")),
    "len": (len, _len),
    "iter": (iter, _iter),
    "vars": (vars, _vars),
    "locals": (locals, _locals),
    "globals": (globals, _globals),
    "eval": (eval, _unseen(eval, "calls eval, which may read anything")),
    "exec": (exec, _unseen(exec, "calls exec, which may do anything")),
    "dir": (dir, _unseen(dir, "calls dir, which reads all names")),
    "id": (builtins.id, _id),
    "_getframe": (sys._getframe, _unseen(sys._getframe, "looks at frames")),
}


def of_container(
    recorder: "ReadRecorder", owner: Any, name: str, path: Path, location: Location
) -> Callee | None:
    """Methods of outside containers that read less than all."""
    if kinds.is_overridden(owner):
        return None
    if name in ("get", "__getitem__") and isinstance(owner, dict):
        return _dict_get(recorder, owner, name, path, location)
    if name == "__len__":
        recorder.length(owner, location)
        return getattr(owner, name)  # type: ignore[no-any-return]
    return None


def _dict_get(
    recorder: "ReadRecorder",
    owner: dict[Any, Any],
    name: str,
    path: Path,
    location: Location,
) -> Callee:
    def call(key: Any, *default: Any) -> Any:
        entry = key if kinds.is_key(key) else recorder.path_of(key)
        if entry is None:
            return getattr(recorder.contents(owner, location), name)(key, *default)
        if key in owner:
            return recorder.observe(owner[key], Item(path, entry), location)
        if isinstance(entry, Path):
            recorder.contents(owner, location)
        else:
            recorder.guard(path, Holds(key, False), location)
        return getattr(owner, name)(key, *default)

    return call
