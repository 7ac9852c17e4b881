"""What a reduction's facts say, rendered for the C family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from tracegrad.codegen.c_family.casts import cast
from tracegrad.codegen.c_family.expressions import (
    add_helpers,
    is_arithmetic,
    substitute,
)
from tracegrad.codegen.c_family.helpers import Helpers
from tracegrad.codegen.c_family.literals import literal
from tracegrad.codegen.c_family.types import c_type, compute_dtype, fields
from tracegrad.dtypes import DType
from tracegrad.ir.graph import Node, Value
from tracegrad.spec import TensorSpec


@final
@dataclass(frozen=True, slots=True)
class Fold:
    """How one reduction folds elements.

    Attributes
    ----------
    name : str
        Of the operator and the dtype: what a function that does it may be called.
    dtype : DType
        What it is carried in.
    type : str
        The accumulator's C type.
    start : str
        The neutral element.
    text : str
        The C expression of ``{a}`` and ``{b}``.
    """

    name: str
    dtype: DType
    type: str
    start: str
    text: str

    def combined(self, a: str, b: str) -> str:
        """Return the expression that joins two variables."""
        return substitute(self.text, {"a": a, "b": b})


def carried_dtype(node: Node) -> DType:
    """Return the dtype that a reduction accumulates in."""
    facts = node.operator.facts["reduction"]
    wanted = dict(node.attributes).get("dtype")
    found: DType = facts.dtype(_operand_dtype(node), wanted)
    return compute_dtype(found)


def _operand_dtype(node: Node) -> DType:
    operand = node.inputs[0]
    assert isinstance(operand, Value)
    assert isinstance(operand.spec, TensorSpec)
    return operand.spec.dtype


def fold_of(node: Node, helpers: Helpers) -> Fold:
    """Return how a reduction node folds."""
    facts = node.operator.facts["reduction"]
    dtype = carried_dtype(node)
    values = fields(dtype)
    add_helpers(facts, facts.combine, values, helpers)
    text = facts.combine
    if dtype.kind == "int" and is_arithmetic(text):
        # Signed overflow is undefined; integers wrap.
        text = f"({{T}})({text.replace('{a}', '({U}){a}').replace('{b}', '({U}){b}')})"
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    if dtype.kind == "complex":
        helpers(c_type(dtype).value)
    return Fold(
        f"{node.operator.name}_{dtype.code}",
        dtype,
        c_type(dtype).value,
        literal(facts.start(dtype), dtype, helpers.language),
        text,
    )


def element(text: str, node: Node, helpers: Helpers) -> str:
    """Return an element, a variable, as the dtype that is accumulated."""
    return cast(text, _operand_dtype(node), carried_dtype(node), helpers)
