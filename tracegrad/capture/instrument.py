"""Make a copy of a user function that asks hooks before each read, call and store."""

import inspect
import threading
import weakref
from types import CellType, CodeType, FunctionType
from typing import Any

from tracegrad.capture.rewrite import HOOK, rewrite
from tracegrad.capture.source import NoSourceError, compile_alone, find_source, wrapped

__all__ = ["NoSourceError", "instrument", "is_instrumented"]

_ASYNCHRONOUS = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_lock = threading.Lock()
# By id, for code objects of two files that look the same compare equal.
_codes: "dict[int, tuple[weakref.ref[CodeType], CodeType | NoSourceError]]" = {}


def instrument(function: FunctionType, hooks: object) -> FunctionType:
    """A copy of `function` that calls `hooks`, with its own globals and cells.

    Parameters
    ----------
    function : function
        A Python function with source.
    hooks : FunctionHooks
        What the copy calls; functions born in a call of the copy call it too.

    Raises
    ------
    NoSourceError
        If the function has no source, it isn't what runs, or it is asynchronous.
    """
    code = instrumented_code(function.__code__, function.__globals__)
    cells = dict(
        zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    )
    cells[HOOK] = CellType(hooks)
    closure = tuple(cells[name] for name in code.co_freevars)
    copy = FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        closure,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy


# Stands last among the constants of instrumented code; compared by identity.
_MARK = "instrumented by tracegrad"


def is_instrumented(code: CodeType) -> bool:
    """Whether `code` was made here, or stands in a function that was."""
    constants = code.co_consts
    return bool(constants) and constants[-1] is _MARK


def _marked(code: CodeType) -> CodeType:
    constants = (
        _marked(const) if isinstance(const, CodeType) else const
        for const in code.co_consts
    )
    return code.replace(co_consts=(*constants, _MARK))


def instrumented_code(code: CodeType, module_globals: dict[str, Any]) -> CodeType:
    """The instrumented form of `code`; made once as long as `code` lives."""
    key = id(code)
    with _lock:
        known = _codes.get(key)
    if known is None:
        made = _make(code, module_globals)
        reference = weakref.ref(code, lambda _: _codes.pop(key, None))
        with _lock:
            _codes[key] = reference, made
    else:
        made = known[1]
    if isinstance(made, NoSourceError):
        raise made.with_traceback(None)
    return made


def _make(code: CodeType, module_globals: dict[str, Any]) -> CodeType | NoSourceError:
    if code.co_flags & _ASYNCHRONOUS:
        return NoSourceError(f"{code.co_qualname} is asynchronous")
    try:
        source = find_source(code, module_globals)
    except NoSourceError as error:
        return error
    rewrite(source.node, code.co_freevars, source.class_name)
    module = wrapped(source.node, source.class_name, (*code.co_freevars, HOOK))
    return _marked(compile_alone(module, code, source.class_name is not None))
