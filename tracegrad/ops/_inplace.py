"""In-place forms of functions that are not single operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.inplace import (
    check_fits,
    check_overlap,
    check_writable,
    write,
)
from tracegrad.dispatch.operator import public_form
from tracegrad.dispatch.tensor import Tensor


def inplace_form(function: Callable[..., Any], name: str) -> None:
    """Give Tensor the method ``name_``, which writes the function's result.

    The function's first parameter is the tensor; nothing is written if it raises.
    """
    called = name + "_"

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(self, called)
        for other in (*args, *kwargs.values()):
            if isinstance(other, Tensor):
                check_overlap(self, other, called)
        value = function(self, *args, **kwargs)
        check_fits(self, value, called)
        write(self, value)
        return self

    method.__doc__ = f"Write the result of `{name}` into this tensor."
    signature = inspect.signature(function)
    setattr(Tensor, called, public_form(method, called, signature))
