"""What instrumented code asks, statement by statement.

One object per instrumented function and recording, in a cell of the function. Each
method takes the line last. Those that return an object return what the statement is to
work on: mostly the one it gave. `rewrite` says where each is called.
"""

import builtins
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tracegrad.capture import attributes, kinds
from tracegrad.capture.checks import Holds
from tracegrad.capture.effects import Location
from tracegrad.capture.mixed import LeftOperands, beside
from tracegrad.capture.numbers import looked_at, pin_within, without_stand_in
from tracegrad.capture.paths import (
    Attribute,
    Builtins,
    Cell,
    Global,
    Imported,
    Item,
    Namespace,
    Path,
)
from tracegrad.capture.trust import is_of_package

if TYPE_CHECKING:
    from tracegrad.capture.reads import ReadRecorder

_MISSING: Any = object()
_SIMPLE = kinds.SIMPLE


class FunctionHooks:
    """Hooks for the code of one user function."""

    slice = slice

    def __init__(
        self, recorder: "ReadRecorder", function: types.FunctionType, path: Path
    ) -> None:
        self._recorder = recorder
        self._path = path
        self._file = function.__code__.co_filename
        self._globals = function.__globals__
        self._is_fixed = is_of_package(function)
        self._free = function.__code__.co_freevars
        self._cells = function.__closure__ or ()
        self._seen: dict[str, tuple[object, object]] = {}
        self._pending: list[object] = []
        self._lefts = LeftOperands()

    def _at(self, line: int) -> Location:
        return Location(self._file, line)

    # Names

    def name(self, name: str, value: Any, line: int) -> Any:
        """A global or builtin was read."""
        known = self._seen.get(name)
        if known is not None and known[0] is value:
            return known[1]
        if self._recorder.closed:
            return value
        return self._recorder.quietly(self._first_name, name, value, self._at(line))

    def _first_name(self, name: str, value: Any, location: Location) -> Any:
        recorder = self._recorder
        if self._is_fixed:
            namespace: Path = Namespace(self._globals)
        else:
            own = Attribute(self._path, "__globals__")
            recorder.observe(self._globals, own, location)
            namespace = recorder.path_of(self._globals) or own
        if name in self._globals:
            shown = recorder.observe(value, Global(namespace, name), location)
        elif self._is_fixed or vars(builtins).get(name, _MISSING) is not value:
            return value
        else:
            recorder.guard(namespace, Holds(name, False), location)
            shown = recorder.observe(value, Item(Builtins(), name), location)
        self._seen[name] = value, shown
        return shown

    def cell(self, name: str, value: Any, line: int) -> Any:
        """A free variable of the outermost function was read."""
        known = self._seen.get(name)
        if known is not None and known[0] is value:
            return known[1]
        if self._recorder.closed or name not in self._free:
            return value
        index = self._free.index(name)
        if self._cells[index].cell_contents is not value:
            return value
        path = Cell(self._path, index, name)
        shown = self._recorder.observe(value, path, self._at(line))
        self._seen[name] = value, shown
        return shown

    def class_name(self, name: str, value: Any, line: int) -> Any:
        """A name was read in a class body that binds it, perhaps later."""
        if self._globals.get(name, _MISSING) is value:
            return self.name(name, value, line)
        return value

    def rebound(self, name: str, line: int) -> None:
        """A global, or a variable of a function outside, is about to be bound anew."""
        if not self._recorder.closed:
            self._recorder.effect(self._at(line), f"rebinds `{name}`")
            self._seen.clear()

    # Attributes and items

    def attribute(self, value: Any, name: str, line: int) -> Any:
        """``value.name``."""
        memo = self._recorder.memo.get((id(value), name))
        if memo is not None and memo[0].get(name, _MISSING) is memo[1]:
            return memo[2]
        if self._recorder.closed:
            return getattr(value, name)
        recorder = self._recorder
        return recorder.quietly(recorder.attribute, value, name, self._at(line))

    def holder(self, value: Any, name: str, line: int) -> Any:
        """``value.name`` is about to be set or deleted."""
        recorder = self._recorder
        if recorder.closed:
            return value
        if recorder.leaves.is_leaf(value):
            sentence = recorder.leaves.store(value, name, self._at(line))
            if sentence is not None:
                recorder.effect(self._at(line), sentence)
            return value
        if (where := self._outside(value)) is not None:
            recorder.effect(self._at(line), f"sets {where}.{name}")
            return _AttributeSetter(_set_plain, value)
        setter = attributes.class_value(type(value), "__setattr__")
        if isinstance(setter, types.FunctionType):
            return _AttributeSetter(recorder.callee(setter, self._at(line)), value)
        return value

    def _outside(self, value: Any) -> str | None:
        """What to call an object from outside; None for one born inside."""
        path = self._recorder.path_of(value)
        if path is not None:
            return path.text()
        if issubclass(type(value), (type, types.ModuleType)):
            born = id(value) in self._recorder.born
            return None if born else value.__name__
        return None

    def item(self, value: Any, key: Any, line: int) -> Any:
        """``value[key]``."""
        recorder = self._recorder
        key = looked_at(key)
        if recorder.closed or type(value) is tuple:
            return value[key]
        if recorder.leaves.is_leaf(value):
            return value[recorder.contents(key, self._at(line))]
        if type(value) not in kinds.PLAIN:
            method = self._user_method(value, "__getitem__", line)
            if method is not None:
                return method(key)
        path = recorder.path_of(value)
        if path is None or issubclass(type(value), (tuple, type)):
            recorder.identify(key, self._at(line))
            return value[key]
        if not kinds.is_container(value):
            return recorder.contents(value, self._at(line), 4, True)[key]
        return self._outside_item(value, key, path, self._at(line))

    def _outside_item(
        self, value: Any, key: Any, path: Path, location: Location
    ) -> Any:
        recorder = self._recorder
        entry = key if kinds.is_key(key) else recorder.path_of(key)
        if issubclass(type(value), np.ndarray) or entry is None or type(key) is slice:
            return recorder.contents(value, location)[key]
        if issubclass(type(value), dict) and key not in value:
            if hasattr(type(value), "__missing__"):
                recorder.effect(location, f"reads `{path}`, which fills in keys")
            elif not isinstance(entry, Path):
                recorder.guard(path, Holds(key, False), location)
            return value[key]  # raises, or fills in
        sequence = type(key) is int and not issubclass(type(value), dict)
        if sequence and not -len(value) <= key < len(value):
            recorder.length(value, location)
        return recorder.observe(value[key], Item(path, entry), location)

    def key(self, key: Any, line: int) -> Any:
        """What stands in the brackets of an item to be set or deleted."""
        return looked_at(key)

    def container(self, value: Any, line: int) -> Any:
        """``value[…]`` is about to be set or deleted."""
        recorder = self._recorder
        if recorder.closed or recorder.leaves.is_leaf(value):
            return value
        if (where := self._outside(value)) is not None:
            recorder.effect(self._at(line), f"sets an item of {where}")
            return _PlainItemSetter(value)
        setter = self._user_function(value, "__setitem__")
        deleter = self._user_function(value, "__delitem__")
        if setter is None and deleter is None:
            return value
        return _ItemSetter(recorder, value, self._at(line))

    # Augmented assignment

    def augmented_name(self, value: Any, place: int, line: int) -> None:
        """A variable is about to be changed by an augmented assignment."""
        self._lefts.keep(value, place)
        self.augmented(value, line)

    def augmented(self, value: Any, line: int) -> None:
        """`value` is about to be changed in place by an augmented assignment."""
        recorder = self._recorder
        if type(value) in _SIMPLE or recorder.closed or recorder.leaves.is_leaf(value):
            return
        path = recorder.path_of(value)
        if path is not None and not issubclass(type(value), (tuple, frozenset)):
            recorder.effect(self._at(line), f"changes `{path}` in place")

    def augmented_holder(self, value: Any, name: str, place: int, line: int) -> Any:
        """``value.name`` is about to be read, changed and set."""
        if self._recorder.closed:
            return value
        if self._recorder.leaves.is_leaf(value):
            self._lefts.keep(getattr(value, name, None), place)
            return value
        namespace = attributes.instance_namespace(value) or {}
        held = namespace.get(name, attributes.class_value(type(value), name))
        if name not in namespace and not hasattr(type(held), "__get__"):
            self.attribute(value, name, line)
        self._lefts.keep(held, place)
        self.augmented(held, line)
        return self.holder(value, name, line)

    def augmented_container(self, value: Any, line: int) -> Any:
        """``value[…]`` is about to be read, changed and set."""
        self._pending.append(value)
        return self.container(value, line)

    def augmented_key(self, key: Any, place: int, line: int) -> Any:
        """The index of that item."""
        value: Any = self._pending.pop()
        key = looked_at(key)
        self._lefts.keep(value, place)
        if issubclass(type(value), (list, dict)):
            try:
                held = value[key]
            except (LookupError, TypeError):
                return key
            self._lefts.keep(held, place)
            self.augmented(held, line)
        return key

    # Calls

    def function(self, function: Any, line: int) -> Callable[..., Any]:
        """`function` is about to be called."""
        if self._recorder.closed:
            return function  # type: ignore[no-any-return]
        recorder = self._recorder
        return recorder.quietly(recorder.callee, function, self._at(line))

    def mapping(self, value: Any, line: int) -> Any:
        """``**value``."""
        return self._contents(value, line, 0)

    def _contents(self, value: Any, line: int, depth: int = 4) -> Any:
        recorder = self._recorder
        if recorder.closed or recorder.path_of(value) is None:
            return value
        return recorder.contents(value, self._at(line), depth)

    # Operators

    def operand(self, value: Any, line: int) -> Any:
        """`value` is an operand, or is formatted, so that all of it is read."""
        recorder = self._recorder
        if type(value) in _SIMPLE or recorder.closed or recorder.leaves.is_leaf(value):
            return value
        return recorder.quietly(recorder.contents, value, self._at(line), 4, True)

    def left(self, value: Any, place: int, line: int) -> Any:
        """`value` is the left operand of the operator at `place`."""
        self._lefts.keep(value, place)
        return value

    def right(self, value: Any, place: int, method: str, line: int) -> Any:
        """`value` is the right operand of the operator at `place`."""
        left = self._lefts.take(place)
        if self._recorder.closed or self._recorder.leaves.is_leaf(left):
            return value
        return beside(left, value, method)

    def compared(self, value: Any, line: int) -> Any:
        """`value` is one of several that are compared in a chain."""
        pin_within(value)
        return without_stand_in(value)

    def contains(self, element: Any, container: Any, line: int) -> bool:
        """``element in container``."""
        recorder = self._recorder
        if recorder.closed or recorder.leaves.is_leaf(container):
            return element in container
        recorder.identify(element, self._at(line))
        if type(container) not in kinds.PLAIN:
            method = self._user_method(container, "__contains__", line)
            if method is not None:
                return bool(method(element))
        path = recorder.path_of(container)
        keyed = issubclass(type(container), (dict, set, frozenset))
        if keyed and path is not None and kinds.is_key(element):
            found = element in container
            recorder.guard(path, Holds(element, found), self._at(line))
            return found
        element = without_stand_in(self.operand(element, line))
        container = self.operand(container, line)
        pin_within(container)
        return element in container

    def same(self, a: Any, b: Any, line: int) -> bool:
        """``a is b``."""
        if not self._recorder.closed:
            self._recorder.compare_identity(a, b, self._at(line))
        return a is b

    def truth(self, value: Any, line: int) -> Any:
        """`value` decides what runs; what is returned is as true as it is."""
        recorder = self._recorder
        if type(value) in _SIMPLE or recorder.closed:
            return value
        if recorder.leaves.is_leaf(value):
            return recorder.leaves.truth(value, self._at(line))
        for name in ("__bool__", "__len__"):
            method = self._user_method(value, name, line)
            if method is not None:
                return method()
        return self.tested(value, line)

    def tested(self, value: Any, line: int) -> Any:
        """`value` is an operand of `and` or `or`, which may return it."""
        recorder = self._recorder
        if type(value) in _SIMPLE or recorder.closed or recorder.leaves.is_leaf(value):
            return value
        if kinds.is_container(value):
            if issubclass(type(value), np.ndarray):
                return recorder.contents(value, self._at(line))
            recorder.length(value, self._at(line))
        return value

    # Iteration

    def iterated(self, value: Any, depth: int, line: int) -> Any:
        """`value` is about to be iterated over, its elements unpacked `depth` deep."""
        recorder = self._recorder
        if recorder.closed:
            return value
        return recorder.iterated(value, self._at(line), depth)

    def unpacked(self, value: Any, depth: int, kept: bool, line: int) -> Any:
        """`value` is about to be unpacked; it is `kept` if it is bound as well."""
        recorder = self._recorder
        if recorder.closed:
            return value
        shown = recorder.iterated(value, self._at(line), depth - 1)
        if kept and shown is not value:
            recorder.unrecordable(self._at(line), "binds and unpacks one object")
            return value
        return shown

    def _user_function(self, value: Any, name: str) -> types.FunctionType | None:
        found = attributes.class_value(type(value), name)
        return found if isinstance(found, types.FunctionType) else None

    def _user_method(
        self, value: Any, name: str, line: int
    ) -> Callable[..., Any] | None:
        """The special method, instrumented, if it is written in Python."""
        if issubclass(type(value), type) or self._user_function(value, name) is None:
            return None
        return user_method(self._recorder, value, name, self._at(line))

    # Statements

    def context(self, value: Any, line: int) -> Any:
        """`value` is about to be entered by `with`."""
        recorder = self._recorder
        if recorder.closed or recorder.leaves.is_leaf(value):
            return value
        enter = self._user_function(value, "__enter__")
        if enter is not None and recorder.trust.is_user_code(enter.__code__):
            return _Context(recorder, value, self._at(line))
        path = recorder.path_of(value)
        if path is not None and not type(value).__module__.startswith("tracegrad"):
            recorder.effect(self._at(line), f"enters `{path}`")
        return value

    def born(self, cls: Any) -> Any:
        """A class was made by a `class` statement, or by its decorators."""
        self._recorder.born[id(cls)] = cls
        return cls

    def caught(self, line: int) -> None:
        """An exception was caught; one that tells of a missing global is a read."""
        error = sys.exc_info()[1]
        if type(error) is NameError and not self._recorder.closed:
            self._recorder.unrecordable(self._at(line), f"catches “{error}”")

    def imported(self, value: Any, module: str, line: int) -> Any:
        """``import module`` bound `value`."""
        if self._recorder.closed:
            return value
        return self._recorder.observe(value, Imported(module), self._at(line))

    def imported_name(self, value: Any, module: str, name: str, line: int) -> Any:
        """``from module import name`` bound `value`."""
        if self._recorder.closed:
            return value
        package = self._globals.get("__package__") or ""
        path = Imported(importlib.util.resolve_name(module, package))
        return self._recorder.observe(value, Attribute(path, name), self._at(line))

    def matched(self, value: Any, line: int) -> Any:
        """`value` is the subject of `match`."""
        return self.operand(value, line)

    def attempt(self, read: Callable[[], object], line: int) -> None:
        """Read what a pattern names, which it may never come to."""
        try:
            read()
        except Exception:
            return


def user_method(
    recorder: "ReadRecorder", value: Any, name: str, location: Location
) -> Callable[..., Any]:
    """A special method of the class of `value`, bound to it and instrumented."""
    found = attributes.class_value(type(value), name)
    attributes.observe_in_class(recorder, type(value), value, name, location)
    return recorder.callee(types.MethodType(found, value), location)


def iterated(
    recorder: "ReadRecorder", value: Any, location: Location, depth: int
) -> Any:
    """What to iterate over in place of `value`."""
    if type(value) in _SIMPLE or recorder.leaves.is_leaf(value):
        return value
    if type(value) in kinds.PLAIN:
        return recorder.contents(value, location, depth)
    own = attributes.class_value(type(value), "__iter__")
    if isinstance(own, types.FunctionType) and not issubclass(type(value), type):
        made = user_method(recorder, value, "__iter__", location)()
        step = attributes.class_value(type(made), "__next__")
        if isinstance(step, types.FunctionType):
            return _steps(user_method(recorder, made, "__next__", location))
        return made
    path = recorder.path_of(value)
    if path is not None and hasattr(type(value), "__next__"):
        recorder.effect(location, f"consumes the iterator `{path}`")
        return value
    return recorder.contents(value, location, depth)


def _steps(step: Callable[[], Any]) -> Iterator[Any]:
    while True:
        try:
            value = step()
        except StopIteration:
            return
        yield value


def _set_plain(value: Any, name: str, new: Any) -> None:
    """Set an attribute of an object from outside, which no stand-in may reach."""
    setattr(value, name, without_stand_in(new))


class _PlainItemSetter:
    """Stands for an object from outside in ``object[key] = …``."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __setitem__(self, key: Any, new: Any) -> None:
        self._value[key] = without_stand_in(new)

    def __delitem__(self, key: Any) -> None:
        del self._value[key]

    def __getitem__(self, key: Any) -> Any:
        return self._value[key]


class _AttributeSetter:
    """Stands for an object in ``object.name = …``: runs its own `__setattr__`."""

    __slots__ = ("_set", "_value")

    def __init__(self, setter: Callable[..., Any], value: Any) -> None:
        object.__setattr__(self, "_set", setter)
        object.__setattr__(self, "_value", value)

    def __setattr__(self, name: str, value: Any) -> None:
        self._set(self._value, name, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value, name)

    def __delattr__(self, name: str) -> None:
        delattr(self._value, name)


class _ItemSetter:
    """Stands for an object in ``object[key] = …``: runs its own methods."""

    def __init__(self, recorder: "ReadRecorder", value: Any, at: Location) -> None:
        self._recorder, self._value, self._at = recorder, value, at

    def _method(self, name: str) -> Callable[..., Any]:
        return user_method(self._recorder, self._value, name, self._at)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._method("__setitem__")(key, value)

    def __delitem__(self, key: Any) -> None:
        self._method("__delitem__")(key)

    def __getitem__(self, key: Any) -> Any:
        return self._method("__getitem__")(key)


class _Context:
    """Stands for a context manager of the user's: enters and leaves it instrumented."""

    def __init__(self, recorder: "ReadRecorder", value: Any, at: Location) -> None:
        self._enter = user_method(recorder, value, "__enter__", at)
        self._exit = user_method(recorder, value, "__exit__", at)

    def __enter__(self) -> Any:
        return self._enter()

    def __exit__(self, *error: Any) -> Any:
        return self._exit(*error)


__all__ = ["FunctionHooks", "iterated", "user_method"]
