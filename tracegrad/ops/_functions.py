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

from tracegrad.dispatch.arguments import parse
from tracegrad.dispatch.bind import NO_ATTRIBUTES, bind
from tracegrad.dispatch.fast import operand
from tracegrad.dispatch.inplace import apply_inplace, write_out
from tracegrad.dispatch.operator import OpDef, public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentTypeError
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
        public_function(method, name)(_function(choose, name))
        if inplace:
            METHODS[name + "_"] = _inplace(choose, name)
        return choose

    return enter


def _function(choose: Chooser, name: str) -> Callable[..., Any]:
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        result = _chosen(choose, name, args, kwargs).apply()
        return result if out is None else write_out(out, result, name)

    return _documented(call, choose, name)


def _inplace(choose: Chooser, name: str) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        choice = _chosen(choose, name, (self, *args), kwargs)
        return apply_inplace(choice.operator, choice.checked(), choice.attributes)

    publish(method, name + "_")
    method.__doc__ = f"Write the result of `{name}` into this tensor."
    return method


def _chosen(
    choose: Chooser, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Choice:
    try:
        return choose(*args, **kwargs)
    except TypeError as error:
        if isinstance(error, ArgumentTypeError) or not _is_call_error(
            choose, args, kwargs
        ):
            raise
        raise ArgumentTypeError(str(error)) from None


def _is_call_error(
    choose: Chooser, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    try:
        inspect.signature(choose).bind(*args, **kwargs)
    except TypeError:
        return True
    return False


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
        METHODS[name] = function
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
