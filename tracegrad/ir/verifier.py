"""The rules of the IR, and the sentences one reads when a graph breaks one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, cast, final

from tracegrad.device import Device, device_of_array
from tracegrad.dispatch.operator import OpDef
from tracegrad.dtypes import DType, from_numpy_dtype
from tracegrad.errors import TracegradError, VerifyError
from tracegrad.ir.builder import result_specs
from tracegrad.ir.graph import (
    BindGrad,
    Check,
    Constant,
    Graph,
    Node,
    Value,
    WriteBack,
    WriteStorage,
)
from tracegrad.ir.printer import literal, node_text
from tracegrad.sizes import SymbolicSize, numel, shape_text
from tracegrad.spec import ScalarSpec, Spec, StateSpec, TensorSpec

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBERS = (bool, int, float, complex)


def verify(graph: Graph) -> None:
    """Check that `graph` obeys the rules of the IR.

    Every value is defined once, before it is used; specs are those that abstract
    eval gives; operands and attributes fit the operator's signature; states of
    generators are used linearly; writes fit their targets; checks are on single
    elements.

    Raises
    ------
    VerifyError
        At the first rule that is broken, with the graph, the node and its location.
    """
    _Verifier(graph, {}).run()


def verify_parsed(graph: Graph, lines: Mapping[int, int]) -> None:
    """Do as `verify` for a graph that was read from a text.

    Parameters
    ----------
    graph : Graph
    lines : mapping from identity to line
        Where the graph, its constants, nodes, checks and writes, and its tuple of
        outputs begin; of the graphs inside it too.

    Raises
    ------
    VerifyError
        As `verify`, with the line.
    """
    _Verifier(graph, lines).run()


def same_layout(a: Spec, b: Spec) -> bool:
    """Whether two specs say the same; strides of dimensions of size 1 don't matter."""
    if not isinstance(a, TensorSpec) or not isinstance(b, TensorSpec):
        return a == b
    if (a.dtype, a.shape, a.device) != (b.dtype, b.shape, b.device):
        return False
    return a.strides == b.strides or 0 in _known(a.shape) or _steps(a) == _steps(b)


def _known(shape: Iterable[Any]) -> list[int]:
    return [size for size in shape if isinstance(size, int)]


def _steps(spec: TensorSpec) -> list[Any]:
    pairs = zip(spec.shape, spec.strides, strict=True)
    return [step for size, step in pairs if size != 1]


@final
class _Verifier:
    """Walks one graph and remembers what it defined."""

    def __init__(self, graph: Graph, lines: Mapping[int, int]) -> None:
        self._graph = graph
        self._lines = lines
        # What is looked at: the graph's head, or a statement.
        self._at: object = graph
        self._defined: dict[str, Value] = {}
        self._used_states: set[Value] = set()
        self._node_at: Node | None = None

    def run(self) -> None:
        """Check everything, in the order of the text."""
        graph = self._graph
        for value in graph.inputs:
            self._define(value)
        for constant in graph.constants:
            self._at = constant
            self._constant(constant)
        for node in graph.nodes:
            self._at = self._node_at = node
            self._node(node)
        self._node_at = None
        for check in graph.checks:
            self._at = check
            self._check(check)
        for write in graph.writes:
            self._at = write
            self._write(write)
        self._at = graph.outputs
        for value in graph.outputs:
            self._use(value, "an output")

    def _fail(self, message: str) -> NoReturn:
        where = "" if self._node_at is None else f" in {_shown(self._node_at)}"
        line = self._lines.get(id(self._at))
        place = "" if line is None else f" (line {line} of the text)"
        raise VerifyError(f"graph {self._graph.name}: {message}{where}{place}")

    # -- definitions and uses --------------------------------------------------

    def _define(self, value: Value) -> None:
        if not _NAME.fullmatch(value.name):
            self._fail(f"{value.name!r} is no name for a value; use letters and digits")
        if value.name in self._defined:
            self._fail(f"%{value.name} is defined twice")
        if value.requires_grad:
            self._may_require_grad(value)
        self._defined[value.name] = value

    def _may_require_grad(self, value: Value) -> None:
        if value not in self._graph.inputs:
            self._fail(f"%{value.name} requires grad and is no input")
        spec = value.spec
        floating = isinstance(spec, TensorSpec) and spec.dtype.kind in (
            "float",
            "complex",
        )
        if not floating:
            self._fail(f"%{value.name} requires grad, which {spec} can't")

    def _use(self, value: Any, what: str) -> None:
        if not isinstance(value, Value):
            self._fail(f"{what} must be a value, not {value!r}")
        if self._defined.get(value.name) is not value:
            self._fail(f"%{value.name} is used as {what} and not defined before")
        if not isinstance(value.spec, StateSpec):
            return
        if value in self._used_states:
            self._fail(
                f"the state %{value.name} is used twice; a draw takes a state and "
                "gives the next one"
            )
        self._used_states.add(value)

    def _constant(self, constant: Constant) -> None:
        value, array = constant.value, constant.array
        self._define(value)
        spec = value.spec
        if not isinstance(spec, TensorSpec):
            self._fail(f"the constant %{value.name} must be a tensor, not {spec}")
        found = TensorSpec(
            from_numpy_dtype(array.dtype),
            tuple(array.shape),
            tuple(step // array.itemsize for step in array.strides),
            device_of_array(array),
        )
        if not same_layout(found, spec):
            self._fail(f"the constant %{value.name}: {spec} holds an array {found}")

    # -- nodes -----------------------------------------------------------------

    def _node(self, node: Node) -> None:
        self._operands(node)
        self._attributes(node)
        self._results(node)
        for value in node.results:
            self._define(value)

    def _operands(self, node: Node) -> None:
        operands = node.operator.operands
        if len(operands) != len(node.inputs):
            self._fail(
                f"{node.operator.name} takes {len(operands)} operands "
                f"({', '.join(o.name for o in operands)}), not {len(node.inputs)}"
            )
        for operand, given in zip(operands, node.inputs, strict=True):
            for value in given if isinstance(given, tuple) else (given,):
                if isinstance(value, Value):
                    self._use(value, f"operand {operand.name!r}")
            if not _fits(node.operator, operand.kind, given):
                self._fail(
                    f"operand {operand.name!r} must be {_WANTED[operand.kind]}, "
                    f"not {_described(given)}"
                )

    def _attributes(self, node: Node) -> None:
        wanted = [attribute.name for attribute in node.operator.attributes]
        given = [name for name, _ in node.attributes]
        if wanted != given:
            self._fail(f"{node.operator.name} has the attributes {wanted}, not {given}")
        for name, value in node.attributes:
            self._attribute(name, value)

    def _attribute(self, name: str, value: Any) -> None:
        try:
            hash(value)
            literal(value)
        except (TypeError, VerifyError):
            self._fail(
                f"attribute {name!r} must be hashable and printable, "
                f"not a {type(value).__name__}"
            )
        if isinstance(value, Graph):
            verify_parsed(value, self._lines)

    def _results(self, node: Node) -> None:
        specs = self._abstract(node)
        if len(specs) != len(node.results):
            self._fail(f"there are {len(specs)} results, not {len(node.results)}")
        for value, spec in zip(node.results, specs, strict=True):
            if not same_layout(value.spec, spec):
                self._fail(f"%{value.name} is {spec}, not {value.spec}")

    def _abstract(self, node: Node) -> tuple[Spec, ...]:
        try:
            found = result_specs(node.operator, node.inputs, dict(node.attributes))
            sensible = all(map(_is_sensible, found))
        except TracegradError as error:
            self._fail(str(error))
        # Abstract eval may stumble in any way over attributes of a wrong type.
        except Exception as error:
            self._fail(f"abstract eval fails with {error.__class__.__name__}: {error}")
        if not sensible:
            self._fail(f"abstract eval gives no specs but {found}")
        return found

    # -- what follows the nodes ------------------------------------------------

    def _check(self, check: Check) -> None:
        self._use(check.value, "a check")
        spec = check.value.spec
        if not isinstance(spec, TensorSpec) or numel(spec.shape) != 1:
            self._fail(
                f"the check on %{check.value.name} needs one element, not {spec}"
            )
        if not isinstance(check.expected, _NUMBERS):
            self._fail(
                f"the check on %{check.value.name} expects a number, "
                f"not {check.expected!r}"
            )

    def _write(self, write: WriteBack) -> None:
        target = write.target
        if target not in self._graph.inputs:
            self._fail(f"the target {target!r} of a write must be an input")
        if write.value is not None:
            self._use(write.value, "a written value")
        if isinstance(write, WriteStorage):
            self._storage(write)
        elif isinstance(write, BindGrad):
            self._fit_target(target, write.value)
        elif not isinstance(target.spec, StateSpec) or target.spec != write.value.spec:
            self._fail(f"{target!r} can't continue from {_described(write.value)}")

    def _storage(self, write: WriteStorage) -> None:
        self._fit_target(write.target, write.value)
        if type(write.bumps) is not int or write.bumps < 1:
            self._fail(f"the write to {write.target!r} bumps at least 1 version")

    def _fit_target(self, target: Value, value: Value | None) -> None:
        spec = target.spec
        if not isinstance(spec, TensorSpec):
            self._fail(f"{target!r} is no tensor, but {spec}, and can't be written")
        if value is None:
            return
        found = value.spec
        fits = isinstance(found, TensorSpec) and (found.dtype, found.shape) == (
            spec.dtype,
            spec.shape,
        )
        if not fits:
            self._fail(
                f"{target!r} needs {spec.dtype.code}{shape_text(spec.shape)}, "
                f"not {_described(value)}"
            )


def _is_sensible(spec: Any) -> bool:
    """Whether abstract eval, perhaps of odd attributes, gave something like a spec."""
    if not isinstance(spec, TensorSpec):
        return isinstance(spec, ScalarSpec | StateSpec)
    sizes = (*spec.shape, *spec.strides)
    dtype, device = cast(tuple[Any, Any], (spec.dtype, spec.device))
    if not isinstance(dtype, DType) or not isinstance(device, Device):
        return False
    return all(type(size) in (int, SymbolicSize) for size in sizes)


def _shown(node: Node) -> str:
    place = "" if node.location is None else f" at {node.location}"
    try:
        return f"'{node_text(node)}'{place}"
    except VerifyError:
        # An attribute without a text is what this is about.
        return f"a node of {node.operator.name}{place}"


def _described(given: Any) -> str:
    return f"{given!r}: {given.spec}" if isinstance(given, Value) else repr(given)


_WANTED = {
    "tensor": "a tensor",
    "optional": "a tensor or None",
    "tensors": "several tensors",
    "state": "a generator's state",
}


def _fits(operator: OpDef, kind: str, given: Any) -> bool:
    if kind == "tensors":
        return isinstance(given, tuple) and all(
            _fits(operator, "tensor", item) for item in given
        )
    if kind == "state":
        return isinstance(given, Value) and isinstance(given.spec, StateSpec)
    if given is None:
        return kind == "optional"
    if _is_tensor(given):
        return True
    takes_numbers = operator.family == "pointwise" or operator.body is not None
    return takes_numbers and _is_number(given)


def _is_tensor(given: Any) -> bool:
    return isinstance(given, Value) and isinstance(given.spec, TensorSpec)


def _is_number(given: Any) -> bool:
    if isinstance(given, Value):
        return isinstance(given.spec, ScalarSpec)
    return isinstance(given, _NUMBERS)
