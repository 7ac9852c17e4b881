"""Public functions that only choose an operator, with all the forms of one.

``add(x, y)`` and ``add(x, y, alpha=2)`` are one function of PyTorch's and two
operators of ours. A *choice* says which; function, method, in-place form and ``out=``
follow from it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from tracegrad.dispatch.argument_errors import RAW, explained
from tracegrad.dispatch.arguments import parse
from tracegrad.dispatch.bind import NO_ATTRIBUTES, bind
from tracegrad.dispatch.fast import operand
from tracegrad.dispatch.inplace import apply_inplace, write_out
from tracegrad.dispatch.operator import FUNCTIONS, FunctionDef, OpDef, public_form
from tracegrad.dispatch.plans import planned_inplace
from tracegrad.dispatch.tensor import Tensor
from tracegrad.location import publish


class Choice(NamedTuple):
    """An operator, what to apply it to, and whether to write in place."""

    operator: OpDef
    operands: tuple[Any, ...]
    attributes: dict[str, Any] = NO_ATTRIBUTES
    inplace: bool = False

    def apply(self) -> Any:
        """Return the result."""
        operator, operands, attributes, inplace = self
        if inplace:
            return apply_inplace(operator, self.checked(), attributes)
        fast = operator.facts["fast"]
        if fast is not None and not attributes:
            return fast(*operands)
        return bind(operator, self.checked(), attributes)

    def checked(self) -> tuple[Any, ...]:
        """Return the operands as Tensors and Python numbers."""
        return tuple([operand(self.operator, value) for value in self.operands])


Chooser = Callable[..., Choice]
METHODS: dict[str, Callable[..., Any]] = {}
"""Methods of Tensor that are no functions, by name."""


def choosing(
    name: str, method: bool = True, inplace: bool = True
) -> Callable[[Chooser], Chooser]:
    """Make a public function of one that returns a `Choice` (decorator).

    Parameters
    ----------
    name : str
        The public name.
    method, inplace : bool
        Whether there is a method, and a method that writes in place.
    """

    def enter(choose: Chooser) -> Chooser:
        function = _function(choose, name)
        if "dim" in inspect.signature(choose).parameters:
            function = public_form(function, name)
        FUNCTIONS[name] = FunctionDef(name, OpDef.planned(function), method)
        if inplace:
            METHODS[name + "_"] = _inplace(choose, name)
        return choose

    return enter


def _function(choose: Chooser, name: str) -> Callable[..., Any]:
    signature = inspect.signature(choose)

    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        try:
            result = choose(*args, **kwargs).apply()
        except RAW as error:
            said = explained(name, signature, args, kwargs, error)
            if said is error:
                raise
            raise said from error
        return result if out is None else write_out(out, result, name)

    return _documented(call, choose, name)


def _inplace(choose: Chooser, name: str) -> Callable[..., Any]:
    called = name + "_"
    signature = inspect.signature(choose)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        try:
            choice = choose(self, *args, **kwargs)
            return apply_inplace(choice.operator, choice.checked(), choice.attributes)
        except RAW as error:
            said = explained(called, signature, (self, *args), kwargs, error)
            if said is error:
                raise
            raise said from error

    publish(method, called)
    method.__doc__ = f"Write the result of `{name}` into this tensor."
    return planned_inplace(method)


def _documented(
    call: Callable[..., Any], choose: Chooser, name: str
) -> Callable[..., Any]:
    functools.update_wrapper(call, choose)
    publish(call, name)
    publish(choose, name)
    signature = inspect.signature(choose)
    out = inspect.Parameter(
        "out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Tensor | None"
    )
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), out], return_annotation="Tensor"
    )
    return call


def method(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function the method `name` of Tensor, and no function (decorator)."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        publish(function, name)
        METHODS[name] = OpDef.planned(function)
        return function

    return enter


def aliases(**operators: OpDef) -> None:
    """Give operators second public names, with all forms."""
    for name, operator in operators.items():
        choosing(name, inplace=operator.inplace)(_choice_of(operator))


def _choice_of(operator: OpDef) -> Chooser:
    count = len(operator.operands)

    @functools.wraps(operator.function)
    def choose(*args: Any, **kwargs: Any) -> Choice:
        if kwargs or len(args) != count:
            return Choice(operator, *parse(operator, args, kwargs))
        return Choice(operator, args)

    choose.__doc__ = (
        f"{operator.doc.splitlines()[0]}\n\nA second name of `{operator.name}`."
    )
    return choose
