"""The data of the IR: frozen, in SSA form, without mutation or aliasing.

What a captured function writes is data too: the write-back list, which takes place,
in order, when the program commits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias, final

from tracegrad.dispatch.operator import OpDef
from tracegrad.location import Location
from tracegrad.spec import Spec


@final
@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """What a graph's input, a constant or a node defines.

    Values are compared by identity; two graphs are equal when their texts are.

    Attributes
    ----------
    name : str
        Unique in its graph, taken from the user's variable where there is one.
    spec : TensorSpec, ScalarSpec or StateSpec
    requires_grad : bool
        For inputs: whether gradients are wanted for it.
    """

    name: str
    spec: Spec
    requires_grad: bool = False

    def __repr__(self) -> str:
        return f"%{self.name}"


# An operand of a node: a value, a Python number (weak in promotion), None for an
# absent optional one, or several values.
Operand: TypeAlias = Value | bool | int | float | complex | tuple[Value, ...] | None
Attributes: TypeAlias = tuple[tuple[str, Any], ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One application of an operator.

    Attributes
    ----------
    operator : OpDef
    inputs : tuple of Operand
        In the order of the operator's signature.
    attributes : tuple of (name, value)
        In the order of the operator's signature.
    results : tuple of Value
        A random operator has the generator's next state as its last result.
    location : Location or None
        The user's line.
    scope : str
        The composite it was expanded from.
    """

    operator: OpDef
    inputs: tuple[Operand, ...]
    attributes: Attributes
    results: tuple[Value, ...]
    location: Location | None = None
    scope: str = ""

    @property
    def result(self) -> Value:
        """The first result."""
        return self.results[0]

    def attribute(self, name: str) -> Any:
        """Return the attribute called `name`."""
        return dict(self.attributes)[name]

    def operands(self) -> Iterator[Value]:
        """Iterate over the values among the inputs, tuples flattened."""
        for operand in self.inputs:
            if isinstance(operand, Value):
                yield operand
            elif isinstance(operand, tuple):
                yield from operand


@final
@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """An array that the graph holds."""

    value: Value
    array: Any


@final
@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A value the program's continuation depends on; another one leaves the program.

    Attributes
    ----------
    value : Value
        Of one element.
    expected : bool, int or float
        What the recorded call found.
    location : Location or None
        The line that turned the tensor into Python.
    """

    value: Value
    expected: Any
    location: Location | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)
class WriteStorage:
    """At the commit, the memory of an input holds a value.

    Attributes
    ----------
    target : Value
        A graph input.
    value : Value
        Of the target's shape and dtype.
    bumps : int
        How many writes the user's function made.
    """

    target: Value
    value: Value
    bumps: int = 1
    location: Location | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)
class BindGrad:
    """At the commit, ``target.grad`` is a fresh tensor, or None."""

    target: Value
    value: Value | None
    location: Location | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)
class WriteState:
    """At the commit, a generator continues from a state."""

    target: Value
    value: Value
    location: Location | None = None


WriteBack: TypeAlias = WriteStorage | BindGrad | WriteState


@final
@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A function in SSA form.

    Attributes
    ----------
    name : str
    inputs : tuple of Value
    constants : tuple of Constant
    nodes : tuple of Node
        In an order in which each value is defined before it is used.
    outputs : tuple of Value
    checks : tuple of Check
    writes : tuple of WriteBack
        In the order in which they take place.
    """

    name: str
    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Value, ...]
    constants: tuple[Constant, ...] = ()
    checks: tuple[Check, ...] = ()
    writes: tuple[WriteBack, ...] = field(default=())

    def __eq__(self, other: object) -> bool:
        """Whether the texts are equal; they hold the constants' bits."""
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or str(self) == str(other)

    def __hash__(self) -> int:
        return hash((self.name, *(node.operator.name for node in self.nodes)))

    def __repr__(self) -> str:
        return (
            f"<graph {self.name}: {len(self.inputs)} inputs, {len(self.nodes)} nodes>"
        )

    def to_networkx(self) -> Any:
        """Return the graph as a ``networkx.MultiDiGraph``.

        See `tracegrad.ir.export.to_networkx`, which is loaded, with networkx, when
        somebody asks for it.
        """
        return import_module("tracegrad.ir.export").to_networkx(self)

    def required(self) -> Iterator[Value]:
        """Iterate over the values that must be computed."""
        yield from self.outputs
        for check in self.checks:
            yield check.value
        for write in self.writes:
            if write.value is not None:
                yield write.value

    def producers(self) -> dict[Value, Node]:
        """Return the node that defines each value."""
        return {value: node for node in self.nodes for value in node.results}

    def users(self) -> dict[Value, list[Node]]:
        """Return the nodes that use each value, in order."""
        found: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in dict.fromkeys(node.operands()):
                found.setdefault(value, []).append(node)
        return found
