"""How an object from outside is guarded by its kind: values at once, others in part."""

import copyreg
import datetime
import re
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tracegrad.capture.checks import (
    HEAP_TYPE,
    Exactly,
    HasBaseValue,
    HasContents,
    HasElements,
    HasType,
    Is,
    IsCode,
    IsStill,
    is_uniform,
    value_check,
)
from tracegrad.capture.effects import Location
from tracegrad.capture.paths import Attribute, Elements, Item, Length, Path
from tracegrad.capture.trust import is_of_package
from tracegrad.dispatch.plans import PLANNED

if TYPE_CHECKING:
    from tracegrad.capture.reads import ReadRecorder

__all__ = ["HEAP_TYPE", "contents", "equal_numbers", "is_value", "read"]

SIMPLE = frozenset(
    {
        *(int, float, complex, bool, str, bytes, range, type(None)),
        *(type(Ellipsis), type(NotImplemented)),
    }
)
_IMMUTABLE = frozenset(
    {re.Pattern, datetime.date, datetime.time, datetime.datetime, datetime.timedelta}
)
# Below, `issubclass(type(value), …)` stands where `isinstance` would ask `value` for
# its `__class__`, which a user's `__getattribute__` may answer.
BUILTIN_CALLABLES = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)


def is_value(value: object) -> bool:
    """Whether `value` is immutable, so that a guard may store it."""
    kind = type(value)
    if kind in SIMPLE:
        return True
    if kind is slice:
        return all(map(is_value, (value.start, value.stop, value.step)))  # type: ignore[attr-defined]
    if kind is frozenset:
        return all(map(is_value, value))  # type: ignore[call-overload]
    return kind in _IMMUTABLE or issubclass(kind, (np.dtype, np.generic))


def is_key(value: object) -> bool:
    """Whether `value` can stand in a path as the key of an item."""
    if type(value) is tuple:
        return all(map(is_key, value))
    return is_value(value) or issubclass(type(value), Enum)


def equal_numbers(value: object, other: object) -> bool:
    """Whether two objects are the same number, of one type."""
    return type(value) is type(other) and type(value) in (int, float) and value == other


def read(recorder: "ReadRecorder", value: Any, path: Path, location: Location) -> Any:
    """Guard an object that is neither leaf nor value; return what stands for it."""
    for kind, reader in _READERS:
        if issubclass(type(value), kind):
            return reader(recorder, value, path, location)
    recorder.guard(path, HasType(type(value)), location)
    return value


def _read_identity(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> Any:
    try:
        check: Is | IsStill = IsStill(value)
    except TypeError:  # without weak references: ufuncs, members of an IntEnum
        check = Is(value)
    recorder.guard(path, check, location)
    return value


def _read_function(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> Any:
    if is_of_package(value) or PLANNED in value.__dict__:
        # Functions that one decorator made share its code.
        recorder.guard(path, Is(value), location)
        return value
    recorder.guard(path, HasType(type(value)), location)
    recorder.guard(path, IsCode(value.__code__), location)
    return value


def _read_parts(
    *names: str,
) -> Callable[["ReadRecorder", Any, Path, Location], Any]:
    def reader(
        recorder: "ReadRecorder", value: Any, path: Path, location: Location
    ) -> Any:
        recorder.guard(path, HasType(type(value)), location)
        for name in names:
            recorder.observe(getattr(value, name), Attribute(path, name), location)
        return value

    return reader


def _read_base_value(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> Any:
    """An instance of a subclass of `int`, `str`, …: its value is fixed all the same."""
    recorder.guard(path, HasType(type(value)), location)
    recorder.guard(path, HasBaseValue(value), location)
    return value


def _read_builtin(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> Any:
    owner = getattr(value, "__self__", None)
    if owner is None or isinstance(owner, (types.ModuleType, type)):
        recorder.guard(path, Is(value), location)
        return value
    return _read_parts("__self__", "__name__")(recorder, value, path, location)


def _read_tuple(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> Any:
    recorder.guard(path, HasType(type(value)), location)
    if type(value) is tuple and all(type(element) is str for element in value):
        recorder.guard(path, value_check(value), location)
        return value
    return _read_sequence(recorder, value, path, location)


def _read_sequence(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> Any:
    if is_uniform(value) and not recorder.has_dynamic_items(path):
        recorder.guard(path, HasElements(value), location)
        return value
    recorder.observe(len(value), Length(path), location)
    return _read_items(recorder, value, path, enumerate(value), location)


def _read_items(
    recorder: "ReadRecorder",
    value: Any,
    path: Path,
    items: "Iterable[tuple[Any, Any]]",
    location: Location,
) -> Any:
    """Observe elements by key; a copy if dynamic numbers are among them."""
    before = list(items)
    after = [recorder.observe(v, Item(path, k), location) for k, v in before]
    if all(new is old for new, (_, old) in zip(after, before, strict=True)):
        return value
    if issubclass(type(value), dict):
        copy = value.copy()
        copy.update(zip(list(value), after, strict=True))
        return copy
    return type(value)._make(after) if hasattr(value, "_make") else type(value)(after)


_READERS: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (types.FunctionType, _read_function),
    (types.MethodType, _read_parts("__func__", "__self__")),
    ((type, types.ModuleType, Enum, np.ufunc), _read_identity),
    ((int, float, complex, str, bytes), _read_base_value),
    (BUILTIN_CALLABLES, _read_builtin),
    (property, _read_parts("fget")),
    ((staticmethod, classmethod), _read_parts("__func__")),
    (tuple, _read_tuple),
    (partial, _read_parts("func", "args", "keywords")),
)


def contents(
    recorder: "ReadRecorder",
    value: Any,
    location: Location,
    depth: int,
    instances: bool,
) -> Any:
    """Guard all that a container from outside holds, `depth` levels deep.

    A container born inside is looked through for others from outside. With
    `instances`, objects of user classes count as containers of their attributes.
    """
    if type(value) in SIMPLE or recorder.leaves.is_leaf(value):
        return value
    path = recorder.path_of(value)
    if path is not None:
        value = _read_contents(recorder, value, path, location, instances)
    if depth > 0:
        for element in _elements(value, instances):
            if type(element) not in SIMPLE:
                contents(recorder, element, location, depth - 1, instances)
    return value


def _read_contents(
    recorder: "ReadRecorder",
    value: Any,
    path: Path,
    location: Location,
    instances: bool,
) -> Any:
    if is_overridden(value):
        unknown(recorder, value, path, location)
        return value
    if issubclass(type(value), np.ndarray):
        _read_array(recorder, value, path, location)
        return value
    if issubclass(type(value), bytearray):
        recorder.guard(path, Exactly(bytearray(value)), location)
        return value
    if issubclass(type(value), dict):
        keys = read_keys(recorder, value, path, location)
        return _read_items(recorder, value, path, keys, location)
    if issubclass(type(value), (set, frozenset)):
        read_elements(recorder, value, path, location)
        return value
    if issubclass(type(value), (list, deque)):
        return _read_sequence(recorder, value, path, location)
    if type(value).__flags__ & HEAP_TYPE:
        if instances:
            _read_instance(recorder, value, path, location)
    elif not issubclass(type(value), _PARTLESS) and type(value) is not object:
        unknown(recorder, value, path, location)
    return value


_PARTLESS = (
    types.FunctionType,
    types.MethodType,
    type,
    types.ModuleType,
    types.GenericAlias,
    types.UnionType,
    np.ufunc,
    property,
    staticmethod,
    classmethod,
    partial,
    tuple,
    *BUILTIN_CALLABLES,
)


def unknown(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> None:
    """All of an object was read of which it isn't known how that could be guarded."""
    kind = type(value).__qualname__
    recorder.unrecordable(location, f"reads all of `{path}`, of type {kind}")


def _read_instance(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> None:
    if issubclass(type(value), (type, types.ModuleType, Enum)):
        return
    namespace = _namespace(value)
    if namespace:
        read_elements(recorder, namespace, Attribute(path, "__dict__"), location)
    for name, part in {**namespace, **_slots(value)}.items():
        recorder.observe(part, Attribute(path, name), location)


def _slots(value: Any) -> dict[str, Any]:
    names: list[str] = copyreg._slotnames(type(value))  # type: ignore[attr-defined]
    found = {}
    for name in names:
        try:
            found[name] = object.__getattribute__(value, name)
        except AttributeError:
            continue
    return found


def _namespace(value: Any) -> dict[str, Any]:
    """The attributes of a plain object: its own `__dict__`, whatever its class says."""
    if issubclass(type(value), (type, types.ModuleType, types.FunctionType, Enum)):
        return {}
    try:
        namespace = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return namespace if type(namespace) is dict else {}


def read_elements(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> None:
    """The elements of a set, or keys of a dict, in order, were read."""
    elements = Elements(path)
    recorder.observe(tuple(value), elements, location)


def read_keys(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> list[tuple[Any, Any]]:
    """Read a dict's keys; its items, with paths for keys that aren't values."""
    read_elements(recorder, value, path, location)
    return [
        (key if is_key(key) else Item(Elements(path), i), part)
        for i, (key, part) in enumerate(value.items())
    ]


def _read_array(
    recorder: "ReadRecorder", value: Any, path: Path, location: Location
) -> None:
    if value.dtype.hasobject:
        recorder.unrecordable(location, f"reads `{path}`, an array of Python objects")
        return
    check = HasContents(value.dtype, value.shape, value.tobytes())
    recorder.guard(path, check, location)


def _elements(value: Any, instances: bool) -> Iterable[Any]:
    if issubclass(type(value), (list, tuple, set, frozenset, deque)):
        return list(value)
    if issubclass(type(value), dict):
        return [*value.keys(), *value.values()]
    if issubclass(type(value), slice):
        return value.start, value.stop, value.step
    return list(_namespace(value).values()) if instances else ()


def is_container(value: Any) -> bool:
    """Whether `value` is of a type, or of a subclass of one, that holds elements."""
    return type(value) in PLAIN or issubclass(type(value), _CONTAINERS)


def is_overridden(value: Any) -> bool:
    """Whether a container's class has its own ideas of what it holds."""
    if type(value) in PLAIN or not issubclass(type(value), _CONTAINERS):
        return False
    return any(
        isinstance(getattr(type(value), name, None), types.FunctionType)
        for name in ("__getitem__", "__iter__", "__len__")
    )


# Indexing, iterating and measuring these runs no code of a user's.
PLAIN = frozenset(
    {list, dict, set, frozenset, deque, OrderedDict, defaultdict, bytearray, np.ndarray}
)
_CONTAINERS = (list, dict, set, frozenset, deque, bytearray, np.ndarray, tuple)
