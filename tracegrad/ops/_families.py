"""The families whose members state their own abstract eval and kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.surface import define

Decorator = Callable[[Callable[..., Any]], OpDef]


def primitive(
    family: str,
    *,
    abstract: Callable[..., Any],
    kernel: Callable[..., Any],
    canonical: Callable[..., dict[str, Any]] | None = None,
    **properties: Any,
) -> Decorator:
    """Define a primitive of `family` (decorator).

    Parameters
    ----------
    family : str
        See `OpDef.family`.
    abstract : callable
        ``abstract(*operand_specs, **attributes)`` gives the spec(s) of the
        result(s), and raises for what the operator refuses.
    kernel : callable
        ``kernel(xp, *arrays, **attributes)``.
    canonical : callable, optional
        ``canonical(operands, attributes)`` gives the attributes in the one form
        that graphs hold.
    **properties
        Of `OpDef`.
    """

    def wrap(function: Callable[..., Any]) -> OpDef:
        operator = OpDef(
            function, family, abstract=abstract, kernel=kernel, **properties
        )
        operator.facts["canonical"] = canonical
        return define(operator)

    return wrap


def view_family(
    *,
    abstract: Callable[..., Any],
    kernel: Callable[..., Any],
    canonical: Callable[..., dict[str, Any]] | None = None,
    **properties: Any,
) -> Decorator:
    """Define a view: the result shares its operand's memory (decorator)."""
    return primitive(
        "view",
        abstract=abstract,
        kernel=kernel,
        canonical=canonical,
        is_view=True,
        linear_in=("input",),
        **properties,
    )


def composite(**properties: Any) -> Decorator:
    """Define an operator by a body of other operators (decorator)."""

    def wrap(function: Callable[..., Any]) -> OpDef:
        operator = OpDef(function, "composite", body=function, **properties)
        operator.body = _body_of(operator)
        return define(operator)

    return wrap


def _body_of(operator: OpDef) -> Callable[..., Any]:
    """Return the defining function, to be called with the operands in front."""
    function = operator.function
    names = tuple(p.name for p in operator.operands)
    if tuple(operator.signature.parameters)[: len(names)] == names:
        return function

    def body(*operands: Any, **attributes: Any) -> Any:
        return function(**dict(zip(names, operands, strict=True)), **attributes)

    return body
