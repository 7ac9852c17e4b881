"""The page that lists the operators, made of the registry."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module

from tracegrad.cli.describe import (
    Row,
    describe,
    forms_of,
    place_of,
    signature_text,
    summary_of,
)
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS, OpDef

_HEAD = """\
# Operators

Written by `tools/generate.py` from the registry, not by hand. `tracegrad ops show NAME`
prints all there is to know of one operator.

- *dtypes*: the kinds that the floating operands of its tests may have instead, found by
  trying. Nothing where no operand is floating.
- *gradient*: `yes` where it states a derivative, `zero` where that is 0, `of its body`
  where it is made of other operators.
- *fuses*: what it is in a fused kernel.
- *eager*: `kernel pair` where two functions of NumPy arrays stand for value and
  gradients in eager mode on the CPU: see
  [the decision](adr/0014-an-operator-may-state-a-kernel-pair.md).

Names in *italics* stand in graphs only. Where a function has the same name, it says
“by” that function, which users call and which chooses the operator: so do `relu`,
`gelu` and many others.
"""
_FUNCTIONS_ANCHOR = "functions-that-choose-among-operators"
_COLUMNS = (
    "name",
    "signature",
    "family",
    "dtypes",
    "gradient",
    "in place",
    "fuses",
    "eager",
    "what it does",
)


def operator_table() -> str:
    """Return the page."""
    # Defines an operator that stands in graphs only.
    import_module("tracegrad.ir")
    return "\n".join([_HEAD, *_sections(), *_functions()])


def _sections() -> Iterator[str]:
    by_file: dict[str, list[OpDef]] = {}
    for operator in OPERATORS.values():
        file = place_of(operator.function).rpartition(":")[0]
        by_file.setdefault(file, []).append(operator)
    for file, operators in sorted(by_file.items()):
        yield f"## [{file}](../{file})\n"
        yield _line(_COLUMNS)
        yield _line(["---"] * len(_COLUMNS))
        for operator in sorted(operators, key=lambda each: each.name):
            yield _line(_cells(describe(operator), operator.public))
        yield ""


def _cells(row: Row, public: bool) -> list[str]:
    return [
        _name(row.name, public),
        f"`{row.signature}`",
        row.family,
        row.dtypes,
        row.gradient,
        f"`{row.inplace}`" if row.inplace else "",
        row.fuses,
        row.eager,
        row.summary,
    ]


def _name(name: str, public: bool) -> str:
    if name in FUNCTIONS:
        return f"*`{name}`*, by [`{name}`](#{_FUNCTIONS_ANCHOR})"
    return f"`{name}`" if public else f"*`{name}`*"


def _functions() -> Iterator[str]:
    yield "## Functions that choose among operators\n"
    yield _line(("name", "signature", "forms", "what it does"))
    yield _line(["---"] * 4)
    for name, definition in sorted(FUNCTIONS.items()):
        signature = signature_text(inspect.signature(definition.function))
        forms = ", ".join(f"`{f}`" for f in forms_of(name) if f != "in graphs")
        summary = summary_of(definition.function)
        yield _line((f"`{name}`", f"`{signature}`", forms, summary))
    yield ""


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
