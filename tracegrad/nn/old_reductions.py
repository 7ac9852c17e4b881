"""``size_average`` and ``reduce``: what `reduction` of losses was called before."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.argument_errors import raise_explained
from tracegrad.location import warn

_OLD = ("size_average", "reduce")
# Old names stand before `reduction`, but in these the first stands further to the left.
_BEFORE = {
    "cross_entropy": "ignore_index",
    "nll_loss": "ignore_index",
    "poisson_nll_loss": "eps",
}


def reduction_of(size_average: Any, reduce: Any, reduction: str) -> str:
    """Return the reduction that the old names mean; `reduction` if none is given.

    Parameters
    ----------
    size_average, reduce : bool or None
    reduction : str

    Source
    ------
    PyTorch's documentation of its losses.
    """
    if size_average is None and reduce is None:
        return reduction
    joined = "sum" if size_average is False else "mean"
    found = "none" if reduce is False else joined
    warn(f"size_average and reduce are old names; give reduction={found!r}")
    return found


def taking_old_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loss that takes its old names too, in PyTorch's order."""
    signature = _with_old_names(function)
    names = list(signature.parameters)
    first_old = names.index("size_average")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given_old = "size_average" in kwargs or "reduce" in kwargs
        if len(args) <= first_old and not given_old:
            return function(*args, **kwargs)
        given = bound(function.__name__, signature, args, kwargs)
        size_average, reduce = (given.pop(name, None) for name in _OLD)
        reduction = given.get("reduction", "mean")
        given["reduction"] = reduction_of(size_average, reduce, reduction)
        return function(**given)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def bound(
    name: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> dict[str, Any]:
    """Return the arguments of a call by name.

    Raises
    ------
    ArgumentTypeError
        If they do not fit the signature.
    """
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise_explained(name, signature, args, kwargs, error)


def _with_old_names(function: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(function)
    parameters = {
        name: parameter
        for name, parameter in signature.parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }
    first = _BEFORE.get(function.__name__, "reduction")
    ordered: list[inspect.Parameter] = []
    for name, parameter in parameters.items():
        if name == first:
            ordered.append(_old("size_average"))
        if name == "reduction":
            ordered.append(_old("reduce"))
        ordered.append(parameter)
    return signature.replace(parameters=ordered)


def _old(name: str) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, default=None, annotation="bool | None")
