"""A kernel's scalar statements, written in the order in which they are needed.

A `Scope` is one block of the source: the body of a loop, or what comes before it. It
computes a value when something asks for it, once; what does not depend on the loop's
variable goes to the scope outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from tracegrad.codegen.c_family.casts import cast, loaded, stored
from tracegrad.codegen.c_family.expressions import (
    filled,
    pointwise_text,
    pointwise_types,
)
from tracegrad.codegen.c_family.helpers import Helpers
from tracegrad.codegen.c_family.indexing import Space
from tracegrad.codegen.c_family.levels import levels_of
from tracegrad.codegen.c_family.literals import literal
from tracegrad.codegen.c_family.names import CNames
from tracegrad.codegen.c_family.types import (
    HALF,
    c_type,
    compute_dtype,
    scalar_dtype,
)
from tracegrad.codegen.environment import UserText
from tracegrad.codegen.kernel import Kernel
from tracegrad.dtypes import DType
from tracegrad.errors import CompileError
from tracegrad.ir.graph import Node, Operand, Value
from tracegrad.spec import ScalarSpec, TensorSpec


@final
@dataclass(frozen=True, slots=True)
class Statement:
    """A line of the source.

    Attributes
    ----------
    text : str
    place : UserText
        The user's line that it computes; empty if there is none.
    """

    text: str
    place: UserText = UserText("")  # noqa: RUF009 - immutable


@final
@dataclass(frozen=True, slots=True)
class Array:
    """An array that a kernel reads or writes.

    Attributes
    ----------
    name : str
        Of the parameter.
    dtype : DType
    strides : tuple of int
        In elements, along each axis of the kernel's domain.
    """

    name: str
    dtype: DType
    strides: tuple[int, ...]


def dtype_of(value: Value) -> DType:
    """Return the dtype in which a kernel holds a value."""
    spec = value.spec
    if isinstance(spec, ScalarSpec):
        return scalar_dtype(spec)
    assert isinstance(spec, TensorSpec)
    return spec.dtype


@final
class Naming:
    """What the scopes of one kernel share.

    Parameters
    ----------
    kernel : Kernel
    arrays : mapping from Value to Array
        The values that lie in memory.
    helpers : Helpers
    names : CNames
    """

    def __init__(
        self,
        kernel: Kernel,
        arrays: Mapping[Value, Array],
        helpers: Helpers,
        names: CNames,
    ) -> None:
        self.kernel = kernel
        self.arrays = arrays
        self.helpers = helpers
        self.producers = kernel.body.producers()
        self.reduced = {v for v, level in levels_of(kernel).items() if level}
        self.names = names
        # What the statements read: they become the kernel's parameters.
        self.read: dict[Value, None] = {}
        self._of: dict[Value, str] = {}

    def __call__(self, value: Value) -> str:
        """Return the variable that holds `value`, the same one in each scope."""
        if value not in self._of:
            self._of[value] = self.names.unique(value.name)
        return self._of[value]


@final
class Scope:
    """One block of statements.

    Parameters
    ----------
    naming : Naming
    spaces : sequence of Space
        The loop variables that exist here.
    outside : Scope or None
        The block around it.
    """

    def __init__(
        self, naming: Naming, spaces: Sequence[Space], outside: Scope | None = None
    ) -> None:
        self.naming = naming
        self.spaces = tuple(spaces)
        self.outside = outside
        self.statements: list[Statement] = []
        self._known: dict[Value, str] = {}
        self._free = {a for space in spaces for a in space.axes}

    def declare(self, value: Value) -> str:
        """Note that a variable for `value` exists, made by the template; return it."""
        name = self._known[value] = self.naming(value)
        return name

    def drained(self) -> list[Statement]:
        """Return the statements since the last call."""
        found, self.statements = self.statements, []
        return found

    def value(self, value: Value) -> str:
        """Return the variable that holds `value`, computed here if it is not yet."""
        found = self._find(value)
        if found is not None:
            return found
        if self.outside is not None and self.outside._can_hold(value):
            return self.outside.value(value)
        found = self._known[value] = self._compute(value)
        return found

    def _find(self, value: Value) -> str | None:
        scope: Scope | None = self
        while scope is not None:
            if value in scope._known:
                return scope._known[value]
            scope = scope.outside
        return None

    def _can_hold(self, value: Value) -> bool:
        """Return whether `value` is one number for the variables of this scope."""
        if not self.spaces and value in self.naming.reduced:
            # Before all loops no reduction is done.
            return False
        shape = self.naming.kernel.domain.shape
        axes = self.naming.kernel.axes.get(value, ())
        return all(shape[a] == 1 or a in self._free for a in axes if a is not None)

    def _compute(self, value: Value) -> str:
        naming = self.naming
        array = naming.arrays.get(value)
        if array is not None:
            naming.read[value] = None
            return self._load(value, array)
        node = naming.producers.get(value)
        if node is None:
            naming.read[value] = None
            return naming(value)
        if node.operator.is_view or node.operator.facts.get("broadcasts"):
            operand = node.inputs[0]
            assert isinstance(operand, Value)
            return self.value(operand)
        if "pointwise" not in node.operator.facts:
            raise CompileError(f"{value} is needed before its reduction is done")
        text = self._pointwise(node)
        return self._assign(value, text, node)

    def _load(self, value: Value, array: Array) -> str:
        element = f"{array.name}[{self.offset(array.strides)}]"
        return self._assign(value, loaded(element, array.dtype, self.naming.helpers))

    def _assign(self, value: Value, text: str, node: Node | None = None) -> str:
        name = self.naming(value)
        kind = c_type(dtype_of(value)).value
        self.statements.append(
            Statement(f"const {kind} {name} = {text};", place_of(node))
        )
        return name

    def _pointwise(self, node: Node) -> str:
        text = pointwise_text(node)
        if text is None:
            raise CompileError(
                f"{node.operator.name} has no C text for {dtype_of(node.result).name}"
            )
        types, result = pointwise_types(node)
        facts = node.operator.facts["pointwise"]
        narrow = getattr(facts, "narrow_literals", False)
        operands = {
            parameter.name: self._operand(operand, dtype, narrow)
            for operand, parameter, dtype in zip(
                node.inputs, node.operator.operands, types, strict=True
            )
            if "{" + parameter.name + "}" in text
        }
        return self._as_result(node, text, operands, result)

    def _as_result(
        self, node: Node, text: str, operands: dict[str, str], result: DType
    ) -> str:
        """Return the expression, converted where the text gives the operands' dtype."""
        helpers = self.naming.helpers
        if text not in operands_only(node):
            return filled(node, text, operands, helpers)
        types, _ = pointwise_types(node)
        computed = compute_dtype(types[-1])
        return cast(operands[text.strip("{}")], computed, result, helpers)

    def _operand(self, operand: Operand, dtype: DType, narrow: bool) -> str:
        """Return an operand as a value of the compute dtype of `dtype`."""
        helpers = self.naming.helpers
        wanted = compute_dtype(dtype)
        if isinstance(operand, Value):
            return cast(self.value(operand), dtype_of(operand), wanted, helpers)
        assert isinstance(operand, bool | int | float | complex)
        number: Any = operand
        if narrow and dtype in HALF:
            number = dtype.numpy.type(operand)
        return literal(number, wanted, helpers.language)

    def offset(self, strides: tuple[int, ...]) -> str:
        """Return where an array's element lies for this scope's variables."""
        spaces: list[Space] = []
        scope: Scope | None = self
        while scope is not None:
            spaces = [*scope.spaces, *spaces]
            scope = scope.outside
        terms = [term for space in spaces for term in space.offset(strides)]
        return " + ".join(terms) or "0"

    def store(self, value: Value, array: Array) -> Statement:
        """Return the statement that writes `value` to memory."""
        text = stored(self.value(value), array.dtype, self.naming.helpers)
        element = f"{array.name}[{self.offset(array.strides)}]"
        return Statement(f"{element} = {text};")


def operands_only(node: Node) -> set[str]:
    """Return the texts that are one operand and nothing else."""
    return {"{" + p.name + "}" for p in node.operator.operands}


def place_of(node: Node | None) -> UserText:
    """Return the user's line that a node comes from, and the composite it is in."""
    if node is None:
        return UserText("")
    place = str(node.location) if node.location is not None else ""
    return UserText(f"{place} {node.scope}".strip())
