"""The functions of `torch.library` that add to an operator made before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from tracegrad.errors import ArgumentError
from tracegrad.library.definition import (
    CustomOpDef,
    DeviceTypes,
    custom_op,
    definition_named,
)
from tracegrad.library.schema import parse_schema

_Function = Callable[..., Any]


def definition_of(op: str | CustomOpDef) -> CustomOpDef:
    """Return the custom operator that is given, or named.

    Raises
    ------
    ArgumentError
        If it is neither.
    """
    if isinstance(op, CustomOpDef):
        return op
    if isinstance(op, str):
        return definition_named(op)
    raise ArgumentError(
        f"a custom operator or its name is wanted, not {type(op).__name__}"
    )


def register_kernel(
    op: str | CustomOpDef,
    device_types: DeviceTypes,
    func: _Function | None = None,
    /,
    *,
    lib: Any = None,
) -> _Function:
    """Register what an operator runs on devices of some types; also a decorator."""
    return definition_of(op).register_kernel(device_types, func)


def register_fake(
    op: str | CustomOpDef,
    func: _Function | None = None,
    /,
    *,
    lib: Any = None,
    _stacklevel: int = 1,
    allow_override: bool = False,
) -> _Function:
    """Register what gives an operator's results without data; also a decorator."""
    definition = definition_of(op)
    if func is None:
        return definition.register_fake
    return definition.register_fake(func)


def register_autograd(
    op: str | CustomOpDef,
    backward: _Function,
    /,
    *,
    setup_context: _Function | None = None,
    lib: Any = None,
) -> None:
    """Register an operator's derivative; see `CustomOpDef.register_autograd`."""
    definition_of(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(
    op: str | CustomOpDef, func: _Function | None = None, /, *, lib: Any = None
) -> _Function:
    """Register what computes a whole batch; also a decorator."""
    return definition_of(op).register_vmap(func)


def define(
    qualname: str, schema: str, *, lib: Any = None, tags: Any = ()
) -> CustomOpDef:
    """Define an operator by its schema alone; `impl` gives it kernels."""

    def missing(*args: Any, **kwargs: Any) -> Any:
        raise ArgumentError(f"{qualname} has no kernel; state one with impl")

    # Nobody's function: it stands for the namespace that the name begins with.
    missing.__module__ = qualname.partition("::")[0]
    written = [a.name for a in parse_schema(schema).written]
    made = custom_op(qualname, missing, mutates_args=written, schema=schema)
    assert isinstance(made, CustomOpDef)
    return made


def impl(
    qualname: str,
    types: DeviceTypes,
    func: _Function | None = None,
    *,
    lib: Any = None,
) -> _Function:
    """Register what an operator that was defined runs; also a decorator."""
    wanted = None if types == "default" else types
    return definition_named(qualname).register_kernel(wanted, func)


@final
class OperatorNamespace:
    """The custom operators of one namespace, as attributes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> CustomOpDef:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return definition_named(f"{self._name}::{name}")
        except ArgumentError as error:
            raise AttributeError(str(error)) from None


@final
class Operators:
    """Custom operators by name: ``ops.namespace.name``, as ``torch.ops`` has them."""

    def __getattr__(self, name: str) -> OperatorNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        return OperatorNamespace(name)


ops = Operators()
"""The custom operators that are defined."""
