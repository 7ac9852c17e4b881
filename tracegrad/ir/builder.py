"""Building graphs: unique names, results from abstract eval, replacement of values."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping
from typing import Any, final

from tracegrad.dispatch.bind import abstract_composite
from tracegrad.dispatch.operator import OpDef
from tracegrad.ir.graph import (
    BindGrad,
    Check,
    Constant,
    Graph,
    Node,
    Operand,
    Value,
    WriteBack,
    WriteState,
    WriteStorage,
)
from tracegrad.location import Location
from tracegrad.spec import Spec, StateSpec


@final
class Names:
    """Gives unique identifiers, from hints where there are any."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def unique(self, hint: str) -> str:
        """Return an identifier that was not given before."""
        base = re.sub(r"\W", "_", hint, flags=re.ASCII).strip("_") or "v"
        if base[0].isdigit() or keyword.iskeyword(base):
            base = "v_" + base
        name = base
        while name in self._used:
            name = f"{base}_{self._used[base]}"
            self._used[base] += 1
        self._used[name] = 1
        return name


def result_specs(
    operator: OpDef, inputs: Iterable[Operand], attributes: Mapping[str, Any]
) -> tuple[Spec, ...]:
    """Return the specs of a node's results, by abstract eval."""
    specs = tuple(map(_spec_of, inputs))
    if operator.body is not None and not operator.states_abstract:
        found = abstract_composite(operator, specs, dict(attributes))
    else:
        found = operator.abstract(*specs, **attributes)
    results = found if isinstance(found, tuple) else (found,)
    # What random operators take first is the state.
    return (*results, specs[0]) if operator.is_random else results


def _spec_of(operand: Operand) -> Any:
    if isinstance(operand, Value):
        return operand.spec
    return tuple(map(_spec_of, operand)) if isinstance(operand, tuple) else operand


@final
class GraphBuilder:
    """Collects nodes into a Graph."""

    def __init__(self, name: str) -> None:
        self.name = "function" if name == "<lambda>" else Names().unique(name)
        self.names = Names()
        self.inputs: list[Value] = []
        self.constants: list[Constant] = []
        self.nodes: list[Node] = []
        self.checks: list[Check] = []
        self.writes: list[WriteBack] = []
        self._renamed: set[Value] = set()

    def value(self, hint: str, spec: Spec, requires_grad: bool = False) -> Value:
        """Return a new value with a unique name."""
        return Value(self.names.unique(hint), spec, requires_grad)

    def input(self, hint: str, spec: Spec, requires_grad: bool = False) -> Value:
        """Add an input and return it."""
        found = self.value(hint, spec, requires_grad)
        self.inputs.append(found)
        return found

    def constant(self, hint: str, spec: Spec, array: Any) -> Value:
        """Add a constant and return its value."""
        found = self.value(hint, spec)
        self.constants.append(Constant(found, array))
        return found

    def node(
        self,
        operator: OpDef,
        inputs: tuple[Operand, ...],
        attributes: Mapping[str, Any],
        location: Location | None = None,
        scope: str = "",
        hint: str = "",
        specs: tuple[Spec, ...] | None = None,
    ) -> tuple[Value, ...]:
        """Add a node and return its results."""
        if specs is None:
            specs = result_specs(operator, inputs, attributes)
        results = tuple(
            self.value(hint if i == 0 and hint else _default_hint(operator, s), s)
            for i, s in enumerate(specs)
        )
        ordered = tuple((p.name, attributes[p.name]) for p in operator.attributes)
        self.nodes.append(Node(operator, inputs, ordered, results, location, scope))
        return results

    def rename(self, value: Value, hint: str) -> None:
        """Give a value of this builder another name, before the graph is finished."""
        if value not in self._renamed and value not in self.inputs:
            self._renamed.add(value)
            object.__setattr__(value, "name", self.names.unique(hint))

    def rename_input(self, value: Value, hint: str) -> None:
        """Give an input another name, before the graph is finished."""
        if re.sub(r"\W", "_", hint).strip("_") != value.name:
            object.__setattr__(value, "name", self.names.unique(hint))

    def finish(self, outputs: Iterable[Value]) -> Graph:
        """Return the graph."""
        return Graph(
            self.name,
            tuple(self.inputs),
            tuple(self.nodes),
            tuple(outputs),
            tuple(self.constants),
            tuple(self.checks),
            tuple(self.writes),
        )


def _default_hint(operator: OpDef, spec: Spec) -> str:
    if isinstance(spec, StateSpec):
        return "rng"
    return operator.name.rpartition("::")[2]


def substituted(operand: Operand, replaced: Mapping[Value, Value]) -> Any:
    """Return an operand with replaced values."""
    if isinstance(operand, Value):
        return replaced.get(operand, operand)
    if isinstance(operand, tuple):
        return tuple(replaced.get(v, v) for v in operand)
    return operand


def rebuilt(
    graph: Graph, nodes: Iterable[Node], replaced: Mapping[Value, Value]
) -> Graph:
    """Return `graph` with other nodes, and with values replaced everywhere.

    Unchanged nodes stay the same objects.
    """
    return Graph(
        graph.name,
        graph.inputs,
        tuple(_renamed(node, replaced) for node in nodes),
        tuple(replaced.get(v, v) for v in graph.outputs),
        graph.constants,
        tuple(_check(c, replaced) for c in graph.checks),
        tuple(_write(w, replaced) for w in graph.writes),
    )


def _renamed(node: Node, replaced: Mapping[Value, Value]) -> Node:
    if not any(v in replaced for v in node.operands()):
        return node
    inputs = tuple(substituted(o, replaced) for o in node.inputs)
    return Node(
        node.operator, inputs, node.attributes, node.results, node.location, node.scope
    )


def _check(check: Check, replaced: Mapping[Value, Value]) -> Check:
    if check.value not in replaced:
        return check
    return Check(replaced[check.value], check.expected, check.location)


def _write(write: WriteBack, replaced: Mapping[Value, Value]) -> WriteBack:
    if write.value is None or write.value not in replaced:
        return write
    value = replaced[write.value]
    if isinstance(write, BindGrad):
        return BindGrad(write.target, value, write.location)
    if isinstance(write, WriteStorage):
        return WriteStorage(write.target, value, write.bumps, write.location)
    return WriteState(write.target, value, write.location)
