"""Options of creation functions that choose nothing here: layout, pinned memory.

PyTorch's functions that make tensors take ``layout``, ``pin_memory`` and
``memory_format``. Tensors are strided, and memory is pinned in transfers only.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.memory_format import channels_last, channels_last_3d
from tracegrad.dispatch.operator import FUNCTIONS, FunctionDef
from tracegrad.errors import NotSupportedError
from tracegrad.ops import creation, drawing
from tracegrad.ops.old_spellings import strided

# What these define must be there before its options are added.
_DEFINED_IN = (creation, drawing)
_MAKERS = (
    "arange empty eye full linspace logspace ones rand randint randn randperm "
    "scalar_tensor zeros"
)
_LIKE = "empty_like full_like ones_like rand_like randint_like randn_like zeros_like"


def _taking_options(name: str, named: tuple[str, ...]) -> Callable[..., Any]:
    function = FUNCTIONS[name].function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs or kwargs.keys().isdisjoint(named):
            return function(*args, **kwargs)
        options = {key: kwargs.pop(key) for key in named if key in kwargs}
        layout = options.get("layout")
        if layout not in (None, strided):
            raise NotSupportedError(
                f"{name}(): layout must be strided, the only one here, not {layout!r}"
            )
        made = function(*args, **kwargs)
        wanted = options.get("memory_format")
        if wanted in (channels_last, channels_last_3d):
            return made.contiguous(memory_format=wanted)
        return made

    call.__signature__ = _with_options(function, named)  # type: ignore[attr-defined]
    return call


def _with_options(
    function: Callable[..., Any], named: tuple[str, ...]
) -> inspect.Signature:
    signature = inspect.signature(function)
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if name == "pin_memory" else None,
            annotation="bool" if name == "pin_memory" else "Any",
        )
        for name in named
    ]
    parameters = [*signature.parameters.values(), *added]
    return signature.replace(parameters=parameters)


def _enter() -> None:
    for names, options in (
        (_MAKERS, ("layout", "pin_memory")),
        ("empty", ("memory_format",)),
        (_LIKE, ("layout", "pin_memory", "memory_format")),
    ):
        for name in names.split():
            found = _taking_options(name, options)
            FUNCTIONS[name] = FunctionDef(name, found, FUNCTIONS[name].method)


_enter()
