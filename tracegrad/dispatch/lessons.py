"""What a call comes to, noted while it is made the general way for the first time.

A *lesson* is the list of primitives that a call applied, each to arguments of the call
or to earlier results. `tracegrad.dispatch.plans` makes later calls from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.state import installed, thread
from tracegrad.dispatch.tensor import Tensor


class Reference(NamedTuple):
    """The value number `place`: an argument, or the result of a step behind them."""

    place: int


class Step(NamedTuple):
    """One operator that a call applied.

    Attributes
    ----------
    operator : OpDef
    operands : tuple
        A `Reference` for a tensor, a tuple of these for several; numbers and None.
    attributes : dict
    arrays : tuple
        What the operands held, in the same form.
    result : Tensor
    tape : bool
        Whether gradients were on.
    """

    operator: OpDef
    operands: tuple[Any, ...]
    attributes: dict[str, Any]
    arrays: tuple[Any, ...]
    result: Any
    tape: bool


class Attachment(NamedTuple):
    """A composite with a rule of its own became one entry of the tape.

    Attributes
    ----------
    operator, operands, attributes, arrays, result
        As of `Step`.
    value : Reference or tuple of Reference
        Which value the result is.
    """

    operator: OpDef
    operands: tuple[Any, ...]
    attributes: dict[str, Any]
    arrays: tuple[Any, ...]
    result: Any
    value: Any


class Paired(NamedTuple):
    """An operator was computed by its kernel pair.

    Attributes
    ----------
    operator, operands, attributes, tape
        As of `Step`.
    """

    operator: OpDef
    operands: tuple[Any, ...]
    attributes: dict[str, Any]
    tape: bool


@final
class Lesson:
    """The steps of one call.

    Attributes
    ----------
    steps : list of Step, Attachment or Paired
    spoilt : bool
        Whether the call did something that the next may do otherwise: it looked at
        data, wrote, drew, or has a result whose size depends on data.
    written : bool
        Whether all that it did is to write an operator's result into its operand.
    """

    def __init__(self, values: list[Any]) -> None:
        self.steps: list[Step | Attachment | Paired] = []
        self.spoilt = False
        self.written = False
        self._index = {id(v): i for i, v in enumerate(values) if isinstance(v, Tensor)}
        self._count = len(values)
        self._kept: list[Tensor] = []

    def note(
        self, operator: OpDef, operands: Any, attributes: dict[str, Any], result: Any
    ) -> None:
        """Note that a primitive was applied."""
        known = tuple(map(self._reference, operands))
        if (
            result.__class__ is not Tensor
            or id(result) in self._index
            or operator.is_random
            or operator.facts.get("dynamic_size")
        ):
            self.spoilt = True
            return
        arrays = tuple(map(_arrays_of, operands))
        tape = thread.grad_enabled
        self.steps.append(Step(operator, known, dict(attributes), arrays, result, tape))
        self._index[id(result)] = self._count
        self._count += 1

    def pair(
        self, operator: OpDef, operands: Any, attributes: dict[str, Any], result: Any
    ) -> None:
        """Note that an operator was computed by its kernel pair."""
        known = tuple(map(self._reference, operands))
        if result.__class__ is not Tensor or operator.is_random:
            self.spoilt = True
            return
        self.steps.append(
            Paired(operator, known, dict(attributes), thread.grad_enabled)
        )
        self._index[id(result)] = self._count
        self._count += 1
        # Its identity is its key: it must not be given to another tensor.
        self._kept.append(result)

    def attach(
        self, operator: OpDef, operands: Any, attributes: dict[str, Any], result: Any
    ) -> None:
        """Note that a composite became one entry of the tape."""
        known = tuple(map(self._reference, operands))
        arrays = tuple(map(_arrays_of, operands))
        value = self._reference(result)
        self.steps.append(
            Attachment(operator, known, dict(attributes), arrays, result, value)
        )

    def write(self, operator: OpDef) -> None:
        """Note that the result of one primitive is about to be written in place."""
        self.written = not self.steps and not self.spoilt and operator.body is None

    def _reference(self, operand: Any) -> Any:
        if isinstance(operand, Tensor):
            found = self._index.get(id(operand))
            if found is None:
                # Made in Python, from who knows what.
                self.spoilt = True
                return None
            return Reference(found)
        if operand.__class__ is tuple:
            return tuple(map(self._reference, operand))
        if operand is not None and not isinstance(
            operand, bool | int | float | complex
        ):
            self.spoilt = True
        return operand

    def index_of(self, value: Any) -> int | None:
        """Return the number of a value."""
        return self._index.get(id(value))


def _arrays_of(operand: Any) -> Any:
    if isinstance(operand, Tensor):
        return operand._array
    return tuple(map(_arrays_of, operand)) if operand.__class__ is tuple else operand


def begin(lesson: Lesson) -> None:
    """Note what this thread applies from here on."""
    installed.add_learning(1)
    thread.lesson = lesson


def end() -> None:
    """Note no more."""
    thread.lesson = None
    installed.add_learning(-1)
