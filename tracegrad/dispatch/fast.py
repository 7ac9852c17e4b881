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
from tracegrad.dispatch.state import installed
from tracegrad.dispatch.tensor import Parameter, Tensor, version_of
from tracegrad.errors import ArgumentTypeError

_new = object.__new__
_copy_quiet: Callable[[], contextvars.Context] = _quiet.copy
_F32 = np.dtype("float32")
_F64 = np.dtype("float64")
_ndarray = np.ndarray


def binary(operator: OpDef, ufunc: np.ufunc) -> Callable[..., Any]:
    """Return the function of two operands that applies `operator`."""
    plans: dict[tuple[bool, bool], Plan] = {}

    def plan_for(left: bool, right: bool, tensors: tuple[bool, bool]) -> Plan:
        plan = plans[left, right] = operator.plan((left, right), tensors)
        return plan

    def call(x: Any, y: Any) -> Any:
        cls = y.__class__
        if cls is float and x.__class__ is Tensor and x._node is None is x._view:
            a = x._array
            d = a.dtype
            if (d is _F32 or d is _F64) and not installed.busy:
                array = _copy_quiet().run(ufunc, a, y)
                self = _new(Tensor)
                self._array = array if array.__class__ is _ndarray else np.asarray(array)
                self._node = self._view = self._version = self._grad = None
                return self
        elif (
            (cls is Tensor or cls is Parameter)
            and isinstance(x, Tensor)
            and not installed.busy
        ):
            a = x._array
            b = y._array
            d = a.dtype
            if d is b.dtype and (d is _F32 or d is _F64):
                n = x._node
                m = y._node
                if n is None and m is None and x._view is None and y._view is None:
                    array = _copy_quiet().run(ufunc, a, b)
                    self = _new(Tensor)
                    self._array = (
                        array if array.__class__ is _ndarray else np.asarray(array)
                    )
                    self._node = self._view = self._version = self._grad = None
                    return self
                if (
                    x._view is None
                    and y._view is None
                    and not installed.grad_off
                    and a.shape == b.shape
                ):
                    array = _copy_quiet().run(ufunc, a, b)
                    self = _new(Tensor)
                    self._array = (
                        array if array.__class__ is _ndarray else np.asarray(array)
                    )
                    self._view = self._version = self._grad = None
                    key = (n is not None, m is not None)
                    plan = plans.get(key) or plan_for(*key, (True, True))
                    entry = _new(TapeEntry)
                    self._node = entry
                    entry.plan = plan
                    entry.edges = (n, m)
                    entry.saved = _saved(plan, x, y, self)
                    entry.operand_specs = entry.result_specs = entry.hooks = None
                    entry.attributes = NO_ATTRIBUTES
                    entry.literals = (None, None)
                    entry.sequence = next_sequence()
                    return self
        return bind(operator, (operand(operator, x), operand(operator, y)))

    return call


def _saved(plan: Plan, x: Tensor, y: Tensor, out: Tensor) -> tuple[SavedTensor, ...]:
    if not plan.saved_operands and not plan.saved_results:
        return ()
    saved = [
        SavedTensor(t._array, t._node, version_of(t))
        for t in ((x, y)[i] for i in plan.saved_operands)
    ]
    if plan.saved_results:
        saved.append(SavedTensor(out._array, None, version_of(out)))
    return tuple(saved)


def unary(operator: OpDef, ufunc: np.ufunc) -> Callable[..., Any]:
    """Return the function of one operand that applies `operator`."""

    def call(x: Any) -> Any:
        if x.__class__ is Tensor and not installed.busy:
            a = x._array
            d = a.dtype
            if (d is _F32 or d is _F64) and x._node is None and x._view is None:
                array = _copy_quiet().run(ufunc, a)
                self = _new(Tensor)
                self._array = array if array.__class__ is _ndarray else np.asarray(array)
                self._node = self._view = self._version = self._grad = None
                return self
        return bind(operator, (operand(operator, x),))

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
