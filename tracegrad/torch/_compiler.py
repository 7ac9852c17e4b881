"""``torch.compile`` and ``torch.compiler`` as `tracegrad.trace`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tracegrad as tg


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Capture a function or module: `tracegrad.trace` under PyTorch's name.

    Parameters
    ----------
    model : callable, optional
        Without it, a decorator is returned.
    fullgraph, dynamic, backend, mode, options
        Taken, and not needed: what can't be captured runs eagerly and `explain()`
        says why; sizes that change become symbolic by themselves.
    disable : bool
        Return `model` as it is.
    """
    if model is None:
        return lambda function: compile(function, disable=disable)
    return model if disable else tg.trace(model)


def disable(
    fn: Any = None, recursive: bool = True, *, reason: str | None = None
) -> Any:
    """Return the function as it is: it runs eagerly where it is called eagerly."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """Return the function as it is: its operators are captured one by one."""
    return fn


def is_compiling() -> bool:
    """Return False: capture records an ordinary eager call."""
    return False


def is_dynamo_compiling() -> bool:
    """Return False: there is no Dynamo."""
    return False


def reset() -> None:
    """Do nothing: captured functions check what they read, and are never stale."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing: results of a captured call are never overwritten by the next."""
