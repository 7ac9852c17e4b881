"""What to call in place of a callable: its instrumented copy, or itself with a look.

A user function's copy is called from the user's own frame, with nothing in between.
Trusted code gets its arguments after what they hold has been read.
"""

import functools
import itertools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracegrad.capture import attributes, special
from tracegrad.capture.effects import Location
from tracegrad.capture.handlers import find_handler
from tracegrad.capture.instrument import is_instrumented
from tracegrad.capture.numbers import StandIn, pin_within, without_stand_in
from tracegrad.capture.paths import Attribute, Cell, Elements, Path
from tracegrad.capture.purity import (
    Purity,
    builtin_purity,
    display_name,
    method_purity,
    module_purity,
)
from tracegrad.capture.trust import is_assumed_pure, is_generated
from tracegrad.dispatch.state import paused_recorder

if TYPE_CHECKING:
    from tracegrad.capture.reads import ReadRecorder

Callee = Callable[..., Any]


def callee(recorder: "ReadRecorder", function: Any, location: Location) -> Callee:
    """What to call in place of `function`."""
    kind = type(function)
    if kind is types.FunctionType and is_instrumented(function.__code__):
        return function  # type: ignore[no-any-return]
    handler = find_handler(function)
    if handler is not None:
        return _handled(recorder, handler, function, location)
    if is_assumed_pure(function):
        return _reading(recorder, recorder.vouched(function), location)
    if hasattr(function, "__tracegrad_outside__"):
        return _outside(recorder, function)
    if hasattr(function, "__tracegrad_operator__"):
        return _reading(recorder, recorder.vouched(function), location)
    if kind is types.FunctionType:
        return _function(recorder, function, location)
    if kind is types.MethodType:
        return _method(recorder, function, location)
    if isinstance(function, type):
        return _class(recorder, function, location)
    if isinstance(function, _BUILTINS):
        return _builtin(recorder, function, location)
    return _instance(recorder, function, location)


_BUILTINS = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    np.ufunc,
)


def _outside(recorder: "ReadRecorder", function: Any) -> Callee:
    """Call a preparation: what it makes counts as made before the recording."""

    def call(*args: Any, **kwargs: Any) -> Any:
        recorder.leaves.preparing(getattr(function, "__self__", None))
        with paused_recorder():
            return recorder.vouched(function)(*args, **kwargs)

    return call


def _handled(
    recorder: "ReadRecorder", handler: Any, function: Any, location: Location
) -> Callee:
    def call(*args: Any, **kwargs: Any) -> Any:
        return handler(recorder, function, args, kwargs, location)

    return call


def _function(
    recorder: "ReadRecorder", function: types.FunctionType, location: Location
) -> Callee:
    code = function.__code__
    if recorder.trust.is_user_code(code):
        return recorder.instrumented(function, location)
    if is_generated(code):
        return function
    # Not `__module__`: `functools.wraps` gives a wrapper that of what it wraps.
    module = function.__globals__.get("__name__")
    purity = module_purity(module, function.__name__)
    return _trusted(
        recorder, _rewrapped(recorder, function, location), purity, location
    )


def _rewrapped(
    recorder: "ReadRecorder", function: types.FunctionType, location: Location
) -> types.FunctionType:
    """A trusted wrapper around the instrumented copy of a user function.

    What `contextlib.contextmanager` or a decorator like `no_grad` makes holds the
    user's function in a cell.
    """
    cells = list(function.__closure__ or ())
    path = recorder.path_of(function)
    for i, cell in enumerate(cells):
        try:
            held = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        if not _is_user(recorder, held):
            continue
        if path is not None:
            own = Cell(path, i, function.__code__.co_freevars[i])
            recorder.observe(held, own, location)
        cells[i] = types.CellType(callee(recorder, held, location))
    if cells == list(function.__closure__ or ()):
        return function
    copy = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells),
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__dict__.update(function.__dict__)
    return copy


def _method(
    recorder: "ReadRecorder", method: types.MethodType, location: Location
) -> Callee:
    function, owner = method.__func__, method.__self__
    if isinstance(function, types.FunctionType):
        if is_instrumented(function.__code__):
            return method
        if recorder.trust.is_user_code(function.__code__):
            return types.MethodType(recorder.instrumented(function, location), owner)
    if recorder.leaves.is_leaf(owner):
        return _reading(recorder, method, location)
    module = getattr(function, "__module__", None)
    purity = module_purity(module, getattr(function, "__name__", ""))
    path = recorder.path_of(owner)
    if path is not None and not _is_of_package(module):
        purity = method_purity(owner, function.__name__, path)
        if purity is not Purity.EFFECT:
            recorder.contents(owner, location, 4, True)
    return _trusted(recorder, method, purity, location)


def _is_of_package(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == "tracegrad"


def _class(recorder: "ReadRecorder", cls: type, location: Location) -> Callee:
    if cls.__module__ == "builtins":
        purity = builtin_purity(cls.__name__)
        if issubclass(cls, BaseException):
            purity = Purity.SHALLOW
        return special.of_type(recorder, cls, location) or _trusted(
            recorder, cls, purity, location
        )
    create = attributes.class_value(cls, "__new__")
    initialize = attributes.class_value(cls, "__init__")
    if isinstance(create, staticmethod):
        create = create.__func__
    users = [f for f in (create, initialize) if _is_user(recorder, f)]
    if users and type(cls).__call__ is type.__call__:
        return _constructor(recorder, cls, create, initialize, location)
    if users or _is_written_by_user(recorder, cls):
        return cls
    if issubclass(cls, BaseException):
        return cls
    purity = module_purity(cls.__module__, cls.__name__)
    return _trusted(recorder, cls, purity, location)


def _is_user(recorder: "ReadRecorder", function: Any) -> bool:
    return isinstance(function, types.FunctionType) and recorder.trust.is_user_code(
        function.__code__
    )


def _is_written_by_user(recorder: "ReadRecorder", cls: type) -> bool:
    """Whether the class stands in user code; its constructor is a generated one."""
    return id(cls) in recorder.born or recorder.trust.is_user_module(cls.__module__)


def _constructor(
    recorder: "ReadRecorder",
    cls: type,
    create: Any,
    initialize: Any,
    location: Location,
) -> Callee:
    """``cls(…)`` with `__new__` and `__init__` instrumented if they're the user's."""
    for name, found in (("__new__", create), ("__init__", initialize)):
        if isinstance(found, types.FunctionType):
            attributes.observe_in_class(recorder, cls, None, name, location)
    if _is_user(recorder, create):
        create = callee(recorder, create, location)
    if _is_user(recorder, initialize):
        initialize = callee(recorder, initialize, location)

    def construct(*args: Any, **kwargs: Any) -> Any:
        bare = create is object.__new__
        made = create(cls) if bare else create(cls, *args, **kwargs)
        if isinstance(made, cls):
            initialize(made, *args, **kwargs)
        return made

    return construct


def _instance(recorder: "ReadRecorder", value: Any, location: Location) -> Callee:
    if isinstance(value, functools.partial):
        return _partial(recorder, value, location)
    if isinstance(value, _CACHED):
        inner = getattr(value, "__wrapped__", value)
        if not is_assumed_pure(inner):
            recorder.effect(
                location, f"calls {display_name(value)}, which keeps results"
            )
            return value
        return _reading(recorder, recorder.vouched(value), location)
    call = attributes.class_value(type(value), "__call__")
    if isinstance(call, types.FunctionType):
        if not is_instrumented(call.__code__):
            attributes.observe_in_class(
                recorder, type(value), value, "__call__", location
            )
        return callee(recorder, types.MethodType(call, value), location)
    described = value if hasattr(value, "__name__") else type(value)
    purity = module_purity(described.__module__, described.__name__)
    return _trusted(recorder, value, purity, location)


_CACHED = functools._lru_cache_wrapper


def _partial(
    recorder: "ReadRecorder", value: "functools.partial[Any]", location: Location
) -> Callee:
    function, args, keywords = value.func, value.args, value.keywords
    path = recorder.path_of(value)
    if path is not None:
        names = Attribute(path, "keywords")
        args = recorder.observe(args, Attribute(path, "args"), location)
        recorder.observe(tuple(keywords), Elements(names), location)
        keywords = recorder.contents(keywords, location, 0)
    return functools.partial(callee(recorder, function, location), *args, **keywords)


def _builtin(recorder: "ReadRecorder", function: Any, location: Location) -> Callee:
    found = special.of_builtin(recorder, function, location)
    if found is not None:
        return found
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc):
        return _trusted(recorder, function, Purity.READS, location)
    if owner is None and hasattr(function, "__objclass__"):
        return _unbound(recorder, function, location)
    if owner is None or isinstance(owner, types.ModuleType):
        purity = module_purity(getattr(function, "__module__", None), name)
        return _trusted(recorder, function, purity, location)
    if isinstance(owner, type):
        return _of_class(recorder, function, owner, location)
    return _bound(recorder, function, owner, name, location)


def _of_class(
    recorder: "ReadRecorder", function: Any, owner: type, location: Location
) -> Callee:
    if function.__name__ in ("__new__", "__init_subclass__", "__subclasshook__", "mro"):
        return function  # type: ignore[no-any-return]
    purity = module_purity(owner.__module__, function.__name__)
    if owner.__module__ == "builtins":
        purity = Purity.READS
    return _trusted(recorder, function, purity, location)


def _bound(
    recorder: "ReadRecorder", function: Any, owner: Any, name: str, location: Location
) -> Callee:
    if recorder.leaves.is_leaf(owner):
        return _reading(recorder, function, location)
    path = recorder.path_of(owner)
    if name == "__getattribute__":
        return special.getattribute(recorder, location, owner)
    purity = method_purity(owner, name, path)
    if purity is Purity.EFFECT:
        recorder.effect(location, _said(owner, name, path, function))
        return _with_plain_numbers(function)
    if path is not None:
        read = special.of_container(recorder, owner, name, path, location)
        if read is not None:
            return read
        # These hand elements on without a look into them.
        depth = 1 if name in _SHALLOW_METHODS else 4
        shown = recorder.contents(owner, location, depth, depth > 1)
        if shown is not owner:
            function = getattr(shown, name)
    return _trusted(recorder, function, purity, location)


_SHALLOW_METHODS = frozenset({"values", "items", "keys", "copy"})


def _with_plain_numbers(function: Any) -> Callee:
    """Call what may keep its arguments: no stand-in may get there."""

    def call(*args: Any, **kwargs: Any) -> Any:
        named = {name: without_stand_in(value) for name, value in kwargs.items()}
        return function(*map(without_stand_in, args), **named)

    return call


def _said(owner: Any, name: str, path: Path | None, function: Any) -> str:
    if path is not None:
        return f"calls {path.text()}.{name}, which may change it"
    return f"calls {display_name(function)}"


def _unbound(recorder: "ReadRecorder", function: Any, location: Location) -> Callee:
    """A method taken from its class: `list.append(values, 1)`."""
    if function is object.__getattribute__:
        return special.getattribute(recorder, location)

    def call(owner: Any, *args: Any, **kwargs: Any) -> Any:
        if recorder.leaves.is_leaf(owner):
            return function(owner, *args, **kwargs)
        path = recorder.path_of(owner)
        name = function.__name__
        if method_purity(owner, name, path) is Purity.EFFECT:
            recorder.effect(location, _said(owner, name, path, function))
        elif path is not None:
            recorder.contents(owner, location, 4, True)
        read = [recorder.contents(arg, location) for arg in args]
        return function(owner, *read, **kwargs)

    return call


def _trusted(
    recorder: "ReadRecorder", function: Any, purity: Purity, location: Location
) -> Callee:
    if purity is Purity.EFFECT:
        recorder.effect(location, f"calls {display_name(function)}")
    if purity is Purity.WRITES:
        return _writing(recorder, function, location)
    if purity in (Purity.EFFECT, Purity.SHALLOW):
        return function  # type: ignore[no-any-return]
    return _reading(recorder, function, location, purity is Purity.LOOKS)


def _writing(recorder: "ReadRecorder", function: Any, location: Location) -> Callee:
    reading = _reading(recorder, function, location)

    def call(*args: Any, **kwargs: Any) -> Any:
        path = recorder.path_of(args[0]) if args else None
        if path is not None and not recorder.leaves.is_leaf(args[0]):
            name = display_name(function)
            recorder.effect(location, f"changes `{path}` by {name}")
        return reading(*args, **kwargs)

    return call


def _reading(
    recorder: "ReadRecorder",
    function: Any,
    location: Location,
    instances: bool = False,
) -> Callee:
    """Call `function` as it is, once all that its arguments hold has been read."""
    position = _CALLBACKS.get(id(function))

    def call(*args: Any, **kwargs: Any) -> Any:
        if recorder.closed:
            return function(*args, **kwargs)
        read = [_argument(recorder, arg, location, instances) for arg in args]
        if position is not None and position < len(args):
            read[position] = _callback(recorder, args[position], location)
        for name, value in kwargs.items():
            kwargs[name] = _argument(recorder, value, location, instances)
            if name in ("key", "func"):
                kwargs[name] = _callback(recorder, value, location)
            if name == "out" and recorder.path_of(value) is not None:
                _written(recorder, value, location)
        given = (*args, *kwargs.values())
        numbers = [a for a in given if isinstance(a, StandIn)]
        ours = _is_of_package(getattr(function, "__module__", None))
        if not ours:
            pin_within(given)
        if not (ours and numbers):
            return function(*read, **kwargs)
        return _looked_at(function, read, kwargs, numbers)

    return call


def _looked_at(
    function: Any, args: list[Any], kwargs: dict[str, Any], numbers: list[StandIn]
) -> Any:
    """Call code of tracegrad's, whose operators take a stand-in as it is.

    Where the number was used neither as an operand nor in arithmetic, its value was.
    """
    before = [number.uses for number in numbers]
    result = function(*args, **kwargs)
    for number, uses in zip(numbers, before, strict=True):
        if number.uses == uses:
            number.pin()
    return result


# Where functions that call back expect what to call, besides as `key` or `func`.
_CALLBACKS = {
    **{id(f): 0 for f in (map, filter, functools.reduce, itertools.starmap)},
    **{id(f): 0 for f in (itertools.takewhile, itertools.dropwhile)},
    **{id(f): 0 for f in (itertools.filterfalse,)},
    **{id(f): 1 for f in (itertools.accumulate, itertools.groupby)},
}


def _callback(recorder: "ReadRecorder", value: Any, location: Location) -> Any:
    """What is called back in place of `value`: there `getattr` reads things, too."""
    return callee(recorder, value, location) if callable(value) else value


def _argument(
    recorder: "ReadRecorder", value: Any, location: Location, instances: bool
) -> Any:
    if type(value) in _CALLABLES and not _is_of_leaf(recorder, value):
        # A trusted function that is given another may call it.
        return callee(recorder, value, location)
    if recorder.path_of(value) is not None and hasattr(type(value), "__next__"):
        recorder.effect(location, f"consumes the iterator `{recorder.path_of(value)}`")
    return recorder.contents(value, location, 4, instances)


_CALLABLES = frozenset(
    {
        types.FunctionType,
        types.MethodType,
        functools.partial,
        types.BuiltinFunctionType,
        types.MethodWrapperType,
    }
)


def _is_of_leaf(recorder: "ReadRecorder", function: Any) -> bool:
    return recorder.leaves.is_leaf(getattr(function, "__self__", None))


def _written(recorder: "ReadRecorder", value: Any, location: Location) -> None:
    if not recorder.leaves.is_leaf(value):
        recorder.effect(location, f"writes into `{recorder.path_of(value)}`")
