"""One operator of a planned call: its kernel, a new tensor, its entry on the tape.

Everything that a call of the kind has in common is looked up when the plan is made
(`tracegrad.dispatch.plans`), the grad mode too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from tracegrad.device import copy_quiet
from tracegrad.dispatch.bind import DIFFERENTIABLE_KINDS, array_of, attach, edges_of
from tracegrad.dispatch.entry import (
    INFERENCE,
    SavedTensor,
    TapeEntry,
    hooks_of,
    next_sequence,
)
from tracegrad.dispatch.lessons import Attachment, Paired, Reference, Step
from tracegrad.dispatch.pairs import run_pair
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor, View, version_of, wrap
from tracegrad.errors import TracegradError
from tracegrad.location import here

MISSED: Any = object()
"""What a step gives where the general way must be gone: nothing has happened."""

# From the call's arguments, and the results of the steps so far, to the next one.
Apply = Callable[[list[Any]], Any]
_Tape = Callable[[Any, tuple[Any, ...], Sequence[Any]], None]

# To a counter: the tensor's, the local variable's and the question's own.
_OWN_REFERENCES = 3

_new = object.__new__
_ndarray = np.ndarray
# With these a kernel refuses what it was given: the general way says it in our words.
_REFUSALS = (ValueError, TypeError, ArithmeticError, TracegradError)


def prepared(step: Step | Attachment | Paired) -> Apply | None:
    """Return a step as a function, None if later calls can't take it as it was."""
    if isinstance(step, Attachment):
        return _attaching(step)
    if isinstance(step, Paired):
        return _paired(step)
    array = step.result._array
    if array.__class__ is not _ndarray:
        return None
    if step.operator.is_view:
        single = len(step.operands) == 1 and isinstance(step.operands[0], Reference)
        return _view(step) if single and step.result._view is not None else None
    if any(np.may_share_memory(array, a) for a in _flat(step.arrays)):
        # An alias of its operand, with a version of which the operator knows.
        return None
    return _primitive(step)


def writing(step: Step) -> Apply:
    """Return a step whose result is written into its first operand."""
    function = _lean(step)
    is_ufunc = function.__class__ is np.ufunc
    references = step.operands
    others = tuple(r.place for r in references[1:] if r.__class__ is Reference)

    def apply(values: Sequence[Any]) -> Any:
        x = values[0]
        array, view = x._array, x._view
        version = x._counter or version_of(x)
        if not array.flags.writeable or version is INFERENCE:
            return MISSED
        if view is not None and view.base._node is not None:
            return MISSED
        given = [array]
        for r in references[1:]:
            given.append(values[r.place]._array if r.__class__ is Reference else r)
        for i in others:
            if i and np.may_share_memory(array, values[i]._array):
                return MISSED
        try:
            if is_ufunc:
                copy_quiet().run(function, *given, out=array)
            else:
                np.copyto(array, copy_quiet().run(function, *given))
        except _REFUSALS:
            return MISSED
        version[0] += 1
        # Whoever needs what was there holds the counter too, and may ask where.
        if getrefcount(version) > _OWN_REFERENCES and thread.grad_enabled:
            version[1:] = [here()]
        return x

    return apply


def _flat(arrays: Any) -> list[Any]:
    found: list[Any] = []
    for array in arrays:
        if array.__class__ is tuple:
            found.extend(array)
        elif array.__class__ is _ndarray:
            found.append(array)
    return found


def has_several(step: Step | Attachment) -> bool:
    """Return whether an operand of a step is several tensors."""
    # A Reference is a tuple too.
    return any(o.__class__ is tuple for o in step.operands)


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
    return _kernel(step) if found is None else found


def _kernel(step: Step) -> Callable[..., Any]:
    assert step.operator.kernel is not None
    return functools.partial(step.operator.kernel, np, **step.attributes)


# -- kinds of steps -------------------------------------------------------------------


def _attaching(step: Attachment) -> Apply:
    tape = _tape_of(step)

    def apply(values: Sequence[Any]) -> None:
        if tape is not None:
            operands = [_given(o, values) for o in step_operands]
            tape(_given(place, values), tuple(map(edges_of, operands)), operands)

    # Not the step itself, which holds the first call's tensors.
    step_operands, place = step.operands, step.value
    return apply


def _paired(step: Paired) -> Apply:
    operator, references, attributes, tape = step

    def apply(values: Sequence[Any]) -> Any:
        operands = [_given(r, values) for r in references]
        result = run_pair(operator, operands, attributes, tape)
        return MISSED if result is None else result

    return apply


def _view(step: Step) -> Apply:
    index = step.operands[0].place
    function, tape = _kernel(step), _tape_of(step)
    own = (step.operator, step.attributes, 0)
    alone = (own,)
    is_tracked = step.tape

    def apply(values: Sequence[Any]) -> Any:
        x = values[index]
        view = x._view
        if view is None:
            base, path, origin = x, alone, ""
        else:
            base, path, origin = view.base, (*view.path, own), view.origin
        self = _new(Tensor)
        self._array = function(x._array)
        self._node = self._grad = None
        self._view = View(base, path, base._node, origin if is_tracked else "no_grad")
        self._counter = base._counter or version_of(base)
        if tape is not None and x._node is not None:
            tape(self, (x._node,), (x,))
        return self

    return apply


def _primitive(step: Step) -> Apply:
    references = step.operands
    tensors = [r for r in references if r.__class__ is Reference]
    if len(references) == len(tensors) == 1:
        return _unary(step)
    return _binary(step) if len(references) == len(tensors) == 2 else _general(step)


def _unary(step: Step) -> Apply:
    index = step.operands[0].place
    function, tape, stored = _lean(step), _tape_of(step), step.result._array.dtype

    def apply(values: Sequence[Any]) -> Any:
        x = values[index]
        try:
            array = copy_quiet().run(function, x._array)
        except _REFUSALS:
            return MISSED
        if array.__class__ is not _ndarray:
            array = np.asarray(array, stored)
        self = wrap(array)
        if tape is not None and x._node is not None:
            tape(self, (x._node,), (x,))
        return self

    return apply


def _binary(step: Step) -> Apply:
    first, second = (reference.place for reference in step.operands)
    function, tape, stored = _lean(step), _tape_of(step), step.result._array.dtype

    def apply(values: Sequence[Any]) -> Any:
        x, y = values[first], values[second]
        try:
            array = copy_quiet().run(function, x._array, y._array)
        except _REFUSALS:
            return MISSED
        if array.__class__ is not _ndarray:
            array = np.asarray(array, stored)
        self = wrap(array)
        if tape is not None and (x._node is not None or y._node is not None):
            tape(self, (x._node, y._node), (x, y))
        return self

    return apply


def _general(step: Step) -> Apply:
    """Any operands: several tensors as one, numbers and None among them."""
    references = step.operands
    function, tape, stored = _lean(step), _tape_of(step), step.result._array.dtype

    def apply(values: Sequence[Any]) -> Any:
        operands = [_given(r, values) for r in references]
        try:
            array = copy_quiet().run(function, *map(array_of, operands))
        except _REFUSALS:
            return MISSED
        if array.__class__ is not _ndarray:
            array = np.asarray(array, stored)
        self = wrap(array)
        if tape is not None:
            edges = tuple(map(edges_of, operands))
            if any(edge is not None for edge in edges):
                tape(self, edges, operands)
        return self

    return apply


# -- the tape -------------------------------------------------------------------------


def _tape_of(step: Step | Attachment) -> _Tape | None:
    """Return what puts a result on the tape; None if nothing of it has a derivative."""
    operator, attributes = step.operator, step.attributes
    if not operator.vjp_rules or (isinstance(step, Step) and not step.tape):
        return None
    if step.result.__class__ is tuple or has_several(step):
        return lambda result, edges, operands: attach(
            operator, operands, attributes, list(edges), result
        )
    if step.result._array.dtype.kind not in DIFFERENTIABLE_KINDS:
        return None
    return _tape_of_one(step)


def _tape_of_one(step: Step | Attachment) -> _Tape:
    """Do as `attach` for one result of single operands, whose specs are known."""
    operator, attributes = step.operator, step.attributes
    is_tensor = tuple(r.__class__ is Reference for r in step.operands)
    specs = tuple(
        (a.shape, a.dtype) if t else None
        for a, t in zip(step.arrays, is_tensor, strict=True)
    )
    results = ((step.result._array.shape, step.result._array.dtype),)
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
