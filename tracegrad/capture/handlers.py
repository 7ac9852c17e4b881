"""Calls that higher floors take into their own hands, by function or by type.

A handler replaces the call, so that floors above this one can say how a module or an
optimizer is entered without this floor knowing them.
"""

from collections.abc import Callable
from types import MethodType
from typing import Any, Protocol

from tracegrad.capture.effects import Location


class Handler(Protocol):
    """Does a call in place of the object called."""

    def __call__(
        self,
        recorder: Any,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        location: Location,
    ) -> Any:
        """Do the call and return its result."""
        ...


# By identity, for callables need not be hashable. A handler is registered at import,
# for a function or type of the package's own, and stays.
_handlers: dict[int, tuple[object, Handler]] = {}


def register_handler(target: object, handler: Handler) -> None:
    """Let `handler` do each recorded call of a function, or of instances of a type.

    Parameters
    ----------
    target : function or type
        The function; or the type, whose subclasses' instances are meant as well.
    handler : callable
        Called with the recorder, the object called, its arguments and the location.
    """
    _handlers[id(target)] = target, handler


def find_handler(function: object) -> Callable[..., Any] | None:
    """The handler for a call of `function`, if there is one."""
    if not _handlers:
        return None
    plain = function.__func__ if type(function) is MethodType else function
    entry = _handlers.get(id(plain))
    if entry is not None:
        return entry[1]
    for cls in type(plain).__mro__:
        if (entry := _handlers.get(id(cls))) is not None:
            return entry[1]
    return None
