"""Methods of Tensor that speak of the tape: hooks, `retain_grad`, `data`, `detach_`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.entry import (
    INFERENCE,
    LeafEntry,
    ResultEdge,
    hooks_of,
)
from tracegrad.dispatch.hooks import RemovableHandle
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor, edge_of, result_index
from tracegrad.errors import ArgumentTypeError, GradientError


def _hooks_of(tensor: Tensor, what: str) -> Any:
    edge = edge_of(tensor)
    if edge is None:
        raise GradientError(
            f"{what} needs a tensor that requires grad; this one (shape "
            f"{list(tensor.shape)}) does not"
        )
    return hooks_of(edge.entry if isinstance(edge, ResultEdge) else edge)


def _note(tensor: Tensor, what: str, hook: bool) -> None:
    if thread.recorder is not None:
        thread.recorder.touches(tensor, what, hook)


def register_hook(
    self: Tensor, hook: Callable[[Tensor], Tensor | None]
) -> RemovableHandle:
    """Call ``hook(gradient)`` whenever the gradient of this tensor is known.

    Parameters
    ----------
    hook : callable
        What it returns, if not None, replaces the gradient. Hooks run in the order
        of their registration, each on what the one before it returned; on a leaf
        once, with the total, before ``.grad`` is filled.

    Returns
    -------
    RemovableHandle
        Its ``remove()`` takes the hook out.

    Raises
    ------
    GradientError
        If the tensor does not require grad.

    Examples
    --------
    >>> import tracegrad as tg
    >>> x = tg.tensor([1.0, 2.0], requires_grad=True)
    >>> handle = x.register_hook(lambda gradient: gradient * 10)
    >>> x.sum().backward()
    >>> x.grad
    tensor([10., 10.])
    """
    hooks = _hooks_of(self, "register_hook()")
    _note(self, "registers a hook", True)
    return RemovableHandle(hooks.tensor, (self.output_nr, hook))


def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Tensor], None]
) -> RemovableHandle:
    """Call ``hook(tensor)`` whenever backward has filled this leaf's ``.grad``.

    Raises
    ------
    GradientError
        If the tensor does not require grad or is no leaf.
    """
    hooks = _hooks_of(self, "register_post_accumulate_grad_hook()")
    _note(self, "registers a hook", True)
    if not self.is_leaf:
        raise GradientError(
            "register_post_accumulate_grad_hook() is for leaves; this tensor was made "
            f"by {self.grad_fn.name()}"
        )
    return RemovableHandle(hooks.accumulated, hook)


def retain_grad(self: Tensor) -> None:
    """Let backward fill ``.grad`` of this tensor though it is no leaf.

    Does nothing for a leaf. The gradient is the one that all hooks have seen.

    Raises
    ------
    GradientError
        If the tensor does not require grad.
    """
    hooks = _hooks_of(self, "retain_grad()")
    _note(self, "retains the gradient", True)
    if not self.is_leaf:
        hooks.retained[result_index(edge_of(self))] = weakref.ref(self)


def detach_(self: Tensor) -> Tensor:
    """Take this tensor off the tape, as a leaf, and return it.

    Raises
    ------
    GradientError
        If it is a view.
    """
    if self._is_view():
        raise GradientError("detach_() is not possible on a view; use detach()")
    _note(self, "takes off the tape the place", False)
    if self._node.__class__ is LeafEntry:
        return self.requires_grad_(False)
    self._node = None
    return self


def _get_data(self: Tensor) -> Tensor:
    """The same memory without gradient, with a version counter of its own."""
    result: Tensor = bind(OPERATORS["detach"], (self,), {})
    if self._counter is not INFERENCE:
        result._counter = [0]
    return result


def _set_data(self: Tensor, value: Tensor) -> None:
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(f"data must be a Tensor, not {type(value).__name__}")
    if self.requires_grad and value.dtype.kind not in ("float", "complex"):
        raise GradientError(
            "the data of a tensor that requires grad must be floating or complex, "
            f"not {value.dtype.name}"
        )
    recorder = thread.recorder
    if recorder is not None:
        recorder.created(self, "assignment to .data")
    self._array = value._array


def _install() -> None:
    for function in (
        register_hook,
        register_post_accumulate_grad_hook,
        retain_grad,
        detach_,
    ):
        setattr(Tensor, function.__name__, function)
    Tensor.data = property(  # type: ignore[assignment]
        _get_data, _set_data, doc=_get_data.__doc__
    )


_install()
