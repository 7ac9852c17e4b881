"""Calls like one before: what was parsed, checked and looked up then is not again.

What a call comes to depends on its Python arguments and on the dtypes, shapes and
strides of its tensors. The first call of a kind goes the general way while its
primitives are noted (`tracegrad.dispatch.lessons`); later calls apply these alone. A
call that did anything else (looked at data, wrote, drew random numbers) is never
planned, and neither is one under a transform or a recorder.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracegrad.config import config
from tracegrad.device import Device
from tracegrad.dispatch.lessons import Attachment, Lesson, Reference, Step, begin, end
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.state import installed, thread
from tracegrad.dispatch.steps import MISSED, Apply, has_several, prepared, writing
from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.dtypes import DType, get_default_dtype
from tracegrad.location import is_published, publish

# Kinds of calls that one function keeps; beyond, it begins anew.
LIMIT = 512
# A longer sequence is data rather than an argument.
_LONG = 64

PLANNED = "__tracegrad_planned__"
"""The attribute that functions made by `planned` have."""

_ndarray = np.ndarray
_PLAIN = frozenset({int, bool, str, type(None), type(Ellipsis), DType, Device, type})


def planned(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let calls of `function` like one before go the short way (decorator).

    Parameters
    ----------
    function : callable
        What it does to its arguments must follow from Python values and from dtypes,
        shapes and strides of tensors: no look at data but through `Tensor.item` and
        its like, and by operators.
    """
    return _shortened(function, _plan_of_result)


def planned_inplace(function: Callable[..., Any]) -> Callable[..., Any]:
    """Do as `planned` for a method that writes an operator's result into its tensor."""
    return _shortened(function, _plan_of_write)


def _shortened(
    function: Callable[..., Any], plan_of: Callable[..., Apply | None]
) -> Callable[..., Any]:
    plans: dict[Any, Apply | None] = {}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if installed.busy:
            return function(*args, **kwargs)
        values: list[Any] = []
        key = _key(args, values) if not kwargs else _key_of_all(args, kwargs, values)
        if key is None:
            return function(*args, **kwargs)
        plan = plans.get(key, MISSED)
        if plan is None:
            return function(*args, **kwargs)
        if plan is not MISSED:
            result = plan(values)
            return function(*args, **kwargs) if result is MISSED else result
        if config.log or thread.anomaly:
            return function(*args, **kwargs)
        if len(plans) >= LIMIT:
            plans.clear()
        result, lesson = _noted(function, args, kwargs, values)
        plans[key] = plan_of(lesson, values, result)
        return result

    setattr(call, PLANNED, True)
    if is_published(function):
        publish(call, function.__name__)
    return call


OpDef.planned = staticmethod(planned)  # type: ignore[method-assign]


# -- what calls are alike -----------------------------------------------------------


def _key(args: Sequence[Any], values: list[Any]) -> tuple[Any, ...] | None:
    """Return what a call is known by, and collect its values; None if it is unusual."""
    key: list[Any] = []
    tracked = False
    tensors = 0
    for a in args:
        cls = a.__class__
        if cls is Tensor or cls is Parameter:
            array = a._array
            if array.__class__ is not _ndarray:
                return None
            view = a._view
            if view is not None and view.base._node is not view.stamp:
                return None
            if a._node is not None:
                tracked = True
            tensors += 1
            values.append(a)
            key += (array.shape, array.strides, array.dtype)
        elif not _add(key, a, cls, values):
            return None
    if len(values) > 1 and (same := _which_are_same(values)):
        key.append(same)
    if len(values) > tensors and not tracked:
        tracked = any(map(_is_tracked, values))
    enabled = not installed.grad_off or thread.grad_enabled
    key.append(enabled and (2 if tracked else 1))
    key.append(get_default_dtype())
    return tuple(key)


def _key_of_all(
    args: Sequence[Any], kwargs: dict[str, Any], values: list[Any]
) -> tuple[Any, ...] | None:
    key = _key((*args, *kwargs.values()), values)
    return None if key is None else (*key, *kwargs)


def _add(key: list[Any], a: Any, cls: type, values: list[Any]) -> bool:
    """Add an argument that is no tensor to a key; return whether that can be."""
    if cls in _PLAIN:
        key += (cls, a)
    elif cls is float:
        # 0.0 equals -0.0, and NaN not itself.
        if a == 0.0 or a != a:
            return False
        key += (cls, a)
    elif cls is slice:
        return _add_items(key, (a.start, a.stop, a.step), cls, values)
    elif cls is tuple or cls is list:
        return _add_items(key, a, cls, values)
    elif isinstance(a, Tensor):
        return _add_tensor(key, a, values)
    else:
        return False
    return True


def _add_items(key: list[Any], items: Any, cls: type, values: list[Any]) -> bool:
    if len(items) > _LONG:
        return False
    key += (cls, len(items))
    return all(_add(key, item, item.__class__, values) for item in items)


def _add_tensor(key: list[Any], a: Tensor, values: list[Any]) -> bool:
    array, view = a._array, a._view
    if a.__class__ not in (Tensor, Parameter) or array.__class__ is not _ndarray:
        return False
    if view is not None and view.base._node is not view.stamp:
        return False
    values.append(a)
    key += (array.shape, array.strides, array.dtype)
    return True


def _which_are_same(values: list[Any]) -> tuple[int, ...]:
    """Return for each tensor where it was given first; nothing if all are different."""
    if len(values) == 2:
        return (0, 0) if values[0] is values[1] else ()
    first: dict[int, int] = {}
    found = tuple([first.setdefault(id(v), i) for i, v in enumerate(values)])
    return found if len(first) < len(values) else ()


def _is_tracked(value: Tensor) -> bool:
    return value._node is not None


# -- the first call of a kind ---------------------------------------------------------


def _noted(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    values: list[Any],
) -> tuple[Any, Lesson]:
    """Make a call the general way; return its result and what it came to."""
    lesson = Lesson(values)
    begin(lesson)
    try:
        return function(*args, **kwargs), lesson
    finally:
        end()


def _plan_of_write(lesson: Lesson, values: list[Any], result: Any) -> Apply | None:
    step = lesson.steps[0] if len(lesson.steps) == 1 and lesson.written else None
    if not isinstance(step, Step) or not values or result is not values[0]:
        return None
    return writing(step) if _fits(step, result) else None


def _fits(step: Step, target: Tensor) -> bool:
    """Return whether a step's result goes as it is into its first operand."""
    array, own = step.result._array, target._array
    return (
        step.operands[0] == Reference(0)
        and not has_several(step)
        and not step.operator.is_view
        and array.__class__ is own.__class__ is _ndarray
        and array.dtype == own.dtype
        and array.shape == own.shape
        and step.result._node is None
    )


def _plan_of_result(lesson: Lesson, values: list[Any], result: Any) -> Apply | None:
    found = None if lesson.spoilt else lesson.index_of(result)
    if found is None or found < len(values):
        return None
    steps = [(prepared(s), not isinstance(s, Attachment)) for s in lesson.steps]
    if any(apply is None for apply, _ in steps):
        return None
    if len(steps) == 1:
        return steps[0][0]

    def plan(values: list[Any]) -> Any:
        for apply, is_value in steps:
            made = apply(values)  # type: ignore[misc]
            if made is MISSED:
                return MISSED
            if is_value:
                values.append(made)
        return values[found]

    return plan
