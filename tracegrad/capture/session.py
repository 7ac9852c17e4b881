"""One recording: the user's function, run once, ordinarily, and written down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tracegrad.capture.checks import SameAs, value_check
from tracegrad.capture.journal import Journal
from tracegrad.capture.numbers import (
    Computed,
    Leaf,
    NumberOwner,
    Source,
    StandIn,
    Taken,
    plain,
    stand_in,
    takings_of,
)
from tracegrad.capture.origin import Origin
from tracegrad.capture.outputs import CannotReturnError, Flattening, shown
from tracegrad.capture.paths import Attribute, Held, Item, Path
from tracegrad.capture.places import Places, placed
from tracegrad.capture.reads import ReadRecorder, Reads
from tracegrad.capture.recorder import Bump, OperatorRecorder, UnknownTensorError
from tracegrad.capture.tape import Standing
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import get_default_dtype
from tracegrad.errors import InplaceError
from tracegrad.ir.graph import Check, Graph, Value
from tracegrad.spec import ScalarSpec


@final
@dataclass(frozen=True, slots=True)
class LeafInput:
    """Where a program's input comes from at a call.

    Attributes
    ----------
    path : Path
    value : Value
        The graph's input.
    example : object
        What it was in the recorded call.
    source : Source or None
        For a number that is computed from leaves before the call.
    standing : Standing or None
        How a tensor stood before the recorded call.
    location : Location or None
        The line that read it.
    """

    path: Path
    value: Value
    example: Any
    source: Source | None = None
    standing: Standing | None = None
    location: Any = None


@final
@dataclass(frozen=True, slots=True)
class Recording:
    """What came of recording a call.

    Attributes
    ----------
    result : object
        What the user's function returned.
    reads : Reads
    graph : Graph or None
        None if the call can't be captured.
    reason : str
        Why, with the user's line.
    inputs : tuple of LeafInput
        In the order of the graph's inputs.
    numbers : tuple of Path
        Where the dynamic numbers are.
    places : Places or None
        Of the returned tensors.
    build : callable or None
        Puts them together.
    bumps : tuple of Bump
        Which inputs were written, how often, and where.
    """

    result: Any
    reads: Reads
    graph: Graph | None
    reason: str
    inputs: tuple[LeafInput, ...] = ()
    numbers: tuple[Path, ...] = ()
    places: Places | None = None
    build: Any = None
    bumps: tuple[Bump, ...] = ()


@final
class _Leaves(NumberOwner):
    """Tells the read-recorder what tensors and generators are, and hears of them."""

    def __init__(self, operators: OperatorRecorder) -> None:
        self.operators = operators
        self.paths: dict[int, Path] = {}
        self.locations: dict[int, Any] = {}
        self.numbers: list[tuple[Path, Any, Any]] = []
        self.number_values: dict[Source, Value] = {}
        self.reads: ReadRecorder | None = None
        # What the call took out of tensors: the value, what it was, where.
        self.takings: list[tuple[Value, Any, Any]] = []
        self._pinned: set[int] = set()
        self._stand_ins: list[Any] = []
        self.flat: Any = None
        self.build: Any = None
        self.why_not = ""

    def is_leaf(self, value: object) -> bool:
        """Return whether `value` is a tensor, a generator or a number's stand-in."""
        return isinstance(value, Tensor | Generator | StandIn)

    def read(self, value: Any, path: Path, location: Any) -> None:
        """Make a leaf from outside an input."""
        self.paths[id(value)] = path
        self.locations[id(value)] = location
        if isinstance(value, Generator):
            self.operators.add_generator(value)
        else:
            self.operators.add_tensor(value, _hint(path))

    def number(self, value: float, path: Path, location: Any) -> Any:
        """Make a dynamic number an input."""
        leaf = Leaf(len(self.numbers))
        self.numbers.append((path, value, location))
        return stand_in(value, leaf, self)

    def made(self, number: Any) -> None:
        """Note that a stand-in was made."""
        self._stand_ins.append(number)

    def pin_numbers_in(self, array: Any) -> None:
        """Pin the numbers that an array made from Python numbers may hold."""
        for number in self._stand_ins:
            if number.owner is not None and _may_hold(array, plain(number)):
                number.pin()

    def taken(self, value: Value, number: Any) -> Any:
        """Return the stand-in of a number that was taken out of a tensor."""
        self.takings.append((value, number, self.operators.origin.here()))
        return stand_in(number, Taken(len(self.takings) - 1), self)

    def returned(self, result: Any) -> None:
        """Take apart what the function returned, while it is known what is outside."""
        try:
            self.build = self.flat.take_apart(result)
        except CannotReturnError as error:
            self.why_not = str(error)

    def let_go(self) -> None:
        """Leave the stand-ins as the numbers they are."""
        for number in self._stand_ins:
            number.owner = None
        self._stand_ins.clear()

    def effect(self, sentence: str) -> None:
        """Note an effect of the user's line."""
        if self.reads is not None:
            self.reads.effect(self.reads.location(), sentence)

    def value_for(self, number: Any) -> Any:
        """Return the graph's input for a stand-in, or the number itself if pinned."""
        if takings_of(number.source):
            number.pin()
            return plain(number)
        found = self.number_values.get(number.source)
        if found is None:
            # Its type only: looking at the value would guard it.
            spec = ScalarSpec("int" if isinstance(number, int) else "float")
            found = self.operators.builder.input("number", spec)
            self.operators.inputs.append((found, number.source))
            self.number_values[number.source] = found
        return found

    def pin(self, source: Any) -> None:
        """Guard the values of the numbers that `source` comes from."""
        if isinstance(source, Leaf):
            path, value, location = self.numbers[source.index]
            if self.reads is not None:
                self.reads.guard(path, value_check(value), location)
        elif isinstance(source, Computed):
            for arg in source.args:
                self.pin(arg)
        elif isinstance(source, Taken) and source.index not in self._pinned:
            self._pinned.add(source.index)
            taken, number, place = self.takings[source.index]
            self.operators.builder.checks.append(Check(taken, number, place))

    def truth(self, value: Any, location: Any) -> bool:
        """Return the truth of a leaf, which guards it."""
        return bool(value)

    def attribute(self, value: Any, name: str, path: Path | None, location: Any) -> Any:
        """Return an attribute of a leaf; what came from outside is observed."""
        if not isinstance(value, Tensor) or self.reads is None:
            return getattr(value, name)
        if name in _ADDRESSES and not self._is_absent(value, name):
            self.reads.unrecordable(location, f"reads .{name} of a tensor")
        if path is None or name in _OF_THE_SPEC or name in _ADDRESSES:
            return getattr(value, name)
        if name == "grad":
            return self.grad_of(value)
        found = getattr(value, name)
        if callable(found) and name not in value.__dict__:
            return found
        return self.reads.observe(found, Attribute(path, name), location)

    def _is_absent(self, value: Tensor, name: str) -> bool:
        """Return whether it has no history, or no base: what a guard says anyway."""
        return name in ("grad_fn", "_base") and getattr(value, name) is None

    def preparing(self, owner: Any) -> None:
        """Let the journal keep the state that an object is about to prepare."""
        journal = self.operators.journal
        state = getattr(owner, "state", None)
        if journal is not None and isinstance(state, dict):
            journal.preparing(state)

    def store(self, value: Any, name: str, location: Any) -> str | None:
        """Return why setting an attribute of a leaf is an effect, or None."""
        if isinstance(value, Tensor) and name == "grad":
            return None
        if name != "data" and isinstance(value, Tensor) and id(value) not in self.paths:
            return None
        return f"sets .{name} of a tensor"

    def grad_of(self, tensor: Tensor) -> Tensor | None:
        """Return ``tensor.grad``, guarded if it was there before the call."""
        path = self.paths.get(id(tensor))
        if path is None or id(tensor) in self.operators.grads or self.reads is None:
            return tensor._grad
        found: Tensor | None = self.reads.observe(
            tensor._grad, Attribute(path, "grad"), self.reads.location()
        )
        return found


_NO_PATH: Any = None

# Attributes of a tensor that its guards decide.
_OF_THE_SPEC = frozenset(
    {"shape", "dtype", "device", "ndim", "requires_grad", "is_leaf", "is_meta", "T"}
    | {"mT", "H", "mH", "real", "imag", "data", "itemsize", "nbytes", "layout"}
    | {"is_cpu", "is_cuda"}
)
# Where a tensor lies, and in which history, is no matter of its values.
_ADDRESSES = frozenset(
    {"data_ptr", "storage_offset", "untyped_storage", "storage", "_base", "grad_fn"}
)


# How a module's parts are reached: nothing a user would write.
_INNER = re.compile(r"\._(?:modules|parameters|buffers)\[")


def _name_inputs(reads: Reads, operators: OperatorRecorder, leaves: _Leaves) -> None:
    """Call each input by the shortest of the ways in which the user reached it."""
    others: dict[Path, list[Path]] = {}
    for guard in reads.guards:
        if isinstance(guard.check, SameAs):
            for first in guard.check.others:
                others.setdefault(first, []).append(guard.path)
    for value, example in operators.inputs:
        path = leaves.paths.get(id(example))
        if path is not None:
            operators.builder.rename_input(value, _best_hint(path, others))


def _best_hint(path: Path, others: dict[Path, list[Path]]) -> str:
    if isinstance(path, Item) and isinstance(path.base, Item):
        key = path.base.key
        if isinstance(key, Path):
            # What an optimizer remembers of a parameter.
            return f"{_best_hint(key, others)}_{path.key}"
    return min(map(_hint, [path, *others.get(path, ())]), key=len)


def _hint(path: Path) -> str:
    """Return a name for an input: what a user would call it."""
    text = _INNER.sub("[", path.text()).removeprefix("global ").removeprefix("self.")
    return re.sub(r"\W+", "_", text).strip("_")


def record_call(
    function: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    name: str,
    dynamic: frozenset[Path] = frozenset(),
    journal: Journal | None = None,
) -> Recording:
    """Run ``function(*args, **kwargs)`` once and write it down.

    An exception of the user's function passes through.

    Parameters
    ----------
    function : callable
    args, kwargs
    name : str
        Of the graph.
    dynamic : set of Path
        Where numbers are inputs of the program.
    journal : Journal, optional
        Is told what changes; effects on other objects are then refused.
    """
    operators = OperatorRecorder(name)
    operators.journal = journal
    operators.origin = Origin(function)
    leaves = _Leaves(operators)
    reads = ReadRecorder(leaves, dynamic)
    reads.refuses_effects = journal is not None
    leaves.reads = reads
    operators.leaves = leaves
    before = _modes()
    flat = Flattening(lambda value: reads.path_of(value) is not None)
    leaves.flat = flat
    with operators:
        result = reads.run(function, args, kwargs)
    if _modes() != before:
        operators.fail("it leaves a mode of the thread changed")
    return _finished(result, reads.reads(), operators, leaves)


def _may_hold(array: Any, number: float) -> bool:
    """Return whether a number, in the dtype of an array, is one of its elements."""
    with np.errstate(all="ignore"):
        try:
            element = np.asarray(number).astype(array.dtype)
        except (OverflowError, TypeError, ValueError):
            # Python's conversions differ from NumPy's: perhaps it is.
            return True
    # NaN too is held, though it equals nothing.
    return bool(np.any((array == element) | ((array != array) & (number != number))))


def _as(number: Any, dtype: Any) -> Any:
    return np.asarray(plain(number)).astype(dtype)


def _modes() -> tuple[Any, ...]:
    return thread.grad_enabled, thread.inference, thread.anomaly, get_default_dtype()


def _finished(
    result: Any, reads: Reads, operators: OperatorRecorder, leaves: _Leaves
) -> Recording:
    flat, build = leaves.flat, leaves.build
    if build is None:
        operators.fail(f"it can't be made again: {leaves.why_not}")
    elif any(isinstance(part, StandIn) for part in flat.parts):
        result = build(shown(flat.parts))
    leaves.let_go()
    reason = str(reads.reason) if reads.reason is not None else ""
    if not reason and operators.reason:
        where = f", {operators.reason_location}" if operators.reason_location else ""
        reason = operators.reason + where
    if reason:
        return Recording(result, reads, None, reason)
    try:
        _name_inputs(reads, operators, leaves)
        places = placed(flat.parts, operators, leaves.takings)
        graph = operators.finish(places.outputs)
    except (CannotReturnError, UnknownTensorError, InplaceError) as error:
        return Recording(result, reads, None, f"it can't be made again: {error}")
    return Recording(
        result,
        reads,
        graph,
        "",
        _inputs(operators, leaves),
        tuple(path for path, _, _ in leaves.numbers),
        places,
        build,
        tuple(operators.bumps()),
    )


def _inputs(operators: OperatorRecorder, leaves: _Leaves) -> tuple[LeafInput, ...]:
    found = []
    for value, example in operators.inputs:
        if isinstance(example, Leaf | Computed):
            found.append(LeafInput(_NO_PATH, value, None, example))
            continue
        path = leaves.paths.get(id(example))
        if path is None:
            path = Held(example, "default_generator")
        standing = operators.tape.standings.get(id(example))
        location = leaves.locations.get(id(example))
        found.append(LeafInput(path, value, example, None, standing, location))
    return tuple(found)
