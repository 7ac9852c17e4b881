"""Why a kernel cannot be written in the C family."""

from __future__ import annotations

from tracegrad.codegen.c_family.expressions import (
    pointwise_text,
    pointwise_types,
    text_for,
)
from tracegrad.codegen.c_family.reductions import carried_dtype
from tracegrad.codegen.c_family.types import compute_dtype
from tracegrad.codegen.kernel import Kernel
from tracegrad.ir.graph import Node, Value
from tracegrad.spec import TensorSpec


def problem_of(kernel: Kernel) -> str | None:
    """Return why a kernel has no C source, or None if it has.

    An operator that may raise has to look at its operands first, which a kernel that
    runs later cannot.
    """
    for node in kernel.body.nodes:
        reason = _problem_of_node(node)
        if reason is not None:
            return f"{node.operator.name} {reason}"
    return None


def _problem_of_node(node: Node) -> str | None:
    if not all(_has_known_sizes(v) for v in (*node.operands(), *node.results)):
        return "has a size that is known only when it runs"
    if "pointwise" in node.operator.facts:
        if may_fail(node):
            return "may raise"
        if pointwise_text(node) is None:
            return f"has no C text for {node.result.spec}"
    facts = node.operator.facts.get("reduction")
    if facts is not None and not facts.combine:
        return "has no C text"
    if facts is not None and carried_dtype(node).kind == "complex":
        return None if "?" not in facts.combine else "has no order of complex numbers"
    return None


def may_fail(node: Node) -> bool:
    """Return whether a pointwise node has elements without a result."""
    types, _ = pointwise_types(node)
    facts = node.operator.facts["pointwise"]
    return text_for(facts.fails, compute_dtype(types[-1])) is not None


def _has_known_sizes(value: Value) -> bool:
    spec = value.spec
    return not isinstance(spec, TensorSpec) or all(
        isinstance(s, int) for s in (*spec.shape, *spec.strides)
    )
