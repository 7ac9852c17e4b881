"""Constructors of layers, optimizers and schedules: arguments of a wrong type.

Their annotations say what is taken; that is checked before anything is made.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.argument_errors import (
    CLOSED_KINDS,
    RAW,
    explained,
    unsuitable,
)
from tracegrad.errors import TracegradError

# A truth may be any object; of the others an annotation lists all that is taken.
_CHECKED = (CLOSED_KINDS | {"float", "number", "numbers"}) - {"bool"}


def check_constructor(cls: type) -> None:
    """Let the constructor that `cls` defines refuse arguments of a wrong type.

    Classes outside the package, which derive from ours, are left alone.
    """
    initialize = cls.__dict__.get("__init__")
    if cls.__module__.partition(".")[0] == "tracegrad" and initialize is not None:
        cls.__init__ = _checked(initialize)  # type: ignore[misc]


def _checked(initialize: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(initialize)
    own = signature.replace(parameters=list(signature.parameters.values())[1:])

    @functools.wraps(initialize)
    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        # The class that is made, not the base whose constructor this may be.
        name = type(self).__name__
        wrong = unsuitable(name, own, args, kwargs, _CHECKED)
        if wrong is not None:
            raise wrong
        try:
            initialize(self, *args, **kwargs)
        except RAW as error:
            said = explained(name, own, args, kwargs, error)
            if isinstance(said, TracegradError):
                said.called_as(name)
            if said is error:
                raise
            raise said from error

    return construct
