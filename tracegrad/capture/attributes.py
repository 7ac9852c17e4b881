"""Read an attribute as Python does, and record each thing that decides its value.

User code that Python would run on the way (properties, `__getattr__`, `__get__`) is run
instrumented.
"""

import functools
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tracegrad.capture.checks import HEAP_TYPE, Holds, Lacks
from tracegrad.capture.effects import Location
from tracegrad.capture.paths import (
    Attribute,
    ClassAttribute,
    Item,
    ParentAttribute,
    Path,
    find_in_parents,
)

if TYPE_CHECKING:
    from tracegrad.capture.reads import ReadRecorder

MISSING: Any = object()
_SLOT_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)
# Nothing of a user's can be on objects of these types, nor change.
_CLOSED = frozenset({int, float, complex, bool, str, bytes, list, dict, set, frozenset})


def read(recorder: "ReadRecorder", value: Any, name: str, location: Location) -> Any:
    """The attribute `name` of `value`.

    Raises
    ------
    AttributeError
        As Python raises it.
    """
    kind = type(value)
    if kind in _CLOSED:
        return getattr(value, name)
    if recorder.leaves.is_leaf(value):
        path = recorder.path_of(value)
        return recorder.aloud(recorder.leaves.attribute, value, name, path, location)
    if kind is types.ModuleType:
        return _of_module(recorder, value, name, location)
    if issubclass(type(value), type):
        return _of_class(recorder, value, name, location)
    if kind is super:
        return _of_super(recorder, value, name, location)
    return _of_instance(recorder, value, name, location)


def _of_module(
    recorder: "ReadRecorder", module: Any, name: str, location: Location
) -> Any:
    path = recorder.path_or_held(module)
    own = Attribute(path, name)
    if module.__name__.partition(".")[0] == "tracegrad":
        # It loads some of its parts when they are first asked for.
        getattr(module, name)
    if name in vars(module):
        return _remembered(recorder, module, name, vars(module), own, location)
    recorder.guard(Attribute(path, "__dict__"), Holds(name, False), location)
    return recorder.observe(getattr(module, name), own, location)


def _of_class(
    recorder: "ReadRecorder", cls: type, name: str, location: Location
) -> Any:
    if class_value(cls, name) is MISSING:
        _guard_absence(recorder, cls, None, name, location)
    value = recorder.aloud(getattr, cls, name)
    if id(cls) in recorder.born:
        observe_in_class(recorder, cls, None, name, location)
        return value
    if not cls.__flags__ & HEAP_TYPE:
        return value
    path = recorder.path_or_held(cls)
    return recorder.observe(value, Attribute(path, name), location)


def _of_super(
    recorder: "ReadRecorder", value: Any, name: str, location: Location
) -> Any:
    own, owner = value.__self_class__, value.__thisclass__
    try:
        found = find_in_parents(own, owner, name)
    except (AttributeError, ValueError):
        return getattr(value, name)
    own_path = recorder.class_path(own, value.__self__)
    if own_path is None or id(owner) in recorder.born:
        order = own.__mro__
        _observe_in_order(
            recorder, order[order.index(owner) + 1 :], name, found, location
        )
    else:
        path = ParentAttribute(own_path, recorder.path_or_held(owner), name)
        recorder.observe(found, path, location)
    if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        return recorder.aloud(recorder.callee(found.fget, location), value.__self__)
    return getattr(value, name)


def _of_instance(
    recorder: "ReadRecorder", value: Any, name: str, location: Location
) -> Any:
    lookup = class_value(type(value), "__getattribute__")
    if isinstance(lookup, types.FunctionType):
        observe_in_class(recorder, type(value), value, "__getattribute__", location)
        return recorder.aloud(recorder.callee(lookup, location), value, name)
    return of_instance(recorder, value, name, location)


def of_instance(
    recorder: "ReadRecorder", value: Any, name: str, location: Location
) -> Any:
    """The attribute of a plain object, its own `__getattribute__` aside."""
    found = class_value(type(value), name)
    if found is not MISSING and _is_data_descriptor(found):
        return _through_descriptor(recorder, value, name, found, location)
    path = recorder.path_of(value)
    namespace = instance_namespace(value)
    if namespace is not None and name in namespace:
        if path is None:
            return namespace[name]
        own = Attribute(path, name)
        return _remembered(recorder, value, name, namespace, own, location)
    if path is not None and namespace is not None:
        recorder.guard(Attribute(path, "__dict__"), Holds(name, False), location)
    if found is not MISSING:
        return _from_class(recorder, value, name, found, location)
    return _missing(recorder, value, name, namespace, location)


def _remembered(
    recorder: "ReadRecorder",
    owner: Any,
    name: str,
    namespace: dict[str, Any],
    path: Path,
    location: Location,
) -> Any:
    """Read ``namespace[name]``, where an attribute of `owner` is, and remember it."""
    value = namespace[name]
    shown = recorder.observe(value, path, location)
    recorder.memo[id(owner), name] = namespace, value, shown
    return shown


def class_value(cls: type, name: str) -> Any:
    """What the class or a base holds for `name`, or `MISSING`."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return MISSING


def instance_namespace(value: Any) -> dict[str, Any] | None:
    """The object's own `__dict__`, whatever its class says; None if it has none."""
    try:
        namespace = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return namespace if isinstance(namespace, dict) else None


def _is_data_descriptor(found: Any) -> bool:
    cls = type(found)
    return class_value(cls, "__get__") is not MISSING and (
        class_value(cls, "__set__") is not MISSING
        or class_value(cls, "__delete__") is not MISSING
    )


def observe_in_class(
    recorder: "ReadRecorder", cls: type, value: Any, name: str, location: Location
) -> Any:
    """Guard what the class of `value` holds for `name`; that, or `MISSING`."""
    found = class_value(cls, name)
    if found is MISSING:
        return found
    path = recorder.class_path(cls, value)
    if path is not None:
        own = ClassAttribute(path, name, _is_plain(found))
        return recorder.observe(found, own, location)
    if id(cls) in recorder.born:
        return _observe_in_order(recorder, cls.__mro__, name, found, location)
    return found


def _observe_in_order(
    recorder: "ReadRecorder",
    order: Iterable[type],
    name: str,
    found: Any,
    location: Location,
) -> Any:
    """Guard what the bases from outside of a class born inside hold for `name`."""
    for base in order:
        holds = name in base.__dict__
        if id(base) in recorder.born or not base.__flags__ & HEAP_TYPE:
            if holds:
                return found
            continue
        path = recorder.path_or_held(base)
        if holds:
            own = ClassAttribute(path, name, _is_plain(found))
            return recorder.observe(found, own, location)
        recorder.guard(Attribute(path, "__dict__"), Holds(name, False), location)
    return found


def _is_fixed(cls: type) -> bool:
    """Whether nobody gives a class new attributes: builtin ones, tracegrad's own."""
    own = cls.__module__.partition(".")[0] == "tracegrad"
    return not cls.__flags__ & HEAP_TYPE or own


def _guard_absence(
    recorder: "ReadRecorder", cls: type, value: Any, name: str, location: Location
) -> None:
    """Guard that neither the class of `value` nor a base of it holds `name`."""
    if all(map(_is_fixed, cls.__mro__)):
        return
    path = recorder.class_path(cls, value)
    if path is not None:
        recorder.guard(path, Lacks(name, True), location)
    elif id(cls) in recorder.born:
        _observe_in_order(recorder, cls.__mro__, name, MISSING, location)


def _is_plain(found: Any) -> bool:
    """Whether a class shows `found` as it holds it."""
    return isinstance(found, (types.FunctionType, property)) or not hasattr(
        type(found), "__get__"
    )


def _through_descriptor(
    recorder: "ReadRecorder",
    value: Any,
    name: str,
    found: Any,
    location: Location,
) -> Any:
    if isinstance(found, _SLOT_DESCRIPTORS):
        path = recorder.path_of(value)
        if path is None:
            return getattr(value, name)
        try:
            held = getattr(value, name)
        except AttributeError:
            recorder.guard(path, Lacks(name, False), location)
            raise
        return recorder.observe(held, Attribute(path, name), location)
    observe_in_class(recorder, type(value), value, name, location)
    if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        return recorder.aloud(recorder.callee(found.fget, location), value)
    return _get(recorder, value, name, found, location)


def _get(
    recorder: "ReadRecorder",
    value: Any,
    name: str,
    found: Any,
    location: Location,
) -> Any:
    """Apply a descriptor; one that is written in Python runs instrumented."""
    getter = class_value(type(found), "__get__")
    if isinstance(getter, types.FunctionType) and not isinstance(
        found, functools.cached_property
    ):
        get = recorder.callee(getter, location)
        return recorder.aloud(get, found, value, type(value))
    return recorder.aloud(getattr, value, name)


def _from_class(
    recorder: "ReadRecorder",
    value: Any,
    name: str,
    found: Any,
    location: Location,
) -> Any:
    if isinstance(found, functools.cached_property):
        if (path := recorder.path_of(value)) is not None:
            recorder.effect(location, f"fills the cached property `{path}.{name}`")
        return recorder.aloud(getattr, value, name)
    shown = observe_in_class(recorder, type(value), value, name, location)
    if isinstance(found, (types.FunctionType, staticmethod, classmethod)):
        return getattr(value, name)
    if class_value(type(found), "__get__") is MISSING:
        return shown
    return _get(recorder, value, name, found, location)


def _missing(
    recorder: "ReadRecorder",
    value: Any,
    name: str,
    namespace: dict[str, Any] | None,
    location: Location,
) -> Any:
    _guard_absence(recorder, type(value), value, name, location)
    fallback = class_value(type(value), "__getattr__")
    if not isinstance(fallback, types.FunctionType):
        return getattr(value, name)  # raises
    observe_in_class(recorder, type(value), value, "__getattr__", location)
    dicts = class_value(type(value), "__guard_dicts__")
    if dicts is not MISSING and namespace is not None:
        found = _in_dicts(recorder, value, name, namespace, dicts, location)
        if found is not MISSING:
            return found
    return recorder.aloud(recorder.callee(fallback, location), value, name)


def _in_dicts(
    recorder: "ReadRecorder",
    value: Any,
    name: str,
    namespace: dict[str, Any],
    dicts: tuple[str, ...],
    location: Location,
) -> Any:
    """Look `name` up where the class says that its `__getattr__` would."""
    path = recorder.path_of(value)
    for own in dicts:
        inner = namespace.get(own)
        if inner is None:
            continue
        if path is None:
            if name in inner:
                return inner[name]
            continue
        inner_path = Attribute(path, own)
        if type(inner) is not dict:
            recorder.observe(inner, inner_path, location)
        elif recorder.path_of(inner) is None:
            # That it holds the name, or does not, says enough of it.
            recorder.enter(inner, inner_path)
        if name in inner:
            entry = Item(inner_path, name)
            return _remembered(recorder, value, name, inner, entry, location)
        recorder.guard(inner_path, Holds(name, False), location)
    return MISSING
