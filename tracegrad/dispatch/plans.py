"""Calls like one before: what was parsed, checked and looked up then is not again.

What a call comes to depends on its Python arguments and on the dtypes, shapes and
strides of its tensors. The first call of a kind goes the general way while its
primitives are noted (`tracegrad.dispatch.lessons`); later calls apply these alone. A
call that did anything else (looked at data, wrote, drew random numbers) is never
planned, and neither is one under a transform or a recorder.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracegrad.config import config
from tracegrad.device import Device, _quiet
from tracegrad.dispatch.bind import attach
from tracegrad.dispatch.entry import (
    INFERENCE,
    SavedTensor,
    TapeEntry,
    hooks_of,
    next_sequence,
)
from tracegrad.dispatch.lessons import Attachment, Lesson, Reference, Step, begin, end
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.state import installed, thread
from tracegrad.dispatch.tensor import Parameter, Tensor, View, version_of
from tracegrad.dtypes import DType, get_default_dtype
from tracegrad.errors import TracegradError
from tracegrad.location import here, is_published, publish

# Kinds of calls that one function keeps; beyond, it begins anew.
LIMIT = 512
# A longer sequence is data rather than an argument.
_LONG = 64

PLANNED = "__tracegrad_planned__"
"""The attribute that functions made by `planned` have."""

_new = object.__new__
_copy_quiet: Callable[[], contextvars.Context] = _quiet.copy
_ndarray = np.ndarray
_MISSED: Any = object()
_PLAIN = frozenset({int, bool, str, type(None), type(Ellipsis), DType, Device, type})
_DIFFERENTIABLE_KINDS = frozenset("fcV")

Plan = Callable[[list[Any]], Any]
_Apply = Callable[[Sequence[Any]], Any]


def planned(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let calls of `function` like one before go the short way (decorator).

    Parameters
    ----------
    function : callable
        What it does to its arguments must follow from Python values and from dtypes,
        shapes and strides of tensors: no look at data but through `Tensor.item` and
        its like, and by operators.
    """
    plans: dict[Any, Plan | None] = {}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if installed.busy:
            return function(*args, **kwargs)
        values: list[Any] = []
        key = _key(args, values) if not kwargs else _key_of_all(args, kwargs, values)
        if key is None:
            return function(*args, **kwargs)
        plan = plans.get(key, _MISSED)
        if plan is None:
            return function(*args, **kwargs)
        if plan is not _MISSED:
            result = plan(values)
            return function(*args, **kwargs) if result is _MISSED else result
        if len(plans) >= LIMIT:
            plans.clear()
        result, plans[key] = _learn(function, args, kwargs, values)
        return result

    return _marked(call, function)


def planned_inplace(function: Callable[..., Any]) -> Callable[..., Any]:
    """Do as `planned` for a method that writes an operator's result into its tensor."""
    plans: dict[Any, Plan | None] = {}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if installed.busy:
            return function(*args, **kwargs)
        values: list[Any] = []
        key = _key(args, values) if not kwargs else _key_of_all(args, kwargs, values)
        # With gradients the tape has a say in each write.
        if key is None or not values or values[0] is not args[0]:
            return function(*args, **kwargs)
        plan = plans.get(key, _MISSED)
        if plan is None:
            return function(*args, **kwargs)
        if plan is not _MISSED:
            result = plan(values)
            return function(*args, **kwargs) if result is _MISSED else result
        if len(plans) >= LIMIT:
            plans.clear()
        result, plans[key] = _learn_write(function, args, kwargs, values)
        return result

    return _marked(call, function)


def _marked(
    call: Callable[..., Any], function: Callable[..., Any]
) -> Callable[..., Any]:
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


def _learn(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    values: list[Any],
) -> tuple[Any, Plan | None]:
    """Make a call the general way; return its result and the plan of others like it."""
    if config.log or thread.anomaly:
        return function(*args, **kwargs), None
    lesson = Lesson(values)
    begin(lesson)
    try:
        result = function(*args, **kwargs)
    finally:
        end()
    found = None if lesson.spoilt else lesson.index_of(result)
    if found is None or found < len(values):
        return result, None
    return result, _plan_of(lesson.steps, len(values), found)


def _learn_write(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    values: list[Any],
) -> tuple[Any, Plan | None]:
    if config.log:
        return function(*args, **kwargs), None
    lesson = Lesson(values)
    begin(lesson)
    try:
        result = function(*args, **kwargs)
    finally:
        end()
    step = lesson.steps[0] if len(lesson.steps) == 1 and lesson.written else None
    if not isinstance(step, Step) or result is not values[0] or _has_several(step):
        return result, None
    return result, _writing(step) if _fits(step, result) else None


def _fits(step: Step, target: Tensor) -> bool:
    """Return whether a step's result goes as it is into its first operand."""
    array, own = step.result._array, target._array
    return (
        step.operands[0] == Reference(0)
        and not step.operator.is_view
        and array.__class__ is own.__class__ is _ndarray
        and array.dtype == own.dtype
        and array.shape == own.shape
        and step.result._node is None
    )


def _writing(step: Step) -> Plan:
    function = _lean(step)
    is_ufunc = function.__class__ is np.ufunc
    references = step.operands
    others = tuple(r.place for r in references[1:] if r.__class__ is Reference)

    def plan(values: list[Any]) -> Any:
        x = values[0]
        array, view = x._array, x._view
        version = x._counter or version_of(x)
        if not array.flags.writeable or version is INFERENCE:
            return _MISSED
        if view is not None and view.base._node is not None:
            return _MISSED
        given = [array]
        for r in references[1:]:
            given.append(values[r.place]._array if r.__class__ is Reference else r)
        for i in others:
            if i and np.may_share_memory(array, values[i]._array):
                return _MISSED
        try:
            if is_ufunc:
                _copy_quiet().run(function, *given, out=array)
            else:
                np.copyto(array, _copy_quiet().run(function, *given))
        except (ValueError, TypeError, ArithmeticError, TracegradError):
            return _MISSED
        version[0] += 1
        return x

    return plan


def _plan_of(steps: Sequence[Step | Attachment], count: int, found: int) -> Plan | None:
    applied = [_prepared(step) for step in steps]
    if any(apply is None for apply in applied):
        return None
    last = found == count + sum(isinstance(s, Step) for s in steps) - 1
    if len(applied) == 1:
        return applied[0]  # type: ignore[return-value]
    makes = [isinstance(step, Step) for step in steps]
    pairs = tuple(zip(applied, makes, strict=True))

    def plan(values: list[Any]) -> Any:
        for apply, is_value in pairs:
            result = apply(values)  # type: ignore[misc]
            if result is _MISSED:
                return _MISSED
            if is_value:
                values.append(result)
        return values[-1] if last else values[found]

    return plan


def _prepared(step: Step | Attachment) -> _Apply | None:
    if isinstance(step, Attachment):
        return _attaching(step)
    array = step.result._array
    if array.__class__ is not _ndarray:
        return None
    single = len(step.operands) == 1 and isinstance(step.operands[0], Reference)
    if step.operator.is_view:
        return _view(step) if single and step.result._view is not None else None
    if any(np.may_share_memory(array, a) for a in _flat(step.arrays)):
        # An alias of its operand, with a version of which the operator knows.
        return None
    return _of_several(step) if _has_several(step) else _primitive(step)


# -- one step -------------------------------------------------------------------------


def _attaching(step: Attachment) -> _Apply | None:
    if step.result.__class__ is not Tensor or _has_several(step):
        return _attaching_generally(step)
    tape = _taped(step)
    if tape is None:
        return lambda values: None
    operands, place = step.operands, step.value.place

    def apply(values: Sequence[Any]) -> Any:
        found = [values[o.place] if o.__class__ is Reference else o for o in operands]
        edges = tuple([getattr(o, "_node", None) for o in found])
        tape(values[place], edges, found)
        return None

    return apply


def _attaching_generally(step: Attachment) -> _Apply:
    operator, operands, attributes, _, _, value = step

    def apply(values: Sequence[Any]) -> Any:
        found = [_given(o, values) for o in operands]
        edges = [_nodes(o) for o in found]
        attach(operator, found, attributes, edges, _given(value, values))
        return None

    return apply


def _flat(arrays: Any) -> list[Any]:
    found: list[Any] = []
    for array in arrays:
        if array.__class__ is tuple:
            found.extend(array)
        elif array.__class__ is _ndarray:
            found.append(array)
    return found


def _has_several(step: Step | Attachment) -> bool:
    return any(
        o.__class__ is not Reference and o.__class__ is tuple for o in step.operands
    )


def _given(reference: Any, values: Sequence[Any]) -> Any:
    """Return the value, or the values, that a reference means; numbers as they are."""
    if reference.__class__ is Reference:
        return values[reference.place]
    if reference.__class__ is tuple:
        return tuple([values[r.place] for r in reference])
    return reference


def _lean(step: Step) -> Callable[..., Any]:
    """Return the kernel as a function of arrays."""
    operator, attributes = step.operator, step.attributes
    prepare = operator.facts.get("lean")
    try:
        found = None if prepare is None else prepare(step.arrays, attributes)
    except TracegradError:
        # The call went well: what the family says of it is not needed.
        found = None
    if found is not None:
        return found  # type: ignore[no-any-return]
    assert operator.kernel is not None
    return functools.partial(operator.kernel, np, **attributes)


def _view(step: Step) -> _Apply:
    index = step.operands[0].place
    operator, attributes = step.operator, step.attributes
    assert operator.kernel is not None
    function = functools.partial(operator.kernel, np, **attributes)
    own = (operator, attributes, 0)
    alone = (own,)
    taped = _taped(step) if step.tape else None
    keeps = step.tape

    def apply(values: Sequence[Any]) -> Any:
        x = values[index]
        node = x._node
        view = x._view
        if view is None:
            base, path, origin = x, alone, ""
        else:
            base, path, origin = view.base, (*view.path, own), view.origin
        grad = keeps and (not installed.grad_off or thread.grad_enabled)
        self = _new(Tensor)
        self._array = function(x._array)
        self._node = self._grad = None
        self._view = View(base, path, base._node, origin if grad else "no_grad")
        self._counter = base._counter or version_of(base)
        if node is not None and grad and taped is not None:
            taped(self, (node,), (x,))
        return self

    return apply


def _primitive(step: Step) -> _Apply:
    function = _lean(step)
    taped = _taped(step) if step.tape else None
    stored = step.result._array.dtype
    references = step.operands
    tensors = [r for r in references if r.__class__ is Reference]
    if len(references) == len(tensors) == 1:
        return _unary(references[0].place, function, taped, stored)
    if len(references) == len(tensors) == 2:
        return _binary(references, function, taped, stored)
    return _general(references, function, taped, stored)


def _unary(index: int, function: Any, taped: Any, stored: Any) -> _Apply:
    def apply(values: Sequence[Any]) -> Any:
        x = values[index]
        try:
            array = _copy_quiet().run(function, x._array)
        except (ValueError, TypeError, ArithmeticError, TracegradError):
            return _MISSED
        if array.__class__ is not _ndarray:
            array = np.asarray(array, stored)
        self = _new(Tensor)
        self._array = array
        self._node = self._view = self._counter = self._grad = None
        node = x._node
        if node is None or taped is None:
            return self
        if not installed.grad_off or thread.grad_enabled:
            taped(self, (node,), (x,))
        return self

    return apply


def _binary(references: Any, function: Any, taped: Any, stored: Any) -> _Apply:
    first, second = references[0].place, references[1].place

    def apply(values: Sequence[Any]) -> Any:
        x, y = values[first], values[second]
        try:
            array = _copy_quiet().run(function, x._array, y._array)
        except (ValueError, TypeError, ArithmeticError, TracegradError):
            return _MISSED
        if array.__class__ is not _ndarray:
            array = np.asarray(array, stored)
        self = _new(Tensor)
        self._array = array
        self._node = self._view = self._counter = self._grad = None
        if taped is not None:
            edges = (x._node, y._node)
            if (edges[0] is not None or edges[1] is not None) and (
                not installed.grad_off or thread.grad_enabled
            ):
                taped(self, edges, (x, y))
        return self

    return apply


def _general(references: Any, function: Any, taped: Any, stored: Any) -> _Apply:
    """Any number of operands, numbers and None among them."""

    def apply(values: Sequence[Any]) -> Any:
        operands = [
            values[r.place] if r.__class__ is Reference else r for r in references
        ]
        arrays = [o._array if isinstance(o, Tensor) else o for o in operands]
        try:
            array = _copy_quiet().run(function, *arrays)
        except (ValueError, TypeError, ArithmeticError, TracegradError):
            return _MISSED
        if array.__class__ is not _ndarray:
            array = np.asarray(array, stored)
        self = _new(Tensor)
        self._array = array
        self._node = self._view = self._counter = self._grad = None
        if taped is not None and (not installed.grad_off or thread.grad_enabled):
            edges = tuple([getattr(o, "_node", None) for o in operands])
            if any(edge is not None for edge in edges):
                taped(self, edges, operands)
        return self

    return apply


def _of_several(step: Step) -> _Apply:
    """An operand of several tensors, such as those that are joined."""
    function = _lean(step)
    operator, attributes = step.operator, step.attributes
    keeps, stored = step.tape, step.result._array.dtype

    def apply(values: Sequence[Any]) -> Any:
        operands = [_given(r, values) for r in step_operands]
        arrays = [_arrays(o) for o in operands]
        try:
            array = _copy_quiet().run(function, *arrays)
        except (ValueError, TypeError, ArithmeticError, TracegradError):
            return _MISSED
        self = _new(Tensor)
        self._array = (
            array if array.__class__ is _ndarray else np.asarray(array, stored)
        )
        self._node = self._view = self._counter = self._grad = None
        if keeps and (not installed.grad_off or thread.grad_enabled):
            edges = [_nodes(o) for o in operands]
            if any(edge is not None for edge in edges):
                attach(operator, operands, attributes, edges, self)
        return self

    step_operands = step.operands
    return apply


def _arrays(operand: Any) -> Any:
    if isinstance(operand, Tensor):
        return operand._array
    return [t._array for t in operand] if operand.__class__ is tuple else operand


def _nodes(operand: Any) -> Any:
    if isinstance(operand, Tensor):
        return operand._node
    if operand.__class__ is not tuple:
        return None
    edges = tuple([t._node for t in operand])
    return edges if any(edge is not None for edge in edges) else None


# -- the tape -------------------------------------------------------------------------


def _taped(step: Step | Attachment) -> Callable[..., None] | None:
    """Return what puts a result on the tape; None if nothing of it has a derivative."""
    operator, attributes = step.operator, step.attributes
    dtype = step.result._array.dtype
    if not operator.vjp_rules or dtype.kind not in _DIFFERENTIABLE_KINDS:
        return None
    is_tensor = tuple(r.__class__ is Reference for r in step.operands)
    specs = tuple(
        (a.shape, a.dtype) if t else None
        for a, t in zip(step.arrays, is_tensor, strict=True)
    )
    results = ((step.result._array.shape, dtype),)
    literals = tuple(
        None if t else r for r, t in zip(step.operands, is_tensor, strict=True)
    )
    plans: dict[tuple[Any, ...], Any] = {}

    def tape(self: Tensor, edges: tuple[Any, ...], operands: Sequence[Any]) -> None:
        mask = tuple([edge is not None for edge in edges])
        plan = plans.get(mask)
        if plan is None:
            plan = plans[mask] = operator.plan(mask, is_tensor)
        if not plan.steps:
            return
        entry = _new(TapeEntry)
        entry.plan = plan
        entry.edges = edges
        entry.operand_specs = specs
        entry.result_specs = results
        entry.attributes = attributes
        entry.literals = literals
        entry.hooks = None
        saved = []
        for i in plan.saved_operands:
            t = operands[i]
            saved.append(SavedTensor(t._array, edges[i], t._counter or version_of(t)))
        if plan.saved_results:
            saved.append(SavedTensor(self._array, None, version_of(self)))
        entry.saved = tuple(saved)
        entry.sequence = next_sequence()
        self._node = entry
        if thread.anomaly:
            hooks_of(entry).metadata["traceback_"] = here()

    return tape


def lean_of(operator: OpDef) -> Callable[..., Any]:
    """State how to get the shortest form of an operator's kernel (decorator).

    The function takes the arrays of a call and its attributes, and returns a function
    of such arrays, or None if there is none shorter.
    """

    def state(prepare: Callable[..., Any]) -> Callable[..., Any]:
        operator.facts["lean"] = prepare
        return prepare

    return state
