"""Operators' C texts with their operands filled in.

Nothing here knows an operator: what one means is in its facts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tracegrad.codegen.c_family.casts import rounded
from tracegrad.codegen.c_family.helpers import Helpers
from tracegrad.codegen.c_family.literals import literal
from tracegrad.codegen.c_family.types import HALF, c_type, compute_dtype, fields
from tracegrad.dtypes import DType, bool_, float64
from tracegrad.errors import CompileError
from tracegrad.ir.graph import Node, Value

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# What means the same on the family's complex structures as on numbers.
_ARITHMETIC = re.compile(r"([\s()+*/\-?:]|==|!=)*")


def text_for(texts: Mapping[str, str], dtype: DType) -> str | None:
    """Return the text for a dtype's class, or None if there is none.

    A text for real numbers that is plain arithmetic holds for complex ones too.
    """
    kind = "uint" if dtype.name == "uint8" else dtype.kind
    for wanted in (kind, "int" if kind == "uint" else kind):
        if wanted in texts:
            return texts[wanted]
    if kind != "complex":
        return texts.get("any")
    text = texts.get("float", texts.get("any"))
    return text if text is not None and is_arithmetic(text) else None


def is_arithmetic(text: str) -> bool:
    """Return whether a text has operators and operands only."""
    return _ARITHMETIC.fullmatch(_PLACEHOLDER.sub("", text)) is not None


def pointwise_types(node: Node) -> tuple[tuple[DType, ...], DType]:
    """Return the dtypes a pointwise node's operands are cast to, and the result's."""
    facts = node.operator.facts["pointwise"]
    specs = [o.spec if isinstance(o, Value) else o for o in node.inputs]
    to = dict(node.attributes).get("dtype")
    found: tuple[tuple[DType, ...], DType] = facts.types_of(
        node.operator.name, specs, to
    )
    return found


def pointwise_text(node: Node) -> str | None:
    """Return a pointwise node's C text, or None if it has none for its dtypes."""
    types, _ = pointwise_types(node)
    facts = node.operator.facts["pointwise"]
    return text_for(facts.c, compute_dtype(types[-1]))


def filled(node: Node, text: str, operands: dict[str, str], helpers: Helpers) -> str:
    """Return a pointwise node's expression.

    Parameters
    ----------
    node : Node
    text : str
        The operator's text.
    operands : dict
        By name: a name, a literal, or an expression that needs parentheses only
        beside an operator.
    helpers : Helpers
    """
    types, result = pointwise_types(node)
    dtype = compute_dtype(types[-1])
    values = fields(dtype) | _attributes(node, dtype, helpers)
    add_helpers(node.operator.facts["pointwise"], text, values, helpers)
    found = substitute(text, operands | values)
    if dtype.kind == "complex":
        helpers(c_type(dtype).value)
    return rounded(found, result, helpers) if result in HALF else found


def substitute(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with its placeholders replaced, in parentheses where needed."""

    def replaced(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise CompileError(f"the C text {text!r} names the unknown {match[0]}")
        value = values[match[1]]
        before = text[: match.start()].rstrip()[-1:]
        after = text[match.end() :].lstrip()[:1]
        alone = before in ("", "(", ",") and after in ("", ")", ",")
        return value if alone or _is_atom(value) else f"({value})"

    return _PLACEHOLDER.sub(replaced, text)


def _is_atom(text: str) -> bool:
    """Return whether `text` binds tighter than any operator beside it."""
    if re.fullmatch(r"[\w.]*(e[+-]?\w+)?", text, re.ASCII):
        return True
    if re.fullmatch(r"\w*\{.*\}", text):
        return True
    return _closes_at_end(text)


def _closes_at_end(text: str) -> bool:
    """Return whether `text` is one call, or one expression in parentheses."""
    match = re.match(r"\w*\(", text)
    if match is None:
        return False
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter == ")":
            return position == len(text) - 1
    return False


def add_helpers(
    facts: Any, text: str, values: Mapping[str, str], helpers: Helpers
) -> None:
    """Note the helper functions that an operator's text calls.

    ``facts.c_helper_texts`` maps their names, without the dtype, to their texts.
    """
    texts: Mapping[str, str] = getattr(facts, "c_helper_texts", {})
    for name, body in texts.items():
        if not re.search(rf"\b{name}(?![a-z0-9])", text):
            continue
        found = body
        for placeholder, value in values.items():
            found = found.replace("{" + placeholder + "}", value)
        add_helpers(facts, body.replace(name, ""), values, helpers)
        helpers.add(_signature_name(found), found)


def _signature_name(text: str) -> str:
    match = re.search(r"(\w+)\(", text)
    assert match is not None, text
    return match[1]


def _attributes(node: Node, dtype: DType, helpers: Helpers) -> dict[str, str]:
    """Return attributes that are numbers as literals, of the compute dtype mostly."""
    found: dict[str, str] = {}
    for name, value in node.attributes:
        if isinstance(value, bool):
            found[name] = literal(value, bool_, helpers.language)
        elif isinstance(value, float) and dtype.kind == "int":
            found[name] = literal(value, float64, helpers.language)
        elif isinstance(value, int | float | complex):
            found[name] = literal(value, dtype, helpers.language)
    return found
