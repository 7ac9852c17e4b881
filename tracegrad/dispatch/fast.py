"""The common path: a float ufunc on plain tensors, in a handful of bytecodes.

Whatever is not plain (a view, another dtype, a transform, gradients switched off)
goes to ``bind``, which knows all cases.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np

from tracegrad.device import _quiet
from tracegrad.dispatch.bind import NO_ATTRIBUTES, bind
from tracegrad.dispatch.entry import SavedTensor, TapeEntry, next_sequence
from tracegrad.dispatch.operator import OpDef, Plan
from tracegrad.dispatch.state import installed, thread
from tracegrad.dispatch.tensor import Parameter, Tensor, version_of
from tracegrad.errors import ArgumentTypeError
from tracegrad.location import publish

_new = object.__new__
_copy_quiet: Callable[[], contextvars.Context] = _quiet.copy
_F32 = np.dtype("float32")
_F64 = np.dtype("float64")
_ndarray = np.ndarray


def binary(  # noqa: C901 - the common path: tests in the order of their cost
    operator: OpDef, ufunc: np.ufunc
) -> Callable[..., Any]:
    """Return the function of two operands that applies `operator`."""

    @OpDef.planned
    def slow(x: Any, y: Any) -> Any:
        return bind(operator, (operand(operator, x), operand(operator, y)))

    def call(x: Any, y: Any) -> Any:
        cls = x.__class__
        if installed.busy or (cls is not Tensor and cls is not Parameter):
            return slow(x, y)
        a = x._array
        d = a.dtype
        if a.__class__ is not _ndarray or (d is not _F32 and d is not _F64):
            return slow(x, y)
        cls = y.__class__
        if cls is Tensor or cls is Parameter:
            b = y._array
            m = y._node
            v = y._view
            if b.__class__ is not _ndarray or b.dtype is not d:
                return slow(x, y)
            if v is not None and v.base._node is not v.stamp:
                return slow(x, y)
        elif cls is float or cls is int:
            b = y
            m = None
        else:
            return slow(x, y)
        n = x._node
        v = x._view
        if v is not None and v.base._node is not v.stamp:
            return slow(x, y)
        try:
            array = _copy_quiet().run(ufunc, a, b)
        except (ValueError, OverflowError):
            return slow(x, y)
        self = _new(Tensor)
        self._array = array if array.__class__ is _ndarray else np.asarray(array)
        self._node = self._view = self._counter = self._grad = None
        if (n is not None or m is not None) and (
            not installed.grad_off or thread.grad_enabled
        ):
            mask, tensors = (n is not None, m is not None), (True, b is not y)
            record(operator.plan(mask, tensors), (n, m), x, y, self)
        return self

    publish(call, operator.name, [p.name for p in operator.operands])
    return call


def record(plan: Plan, edges: tuple[Any, ...], x: Tensor, y: Any, out: Tensor) -> None:
    """Put `out` on the tape: the result of an operator of one or two operands.

    `y` is a Tensor, a Python number, or None if there is no such operand.
    """
    if not plan.steps:
        return
    entry = _new(TapeEntry)
    entry.plan = plan
    entry.edges = edges
    entry.operand_specs = entry.result_specs = entry.hooks = None
    entry.attributes = NO_ATTRIBUTES
    entry.literals = _NO_LITERALS
    if isinstance(y, Tensor):
        a, b = x._array, y._array
        if a.shape != b.shape:
            entry.operand_specs = ((a.shape, a.dtype), (b.shape, b.dtype))
    elif y is not None:
        entry.literals = (None, y)
    saved = _NOTHING
    for index in plan.saved_operands:
        t = y if index else x
        saved += (SavedTensor(t._array, t._node, t._counter or version_of(t)),)
    if plan.saved_results:
        saved += (SavedTensor(out._array, None, version_of(out)),)
    entry.saved = saved
    entry.sequence = next_sequence()
    out._node = entry


_NO_LITERALS = (None, None)
_NOTHING: tuple[SavedTensor, ...] = ()


def unary(operator: OpDef, ufunc: np.ufunc) -> Callable[..., Any]:
    """Return the function of one operand that applies `operator`."""

    @OpDef.planned
    def slow(x: Any) -> Any:
        return bind(operator, (operand(operator, x),))

    def call(x: Any) -> Any:
        cls = x.__class__
        if installed.busy or (cls is not Tensor and cls is not Parameter):
            return slow(x)
        a = x._array
        d = a.dtype
        n = x._node
        v = x._view
        if (
            a.__class__ is not _ndarray
            or (d is not _F32 and d is not _F64)
            or (v is not None and v.base._node is not v.stamp)
        ):
            return slow(x)
        array = _copy_quiet().run(ufunc, a)
        self = _new(Tensor)
        self._array = array if array.__class__ is _ndarray else np.asarray(array)
        self._node = self._view = self._counter = self._grad = None
        if n is not None and (not installed.grad_off or thread.grad_enabled):
            record(operator.plan((True,), (True,)), (n,), x, None, self)
        return self

    publish(call, operator.name, [p.name for p in operator.operands])
    return call


_NUMBERS = (bool, int, float, complex)


def operand(operator: OpDef, value: Any) -> Any:
    """Return `value` as an operand: a Tensor or a Python number.

    Raises
    ------
    ArgumentTypeError
        If it is neither, nor a NumPy array or number.
    """
    if isinstance(value, Tensor) or value.__class__ in _NUMBERS:
        return value
    if isinstance(value, np.bool_ | np.number):
        return value.item()
    if isinstance(value, np.ndarray):
        return Tensor.from_numpy(value)  # type: ignore[attr-defined]
    if isinstance(value, _NUMBERS):
        return value
    raise ArgumentTypeError(
        f"{operator.name} takes tensors and numbers, not {type(value).__name__}"
    )
