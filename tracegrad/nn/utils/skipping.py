"""Modules made without drawing their parameters."""

from __future__ import annotations

import inspect
from typing import Any

from tracegrad.dispatch.generator import default_generator
from tracegrad.errors import ArgumentValueError
from tracegrad.nn.modules.module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """Return a module whose parameters' values are to be set by the caller.

    Parameters
    ----------
    module_cls : type
        A module that takes `device`.
    *args, **kwargs
        Of the module.

    Raises
    ------
    ArgumentValueError
        If it is no module, or takes no `device`.

    Notes
    -----
    The default generator stands where it stood.
    """
    if not issubclass(module_cls, Module):
        raise ArgumentValueError(f"skip_init takes a Module, not {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise ArgumentValueError(f"{module_cls.__name__} takes no device")
    state = default_generator.get_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        default_generator.set_state(state)
