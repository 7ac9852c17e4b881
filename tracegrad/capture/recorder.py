"""The recorder of operators: one ordinary eager call, written down as a graph.

It sits under the tape and maps the memory of Tensors to Values. A tensor that was
there before becomes an input; one that it does not know ends the recording with a
reason. What is written is kept as write-backs, so that the graph has no mutation.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

from tracegrad.capture.hints import stored_name
from tracegrad.capture.journal import Journal
from tracegrad.capture.memory import (
    Place,
    Storage,
    is_foreign,
    overlaps_itself,
    place_of,
    same_region,
    share_memory,
)
from tracegrad.capture.numbers import StandIn, looked_at, plain
from tracegrad.capture.origin import Origin
from tracegrad.capture.tape import TapeWatch, base_of
from tracegrad.device import on_host
from tracegrad.dispatch.entry import INFERENCE
from tracegrad.dispatch.foreign import ForeignArray
from tracegrad.dispatch.generator import (
    Generator,
    default_cuda_generator,
    default_generator,
)
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import install_recorder, paused_recorder, thread
from tracegrad.dispatch.storage import owner_of
from tracegrad.dispatch.tensor import Tensor, edge_of, spec_of, version_of
from tracegrad.errors import InplaceError
from tracegrad.ir.builder import GraphBuilder
from tracegrad.ir.graph import (
    BindGrad,
    Check,
    Graph,
    Operand,
    Value,
    WriteState,
    WriteStorage,
)
from tracegrad.location import Location, user_frame
from tracegrad.spec import StateSpec


class UnknownTensorError(Exception):
    """A tensor whose origin the recording did not see."""


class Bump(NamedTuple):
    """Writes into an input, as its version counter has them.

    Attributes
    ----------
    which : int
        The input.
    times : int
    place : Location or None
        Where it was last written under grad.
    """

    which: int
    times: int
    place: Location | None


@final
class OperatorRecorder:
    """Records operators applied to ordinary tensors.

    Parameters
    ----------
    name : str
        Of the graph.

    Attributes
    ----------
    inputs : list of (Value, object)
        What became an input, in order: a Tensor or a Generator.
    reason : str
        Why the call can't be captured; empty while it can.
    """

    def __init__(self, name: str) -> None:
        self.builder = GraphBuilder(name)
        self.inputs: list[tuple[Value, Any]] = []
        self.reason = ""
        self.reason_location: Location | None = None
        self.journal: Journal | None = None
        # What knows where operators are called, set by the session.
        self.origin = Origin()
        # What knows the paths of tensors, set by the session.
        self.leaves: Any = None
        self.grads: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.tape = TapeWatch()
        self._storages: dict[int, Storage] = {}
        self._known: dict[Place, tuple[Value, int]] = {}
        self._states: dict[int, tuple[Generator, Value, Value]] = {}
        # By the identity of version counters: how often writes advanced them.
        self._bumps: dict[int, Bump] = {}
        self._written: dict[Value, Location | None] = {}
        self._detached: dict[Value, Value] = {}
        self._kept: list[Any] = []
        # The last value that each of the user's instructions made, with the name of
        # the variable that takes it.
        self._hints: dict[tuple[int, int], tuple[Value, str]] = {}

    # -- installing -----------------------------------------------------------------

    def __enter__(self) -> OperatorRecorder:
        self._before = install_recorder(self)
        return self

    def __exit__(self, *exception: object) -> None:
        install_recorder(self._before)
        self.origin.let_go()

    def fail(self, reason: str) -> None:
        """Note why the call can't be captured; the first reason stays."""
        if not self.reason:
            self.reason = reason
            self.reason_location = self.origin.here()

    # -- inputs ---------------------------------------------------------------------

    def add_tensor(self, tensor: Tensor, hint: str) -> None:
        """Make a tensor from outside an input of the graph."""
        if tensor.is_meta:
            self.fail("a tensor on the meta device can't be captured")
            return
        if isinstance(tensor._array, ForeignArray):
            self.fail(f"a tensor on {tensor.device} can't be captured yet")
            return
        carries = edge_of(tensor) is not None
        value = self.builder.input(hint, spec_of(tensor), carries)
        self.inputs.append((value, tensor))
        self.tape.enter(tensor)
        # Its counter is made now, so that writes to it can be told from others'.
        version_of(tensor)
        place = self._place(tensor)
        owner = owner_of(tensor._array)
        storage = self._storages.get(id(owner))
        if storage is None:
            self._refuse_foreign_sharers(owner)
            path = () if tensor._view is None else tensor._view.path
            root = weakref.ref(base_of(tensor))
            storage = Storage(owner, place, path, value, root, 0, value)
            self._storages[id(owner)] = storage
        elif storage.stamp:
            self.fail(
                "two inputs share memory and one was written before the other was read"
            )
        storage.regions.add(place)
        self._known[place] = (value, storage.stamp)

    def _refuse_foreign_sharers(self, owner: Any) -> None:
        """Refuse memory that is known already, as that of another owner."""
        if not is_foreign(owner):
            return
        for other in self._storages.values():
            if is_foreign(other.owner) and share_memory(owner, other.owner):
                self.fail("two inputs share memory that tracegrad does not own")

    def add_generator(self, generator: Generator, hint: str = "rng") -> None:
        """Make a generator's state an input of the graph."""
        if id(generator) in self._states:
            return
        value = self.builder.input(hint, StateSpec(generator.engine.name))
        self.inputs.append((value, generator))
        self._states[id(generator)] = (generator, value, value)

    def _place(self, tensor: Tensor) -> Place:
        carries = _edge(tensor) is not None
        return place_of(tensor._array, id(base_of(tensor)) if carries else 0)

    # -- reading --------------------------------------------------------------------

    def value_of(self, tensor: Tensor) -> Value:
        """Return the current value of a tensor.

        Raises
        ------
        UnknownTensorError
            If its memory came from where the recording did not look.
        """
        if tensor.is_meta:
            raise UnknownTensorError(f"a tensor on {tensor.device}")
        place = self._place(tensor)
        storage = self._storages.get(id(owner_of(tensor._array)))
        if storage is None:
            raise UnknownTensorError(
                f"a tensor of shape {list(tensor.shape)} that came from outside unseen"
            )
        known = self._known.get(place)
        if known is not None and known[1] == storage.stamp:
            return known[0]
        value = self._derive(tensor, place, storage)
        self._know(place, value, storage)
        return value

    def _know(self, place: Place, value: Value, storage: Storage) -> None:
        self._known[place] = (value, storage.stamp)

    def _derive(self, tensor: Tensor, place: Place, storage: Storage) -> Value:
        """Return the value of a view of what the storage holds now."""
        known = self._known.get((*place[:4], storage.root_id))
        if not place[4] and known is not None and known[1] == storage.stamp:
            return self.detached(known[0])
        if place[4] not in (0, storage.root_id):
            raise UnknownTensorError("an alias with a gradient of its own")
        value = storage.value
        if not same_region(place, storage.base_place):
            rest = self._path_from(tensor, storage)
            if rest is None:
                raise UnknownTensorError(
                    f"a tensor of shape {list(tensor.shape)} that overlaps another one "
                    "in a way that no view explains"
                )
            for operator, attributes, index in rest:
                value = self._node(operator, (value,), attributes)[index]
        return value if place[4] else self.detached(value)

    def detached(self, value: Value) -> Value:
        """Return a value without its gradient."""
        found = self._detached.get(value)
        if found is None:
            found = self._node(OPERATORS["detach"], (value,), {})[0]
            self._detached[value] = found
        return found

    def _constant(self, operand: Any, value: Operand) -> Operand:
        """Return what an operand is where no gradients are wanted: a constant."""
        if operand.__class__ is tuple:
            assert isinstance(value, tuple)
            return tuple(map(self._constant, operand, value))  # type: ignore[arg-type]
        carries = isinstance(operand, Tensor) and _edge(operand) is not None
        return self.detached(value) if carries else value  # type: ignore[arg-type]

    def _path_from(self, tensor: Tensor, storage: Storage) -> tuple[Any, ...] | None:
        view = tensor._view
        if view is None:
            return None
        count = len(storage.base_path)
        if [s[1:] for s in view.path[:count]] != [s[1:] for s in storage.base_path]:
            return None
        return view.path[count:]

    def _node(
        self, operator: OpDef, inputs: tuple[Operand, ...], attributes: dict[str, Any]
    ) -> tuple[Value, ...]:
        return self.builder.node(
            operator, inputs, attributes, self.origin.here(), thread.scope
        )

    def operand(self, operand: Any) -> Operand:
        """Return a node's operand for what an operator was given."""
        if isinstance(operand, Tensor):
            return self.value_of(operand)
        if isinstance(operand, Generator):
            return self._state(operand)
        if operand.__class__ is tuple:
            return tuple(self.value_of(o) for o in operand)
        if isinstance(operand, StandIn):
            return operand.graph_value  # type: ignore[no-any-return]
        return operand  # type: ignore[no-any-return]

    def _state(self, generator: Generator) -> Value:
        if self.journal is not None:
            self.journal.drawing(generator)
        if generator in (default_generator, default_cuda_generator):
            self.add_generator(generator)
        found = self._states.get(id(generator))
        if found is None:
            raise UnknownTensorError("a generator that came from outside unseen")
        return found[2]

    # -- the Recorder protocol --------------------------------------------------------

    def record(
        self,
        operator: OpDef,
        operands: Sequence[Any],
        attributes: dict[str, Any],
        run: Callable[..., Any],
    ) -> Any:
        """Write the application down, run it, and remember the results' memory."""
        if operator.facts.get("dynamic_size"):
            self.fail(f"the size of what {operator.name} gives depends on values")
        for name, attribute in attributes.items():
            attributes[name] = looked_at(attribute)
        if self.reason:
            with paused_recorder():
                return run(_plain(operands))
        try:
            inputs = tuple(map(self.operand, operands))
        except UnknownTensorError as unknown:
            self.fail(f"{operator.name} takes {unknown}")
            with paused_recorder():
                return run(_plain(operands))
        if operator.differentiable and not thread.grad_enabled:
            inputs = tuple(map(self._constant, operands, inputs))
        scope, location = thread.scope, self.origin.here()
        hint, place = self._hint()
        with paused_recorder():
            result = run(_plain(operands))
        results = result if result.__class__ is tuple else (result,)
        specs: tuple[Any, ...] = tuple(map(spec_of, results))
        if operator.is_random:
            specs = (*specs, StateSpec(operands[0].engine.name))
        values = self.builder.node(
            operator, inputs, attributes, location, scope, specs=specs
        )
        if hint:
            # A line that applies several operators stores the last one's result.
            self._hints[place] = (values[0], hint)
        for tensor, value in zip(results, values, strict=False):
            self._remember(operator, operands, tensor, value)
        if operator.is_random:
            generator = operands[0]
            first = self._states[id(generator)]
            self._states[id(generator)] = (generator, first[1], values[-1])
        return result

    def _hint(self) -> tuple[str, tuple[int, int]]:
        frame = user_frame()
        if frame is None:
            return "", (0, 0)
        return stored_name(frame), (id(frame), frame.f_lasti)

    def _remember(
        self, operator: OpDef, operands: Sequence[Any], tensor: Tensor, value: Value
    ) -> None:
        array = tensor._array
        if tensor.is_meta:
            self.fail(f"{operator.name} gave a tensor on {tensor.device}")
            return
        self._kept.append(array)
        owner = owner_of(array)
        # The result is not on the tape yet: a differentiable result of tracked
        # operands will carry gradient.
        carries = _will_carry(operator, operands, tensor)
        base = base_of(operands[0] if operator.is_view else tensor)
        place = place_of(array, id(base) if carries else 0)
        storage = self._storages.get(id(owner))
        shares = operator.is_view or operator.facts.get("alias", False)
        if storage is None:
            path = () if tensor._view is None else tensor._view.path
            storage = Storage(owner, place, path, value, weakref.ref(base))
            self._storages[id(owner)] = storage
        elif not shares and array.size:
            self.fail(f"{operator.name} gave back memory of an operand")
        self._know(place, value, storage)

    def write(self, target: Tensor, value: Tensor) -> None:
        """Note that `target`'s memory is about to hold `value`."""
        if self.journal is not None:
            self.journal.writing(target)
        if self.reason:
            return
        try:
            carries = _edge(value) is not None
            self._write(target, self.value_of(value), carries)
        except UnknownTensorError as unknown:
            self.fail(f"an in-place operator writes {unknown}")

    def _write(self, target: Tensor, value: Value, carries: bool) -> None:
        storage = self._storages.get(id(owner_of(target._array)))
        if storage is None:
            raise UnknownTensorError("into memory that came from outside unseen")
        self.value_of(target)
        if storage.input is not None and len({p[:4] for p in storage.regions}) > 1:
            self.fail("two inputs share part of their memory and one is written")
            return
        if overlaps_itself(storage.base_place):
            raise UnknownTensorError("into an expanded tensor, of which it is a part")
        base, root = base_of(target), storage.root()
        tracked = root is not None and root._node is not None
        seen = thread.grad_enabled and (carries or base._node is not None)
        if seen and base is not root:
            raise UnknownTensorError("with gradient into an alias of another tensor")
        place = self._place(target)
        whole = self._whole(target, place, storage, value)
        if tracked and not seen:
            # The tape does not see this write: the new value, the old gradient.
            whole = self._node(OPERATORS["graft"], (storage.value, whole), {})[0]
        storage.value = whole
        storage.stamp += 1
        if seen or not tracked:
            carrying = id(base) if carries or place[4] else 0
            self._know((*place[:4], carrying), value, storage)
        self._count(version_of(target))
        self.tape.wrote(target._array, version_of(target))
        if storage.input is not None:
            self._written[storage.input] = self.origin.here()

    def _count(self, version: Any) -> None:
        if version is INFERENCE:
            return
        # Kept, so that no other counter gets its identity.
        self._kept.append(version)
        place = self.origin.here() if thread.grad_enabled else None
        before = self._bumps.get(id(version), Bump(0, 0, None))
        times = before.times + 1
        self._bumps[id(version)] = Bump(0, times, place or before.place)

    def _whole(
        self, target: Tensor, place: Place, storage: Storage, value: Value
    ) -> Value:
        """Return the value of the storage with the part at `place` replaced."""
        if same_region(place, storage.base_place):
            return value
        rest = self._path_from(target, storage)
        if rest is None:
            raise UnknownTensorError("into memory that no view explains")
        path = tuple((op, tuple(a.items()), i) for op, a, i in rest)
        write = OPERATORS["view_write"]
        return self._node(write, (storage.value, value), {"path": path})[0]

    def backward(self, edges: Sequence[Any], needed: set[Any] | None) -> None:
        """Note that a backward pass is about to start."""
        reason = self.tape.why_no_backward(edges, needed)
        if reason:
            self.fail(reason)

    def touches(self, tensor: Tensor, what: str, hook: bool = False) -> None:
        """Note that something other than value or ``.grad`` of `tensor` changes."""
        if self.leaves is not None and self.is_outside(tensor):
            self.leaves.effect(f"{what} of a tensor from outside")
        elif hook:
            self.tape.hooked = True

    def is_outside(self, tensor: Tensor) -> bool:
        """Return whether a tensor was there before the recording."""
        if any(tensor is known for _, known in self.inputs):
            return True
        return self.storage_of(tensor) is None

    def vouched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function` as one that may run uninstrumented."""
        reads = None if self.leaves is None else self.leaves.reads
        return function if reads is None else reads.vouched(function)  # type: ignore[no-any-return]

    def read_grad(self, tensor: Tensor) -> Tensor | None:
        """Return ``tensor.grad``, guarded if it was there before the recording."""
        if self.leaves is None:
            return tensor._grad
        found: Tensor | None = self.leaves.grad_of(tensor)
        return found

    def bind_grad(self, target: Tensor, value: Tensor | None) -> None:
        """Note that ``target.grad`` is `value` from now on."""
        if self.journal is not None:
            self.journal.binding_grad(target)
        self.grads[id(target)] = (target, value)
        if value is not None:
            self._kept.append(value)

    def took(self, tensor: Tensor, value: Any) -> Any:
        """Note that a tensor became the Python value `value`."""
        if self.reason:
            return value
        if not isinstance(value, bool | int | float):
            self.fail("the values of a tensor were taken into Python")
            return value
        try:
            found = self.value_of(tensor)
        except UnknownTensorError as unknown:
            self.fail(f"Python takes the value of {unknown}")
            return value
        if self.leaves is None or isinstance(value, bool):
            self.builder.checks.append(Check(found, value, self.origin.here()))
            return value
        return self.leaves.taken(found, value)

    def reseed(self, generator: Generator, seed: int) -> None:
        """Note that a generator's stream is about to restart from `seed`."""
        self.record(OPERATORS["reseed"], (generator,), {"seed": seed}, lambda given: ())

    def unknown_state(self, generator: Generator, how: str) -> None:
        """End the recording: a state that Python sees is no value of the graph."""
        self.fail(f"{how} of a generator")

    def created(self, tensor: Tensor, how: str) -> None:
        """Note a tensor that was made from Python numbers: a constant."""
        if self.reason:
            return
        if how != "tensor":
            self.fail(
                f"{how} takes the contents of an array that the graph can't watch"
            )
            return
        if self.leaves is not None:
            self.leaves.pin_numbers_in(tensor._array)
        value = self.builder.constant(
            "constant", spec_of(tensor), on_host(tensor._array).copy(order="K")
        )
        self._kept.append(tensor._array)
        owner = owner_of(tensor._array)
        place = self._place(tensor)
        storage = Storage(owner, place, (), value, weakref.ref(tensor))
        self._storages[id(owner)] = storage
        self._know(place, value, storage)

    # -- the end ----------------------------------------------------------------------

    def storage_of(self, tensor: Tensor) -> Storage | None:
        """Return what is known of the memory of `tensor`."""
        if tensor.is_meta:
            return None
        return self._storages.get(id(owner_of(tensor._array)))

    def storage_written(self, target: Value) -> Storage:
        """Return the storage of an input that was written."""
        return next(s for s in self._storages.values() if s.input is target)

    def moved_inputs(self) -> list[tuple[Value, Tensor]]:
        """Return the inputs to which writes gave a new tape position."""
        tensors = dict(self.inputs)
        return [(v, t) for v in self._written if self.tape.moved(t := tensors[v])]

    def bumps(self) -> list[Bump]:
        """Return what happened to the counters of inputs, one input per counter."""
        counts = dict(self._bumps)
        found = []
        for index, (_, tensor) in enumerate(self.inputs):
            if isinstance(tensor, Tensor):
                bump = counts.pop(id(version_of(tensor)), None)
                if bump is not None:
                    found.append(bump._replace(which=index))
        return found

    def finish(self, outputs: Sequence[Value]) -> Graph:
        """Return the graph, with what was written."""
        inputs = {id(o): v for v, o in self.inputs}
        for target, place in self._written.items():
            storage = self.storage_written(target)
            self.builder.writes.append(
                WriteStorage(target, storage.value, storage.stamp, place)
            )
        for tensor, grad in self.grads.values():
            if id(tensor) not in inputs:
                self.tape.refuse_outside(tensor)
            else:
                value = None if grad is None else self.value_of(grad)
                self.builder.writes.append(BindGrad(inputs[id(tensor)], value))
        for _, first, last in self._states.values():
            if first is not last:
                self.builder.writes.append(WriteState(first, last))
        self._name_values()
        return self.builder.finish(outputs)

    def _name_values(self) -> None:
        for value, hint in self._hints.values():
            self.builder.rename(value, hint)
        for write in self.builder.writes:
            if isinstance(write, BindGrad) and write.value is not None:
                self.builder.rename(write.value, f"{write.target.name}_grad")


def _edge(tensor: Tensor) -> Any:
    """Return the tape position of a tensor.

    Raises
    ------
    UnknownTensorError
        If it is a view that lost it. Eager mode asks only where gradients are wanted.
    """
    try:
        return edge_of(tensor)
    except InplaceError as error:
        raise UnknownTensorError("a view that lost its place on the tape") from error


def _plain(operands: Sequence[Any]) -> Sequence[Any]:
    """Return the operands with numbers in place of their stand-ins."""
    return [plain(o) if isinstance(o, StandIn) else o for o in operands]


def _will_carry(operator: OpDef, operands: Sequence[Any], tensor: Tensor) -> bool:
    if not thread.grad_enabled or not operator.differentiable:
        return False
    if tensor.dtype.kind not in ("float", "complex"):
        return False
    return any(_carries(o) for o in operands)


def _carries(operand: Any) -> bool:
    if isinstance(operand, Tensor):
        return _edge(operand) is not None
    return operand.__class__ is tuple and any(map(_carries, operand))
