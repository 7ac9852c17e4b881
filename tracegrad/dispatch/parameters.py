"""What a definition's parameters are, read without `inspect.signature` where possible.

A signature is an object per parameter, and the import of the package would wait for
those of some thousand functions; a plain function's code says the same at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

EMPTY = inspect.Parameter.empty


class Parameter(NamedTuple):
    """One parameter, as it is written."""

    name: str
    annotation: Any = EMPTY
    default: Any = EMPTY
    variadic: bool = False


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """Return a function's parameters in the order of its signature.

    Examples
    --------
    >>> def halve(x: int, *rest: int, by: int = 2): ...
    >>> [p.name for p in parameters_of(halve)]
    ['x', 'rest', 'by']
    """
    if not _is_plain(function):
        return list(_signed(function))
    defaults = _defaults_of(function)
    annotations = function.__annotations__
    return [
        Parameter(
            name, annotations.get(name, EMPTY), defaults.get(name, EMPTY), variadic
        )
        for name, variadic in _names(function)
    ]


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a function's parameters.

    Examples
    --------
    >>> parameter_names(lambda ct, input: ct)
    ('ct', 'input')
    """
    if not _is_plain(function):
        return tuple(inspect.signature(function).parameters)
    return tuple([name for name, _ in _names(function)])


def _is_plain(function: Any) -> bool:
    """Return whether no other signature than its own code's is stated."""
    if not inspect.isfunction(function):
        return False
    stated = vars(function)
    return "__wrapped__" not in stated and "__signature__" not in stated


def _names(function: Any) -> Iterator[tuple[str, bool]]:
    """Give each name, with whether it takes all further positional arguments."""
    code = function.__code__
    names = code.co_varnames
    positional = code.co_argcount
    named = positional + code.co_kwonlyargcount
    several = bool(code.co_flags & inspect.CO_VARARGS)
    for name in names[:positional]:
        yield name, False
    if several:
        yield names[named], True
    for name in names[positional:named]:
        yield name, False
    if code.co_flags & inspect.CO_VARKEYWORDS:
        yield names[named + several], False


def _defaults_of(function: Any) -> dict[str, Any]:
    given = function.__defaults__ or ()
    end = function.__code__.co_argcount
    names = function.__code__.co_varnames[end - len(given) : end]
    defaults = dict(zip(names, given, strict=True))
    return defaults | (function.__kwdefaults__ or {})


def _signed(function: Callable[..., Any]) -> Iterator[Parameter]:
    for p in inspect.signature(function).parameters.values():
        yield Parameter(p.name, p.annotation, p.default, p.kind is p.VAR_POSITIONAL)
