"""From a definition to what users call: function, method, in-place form, ``out=``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.argument_errors import RAW, explained
from tracegrad.dispatch.arguments import parse
from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.inplace import apply_inplace, write_out
from tracegrad.dispatch.operator import OpDef, register
from tracegrad.dispatch.plans import planned, planned_inplace
from tracegrad.dispatch.tensor import Tensor
from tracegrad.location import publish


def define(operator: OpDef, fast: Callable[..., Any] | None = None) -> OpDef:
    """Register `operator` and give it its public forms.

    Parameters
    ----------
    operator : OpDef
    fast : callable, optional
        A function for the common case, which falls back to ``bind`` itself.
    """
    register(operator)
    general = _general_call(operator)
    call = general if fast is None else _with_fast(operator, fast, general)
    operator.call = call
    operator.facts["fast"] = fast
    if operator.method and operator.operands and operator.operands[0].kind == "tensor":
        setattr(Tensor, operator.name, fast or call)
    if operator.inplace:
        setattr(Tensor, operator.name + "_", _inplace_method(operator))
    functools.update_wrapper(operator, operator.function)
    return operator


def _general_call(operator: OpDef) -> Callable[..., Any]:
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        try:
            operands, attributes = parse(operator, args, kwargs)
            result = bind(operator, operands, attributes)
        except RAW as error:
            said = explained(operator.name, operator.signature, args, kwargs, error)
            if said is error:
                raise
            raise said from error
        return result if out is None else write_out(out, result, operator.name)

    functools.update_wrapper(call, operator.function)
    publish(call, operator.name)
    return planned(call)


def _with_fast(
    operator: OpDef, fast: Callable[..., Any], general: Callable[..., Any]
) -> Callable[..., Any]:
    count = len(operator.operands)

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != count:
            return general(*args, **kwargs)
        return fast(*args)

    functools.update_wrapper(call, operator.function)
    publish(call, operator.name)
    return call


def _inplace_method(operator: OpDef) -> Callable[..., Any]:
    name = operator.name + "_"

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        try:
            operands, attributes = parse(operator, (self, *args), kwargs)
            return apply_inplace(operator, operands, attributes)
        except RAW as error:
            given = (self, *args)
            said = explained(name, operator.signature, given, kwargs, error)
            if said is error:
                raise
            raise said from error

    publish(method, name)
    method.__doc__ = f"Write the result of `{operator.name}` into this tensor."
    return planned_inplace(method)
