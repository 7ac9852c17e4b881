"""One recording: the user's function, run once, ordinarily, and written down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from tracegrad.capture.checks import SameAs, value_check
from tracegrad.capture.journal import Journal
from tracegrad.capture.numbers import (
    Computed,
    Leaf,
    NumberOwner,
    Source,
    StandIn,
    stand_in,
)
from tracegrad.capture.outputs import (
    CannotReturnError,
    Fresh,
    InputItself,
    InputView,
    Place,
    ResultView,
    Same,
    flatten,
    tape_state,
)
from tracegrad.capture.paths import Attribute, Held, Item, Path
from tracegrad.capture.reads import ReadRecorder, Reads
from tracegrad.capture.recorder import OperatorRecorder, UnknownTensorError
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ir.graph import Graph, Value
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
    """

    path: Path
    value: Value
    example: Any
    source: Source | None = None


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
    places : tuple of Place
        Of the returned tensors.
    build : callable or None
        Puts them together.
    """

    result: Any
    reads: Reads
    graph: Graph | None
    reason: str
    inputs: tuple[LeafInput, ...] = ()
    numbers: tuple[Path, ...] = ()
    places: tuple[Place, ...] = ()
    build: Any = None


@final
class _Leaves(NumberOwner):
    """Tells the read-recorder what tensors and generators are, and hears of them."""

    def __init__(self, operators: OperatorRecorder) -> None:
        self.operators = operators
        self.paths: dict[int, Path] = {}
        self.order: list[Path] = []
        self.numbers: list[tuple[Path, Any, Any]] = []
        self.number_values: dict[Source, Value] = {}
        self.reads: ReadRecorder | None = None

    def is_leaf(self, value: object) -> bool:
        """Return whether `value` is a tensor, a generator or a number's stand-in."""
        return isinstance(value, Tensor | Generator | StandIn)

    def read(self, value: Any, path: Path, location: Any) -> None:
        """Make a leaf from outside an input."""
        self.paths[id(value)] = path
        self.order.append(path)
        if isinstance(value, Generator):
            self.operators.add_generator(value)
        else:
            self.operators.add_tensor(value, _hint(path))

    def number(self, value: float, path: Path, location: Any) -> Any:
        """Make a dynamic number an input."""
        leaf = Leaf(len(self.numbers))
        self.numbers.append((path, value, location))
        return stand_in(value, leaf, self)

    def value_for(self, number: Any) -> Value:
        """Return the graph's input for a stand-in."""
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

    def truth(self, value: Any, location: Any) -> bool:
        """Return the truth of a leaf, which guards it."""
        return bool(value)

    def attribute(self, value: Any, name: str, path: Path | None, location: Any) -> Any:
        """Return an attribute of a leaf; a gradient from outside is observed."""
        if name != "grad" or path is None or not isinstance(value, Tensor):
            return getattr(value, name)
        return self.grad_of(value)

    def preparing(self, owner: Any) -> None:
        """Let the journal keep the state that an object is about to prepare."""
        journal = self.operators.journal
        state = getattr(owner, "state", None)
        if journal is not None and isinstance(state, dict):
            journal.preparing(state)

    def store(self, value: Any, name: str, location: Any) -> str | None:
        """Return why setting an attribute of a leaf is an effect, or None."""
        if isinstance(value, Tensor) and name in ("grad", "requires_grad", "data"):
            return None if name == "grad" else f"sets .{name} of a tensor"
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
    leaves = _Leaves(operators)
    reads = ReadRecorder(leaves, dynamic)
    reads.refuses_effects = journal is not None
    leaves.reads = reads
    operators.leaves = leaves
    with operators:
        result = reads.run(function, args, kwargs)
    return _finished(result, reads.reads(), operators, leaves)


def _finished(
    result: Any, reads: Reads, operators: OperatorRecorder, leaves: _Leaves
) -> Recording:
    reason = str(reads.reason) if reads.reason is not None else ""
    if not reason and operators.reason:
        where = f", {operators.reason_location}" if operators.reason_location else ""
        reason = operators.reason + where
    if reason:
        return Recording(result, reads, None, reason)
    tensors: list[Tensor] = []
    try:
        _name_inputs(reads, operators, leaves)
        build = flatten(result, tensors)
        places, outputs = _places(tensors, operators)
        graph = operators.finish(outputs)
    except (CannotReturnError, UnknownTensorError) as error:
        return Recording(result, reads, None, f"it can't be made again: {error}")
    return Recording(
        result,
        reads,
        graph,
        "",
        _inputs(operators, leaves),
        tuple(path for path, _, _ in leaves.numbers),
        tuple(places),
        build,
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
        found.append(LeafInput(path, value, example))
    return tuple(found)


def _places(
    tensors: list[Tensor], operators: OperatorRecorder
) -> tuple[list[Place], list[Value]]:
    index_of = {id(o): i for i, (_, o) in enumerate(operators.inputs)}
    inputs = {v: i for i, (v, _) in enumerate(operators.inputs)}
    places: list[Place] = []
    outputs: list[Value] = []
    first_of: dict[int, int] = {}
    for position, tensor in enumerate(tensors):
        place = _place(
            tensor, tensors[:position], operators, index_of, inputs, first_of
        )
        if place is None:
            place = Fresh(len(outputs), tape_state(tensor, set(index_of)))
            outputs.append(operators.value_of(tensor))
        first_of.setdefault(id(tensor), position)
        places.append(place)
    return places, outputs


def _place(
    tensor: Tensor,
    before: list[Tensor],
    operators: OperatorRecorder,
    index_of: dict[int, int],
    inputs: dict[Value, int],
    first_of: dict[int, int],
) -> Place | None:
    """Return the place of a tensor that is no fresh result, else None."""
    if id(tensor) in index_of:
        return InputItself(index_of[id(tensor)])
    if id(tensor) in first_of:
        return Same(first_of[id(tensor)])
    storage = operators.storage_of(tensor)
    if storage is None:
        raise UnknownTensorError("a result that came from outside unseen")
    view = tensor._view
    if storage.input is not None:
        return _input_view(tensor, inputs[storage.input], operators)
    for position, other in enumerate(before):
        if view is not None and view.base is other:
            return ResultView(position, view.path)
        if operators.storage_of(other) is storage:
            raise CannotReturnError("two results that share memory in an unusual way")
    return None


def _input_view(tensor: Tensor, index: int, operators: OperatorRecorder) -> Place:
    base = operators.inputs[index][1]
    view = tensor._view
    if view is None:
        if tensor.requires_grad:
            raise CannotReturnError("an alias of an input that carries its gradient")
        # detach() of an input: the same memory without gradient.
        return InputView(index, ())
    start = () if base._view is None else base._view.path
    if base._view is None and view.base is not base:
        raise CannotReturnError("a view of an input whose base came in another way")
    return InputView(index, view.path[len(start) :])
