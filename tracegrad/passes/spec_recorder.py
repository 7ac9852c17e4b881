"""Records operators applied to spec-only tensors: how rules and bodies become nodes.

Derivative rules and composite bodies are ordinary functions on Tensors. Run on
tensors of the meta device with this recorder in the recorder's slot, what they do is
written down as nodes, to any order of differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.state import install_recorder, thread
from tracegrad.dispatch.tensor import Tensor, spec_of, wrap
from tracegrad.errors import CaptureError, NumberNeededError
from tracegrad.ir.builder import GraphBuilder
from tracegrad.ir.graph import Graph, Node, Operand, Value
from tracegrad.location import Location
from tracegrad.spec import ScalarSpec, Spec, StateSpec, TensorSpec


@final
class StandIn:
    """The operand that stands for a generator's state."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class NumberStandIn:
    """The operand that stands for a number which is known when the program runs.

    It is a float or an int, for promotion; nothing may look at its value.
    """

    value: Value


def _refusing(name: str) -> Any:
    def refuse(self: Any, *args: Any) -> Any:
        raise NumberNeededError(
            f"a derivative rule looks at a number that changes from call to call "
            f"({name.strip('_')})"
        )

    return refuse


_ALLOWED = {
    "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__class__",
    "__getattribute__", "__setattr__", "__delattr__", "__doc__", "__dir__", "__hash__",
    "__reduce__", "__reduce_ex__", "__getnewargs__", "__getstate__", "__sizeof__",
    "__getformat__", "__setformat__", "from_bytes", "fromhex",
}  # fmt: skip


def _stand_in_class(base: type) -> Any:
    methods = {name: _refusing(name) for name in dir(base) if name not in _ALLOWED}
    return type(f"{base.__name__.title()}StandIn", (NumberStandIn, base), methods)


_NUMBERS = {"int": _stand_in_class(int), "float": _stand_in_class(float)}


def _stand_in(value: Value) -> Any:
    """Return the operand for a value that is no tensor."""
    if not isinstance(value.spec, ScalarSpec):
        return StandIn(value)
    made = _NUMBERS[value.spec.kind]()
    made.value = value
    return made


@final
class SpecRecorder:
    """Maps spec-only tensors to values of a graph under construction.

    Parameters
    ----------
    builder : GraphBuilder
    """

    def __init__(self, builder: GraphBuilder) -> None:
        self.builder = builder
        self.location: Location | None = None
        self.scope = ""
        # A spec-only tensor is known by its spec object: an alias made by unpacking
        # a saved tensor shares it. The objects are kept, so that ids stay unique.
        self._values: dict[int, Value] = {}
        self._kept: list[Any] = []

    def __enter__(self) -> SpecRecorder:
        self._before = install_recorder(self)
        return self

    def __exit__(self, *exception: object) -> None:
        install_recorder(self._before)

    def tensor_for(self, value: Value) -> Any:
        """Return a new spec-only tensor (or stand-in) for `value`."""
        spec = value.spec
        if not isinstance(spec, TensorSpec):
            return _stand_in(value)
        tensor = wrap(_own(spec))
        self._know(tensor, value)
        return tensor

    def _know(self, tensor: Tensor, value: Value) -> None:
        self._values[id(tensor._array)] = value
        self._kept.append(tensor._array)

    def value_of(self, tensor: Tensor) -> Value:
        """Return the value that `tensor` stands for.

        Raises
        ------
        CaptureError
            If the tensor was not made under this recorder.
        """
        found = self._values.get(id(tensor._array))
        if found is None:
            raise CaptureError(
                f"a tensor of {spec_of(tensor)} came into a recording from outside"
            )
        return found

    def operand(self, operand: Any) -> Operand:
        """Return a node's operand for what an operator was given."""
        if isinstance(operand, Tensor):
            return self.value_of(operand)
        if isinstance(operand, StandIn | NumberStandIn):
            return operand.value
        if operand.__class__ is tuple:
            return tuple(self.value_of(o) for o in operand)
        return operand  # type: ignore[no-any-return]

    def record(
        self,
        operator: OpDef,
        operands: Sequence[Any],
        attributes: dict[str, Any],
        run: Callable[..., Any],
    ) -> Any:
        """Add a node and return spec-only results."""
        inputs = tuple(map(self.operand, operands))
        values = self.builder.node(
            operator,
            inputs,
            attributes,
            self.location,
            self.scope or thread.scope,
        )
        _advance(operands, values)
        tensors = tuple(
            self.tensor_for(v) for v in values if not isinstance(v.spec, StateSpec)
        )
        return tensors[0] if len(tensors) == 1 and not _several(operator) else tensors

    def write(self, target: Any, value: Any) -> None:
        """Refuse: there is no memory to write into."""
        raise CaptureError("a rule or a composite wrote into a tensor in place")

    def read_grad(self, tensor: Tensor) -> Any:
        """Refuse, as `write`."""
        raise CaptureError("a rule or a composite read a .grad")

    def bind_grad(self, target: Any, value: Any) -> None:
        """Refuse, as `write`."""
        raise CaptureError("a rule or a composite set a .grad")

    def took(self, tensor: Any, value: Any) -> Any:
        """Refuse: there is no value."""
        raise CaptureError("a rule or a composite asked for a tensor's value")

    def reseed(self, generator: Any, seed: int) -> None:
        """Refuse, as `write`."""
        raise CaptureError("a rule or a composite seeded a generator")

    def unknown_state(self, generator: Any, how: str) -> None:
        """Refuse, as `write`."""
        raise CaptureError(f"a rule or a composite used {how} of a generator")

    def touches(self, tensor: Any, what: str, hook: bool = False) -> None:
        """Refuse, as `write`."""
        raise CaptureError(f"a rule or a composite {what} of a tensor")

    def backward(self, edges: Any, needed: Any) -> None:
        """Refuse, as `write`."""
        raise CaptureError("a rule or a composite ran a backward pass")

    def fail(self, reason: str) -> None:
        """Refuse, as `write`."""
        raise CaptureError(f"a rule or a composite can't be recorded: {reason}")

    def vouched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function`: nothing is watched here."""
        return function

    def created(self, tensor: Tensor, how: str) -> None:
        """Note a tensor made from Python numbers: a constant of the graph."""
        spec = spec_of(tensor)
        value = self.builder.constant("constant", spec, tensor._array)
        self._know(tensor, value)


def _advance(operands: Sequence[Any], results: tuple[Value, ...]) -> None:
    """Let the generator that was drawn from stand for its next state."""
    if not results or not isinstance(results[-1].spec, StateSpec):
        return
    for operand in operands:
        if isinstance(operand, StandIn) and isinstance(operand.value.spec, StateSpec):
            operand.value = results[-1]


def _several(operator: OpDef) -> bool:
    """Return whether the operator gives a tuple even of one result."""
    return bool(operator.facts.get("several"))


def _own(spec: TensorSpec) -> TensorSpec:
    """Return a copy that no other tensor has: it is the tensor's identity."""
    return TensorSpec(spec.dtype, spec.shape, spec.strides, spec.device)


def replay(recorder: SpecRecorder, graph: Graph, given: dict[Value, Any]) -> None:
    """Apply the nodes of `graph` under the recorder.

    Parameters
    ----------
    recorder : SpecRecorder
        Installed.
    graph : Graph
    given : dict
        Tensors for the graph's inputs and constants; filled with those of all values.
    """
    for node in graph.nodes:
        _replay_node(recorder, node, given)


def _replay_node(recorder: SpecRecorder, node: Node, given: dict[Value, Any]) -> None:
    recorder.location = node.location
    recorder.scope = node.scope
    operands = tuple(_tensor(operand, given) for operand in node.inputs)
    found = OpDef.apply(node.operator, operands, dict(node.attributes))
    results = found if isinstance(found, tuple) else (found,)
    for value, tensor in zip(node.results, results, strict=False):
        given[value] = tensor
    recorder.scope = ""
    if len(results) < len(node.results):
        # The last result is the generator's next state, which the recorder made.
        given[node.results[-1]] = StandIn(recorder.builder.nodes[-1].results[-1])


def _tensor(operand: Operand, given: dict[Value, Any]) -> Any:
    if isinstance(operand, Value):
        return given[operand]
    if isinstance(operand, tuple):
        return tuple(given[v] for v in operand)
    return operand


def graph_of(
    function: Callable[..., Any], specs: Sequence[Spec], name: str = "graph"
) -> Graph:
    """Return the graph of a function of tensors that needs their specs only.

    Used on composite bodies and derivative rules; users' functions are captured by
    `tracegrad.capture`, with guards.
    """
    builder = GraphBuilder(name)
    inputs = [builder.input(f"x{i}", spec) for i, spec in enumerate(specs)]
    recorder = SpecRecorder(builder)
    with recorder:
        result = function(*map(recorder.tensor_for, inputs))
    outputs = result if isinstance(result, tuple) else (result,)
    return builder.finish(recorder.value_of(o) for o in outputs)
