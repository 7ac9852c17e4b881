"""``tracegrad ops``: the registry as a table, and one operator in full."""

from __future__ import annotations

import argparse
import difflib
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from tracegrad.cli.describe import describe, forms_of, place_of, signature_text
from tracegrad.cli.output import table, write
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS, FunctionDef, OpDef
from tracegrad.dispatch.rules import Rule
from tracegrad.errors import CommandError


def add_parser(commands: Any) -> None:
    """Add the command to a parser's sub-commands."""
    parser = commands.add_parser(
        "ops",
        help="list the operators, or show one of them",
        description="List the operators, or show one: schema, rules, kernels, place.",
    )
    parser.set_defaults(run=run_list)
    actions = parser.add_subparsers(metavar="show")
    show = actions.add_parser("show", help="show one operator in full")
    show.add_argument("name", metavar="NAME")
    show.set_defaults(run=run_show)


def run_list(options: argparse.Namespace) -> int:
    """Print the table of operators."""
    rows = [describe(operator) for _, operator in sorted(OPERATORS.items())]
    table(
        ("name", "family", "gradient", "dtypes", "in place", "summary"),
        [(r.name, r.family, r.gradient, r.dtypes, r.inplace, r.summary) for r in rows],
    )
    return 0


def run_show(options: argparse.Namespace) -> int:
    """Print all there is to know of one operator.

    Raises
    ------
    CommandError
        If there is none of that name.
    """
    name = options.name
    if name not in OPERATORS and name not in FUNCTIONS:
        near = difflib.get_close_matches(name, [*OPERATORS, *FUNCTIONS], n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise CommandError(f"there is no operator {name!r}{meant}")
    write("\n".join(_all_of(name)), None)
    return 0


def _all_of(name: str) -> Iterator[str]:
    """Describe what has a name: a function, an operator, or one that chooses one."""
    if name in FUNCTIONS:
        yield from _shown_function(FUNCTIONS[name])
    if name not in OPERATORS:
        return
    if name in FUNCTIONS:
        yield ""
        yield "The operator of that name, which the function chooses:"
        yield ""
    yield from _shown(OPERATORS[name])


def _shown(operator: OpDef) -> Iterator[str]:
    row = describe(operator)
    yield f"{row.name}{row.signature}"
    yield ""
    yield operator.doc
    yield ""
    yield f"family: {row.family}"
    yield f"defined at: {place_of(operator.function)}"
    if operator.name not in FUNCTIONS:
        yield f"forms: {', '.join(forms_of(operator.name))}"
    if row.dtypes:
        yield f"dtypes: {row.dtypes}"
    yield f"properties: {', '.join(_properties(operator)) or 'none'}"
    if row.fuses:
        yield f"in a fused kernel: {row.fuses}"
    if row.eager:
        yield f"in eager mode on the CPU: {row.eager}"
    yield from _rules("VJP", operator.vjp_rules)
    yield from _rules("JVP", operator.jvp_rules)
    if operator.linear_in:
        yield f"linear in: {', '.join(operator.linear_in)}"
    yield from _kernels(operator)


def _properties(operator: OpDef) -> Iterator[str]:
    if operator.commutative:
        yield "commutative"
    if operator.is_view:
        yield "shares its operand's memory"
    if operator.may_alias:
        yield "may return its operand"
    if operator.is_random:
        yield "random"
    if operator.may_raise:
        yield "may raise for some values"


def _rules(title: str, rules: Mapping[str, Rule]) -> Iterator[str]:
    for operand, rule in rules.items():
        needs = f" of {', '.join(rule.names)}" if rule.names else ""
        place = "" if rule.kind in _PLAIN_RULES else f", {place_of(rule.function)}"
        yield f"{title} by {operand}: {rule.kind}{needs}{place}"


# Their functions stand in the dispatcher: they say nothing.
_PLAIN_RULES = ("identity", "negative", "zero", "none")


def _kernels(operator: OpDef) -> Iterator[str]:
    facts = operator.facts.get("pointwise")
    if facts is not None:
        yield from _texts("NumPy", facts.numpy)
        yield from _texts("C family", facts.c)
        return
    reduction = operator.facts.get("reduction")
    if reduction is not None:
        yield f"NumPy: {reduction.numpy}"
        yield f"C family, to combine {{a}} and {{b}}: {reduction.combine}"
        return
    text = operator.facts.get("numpy")
    if text is not None:
        yield f"NumPy: {text}"
    if operator.kernel is not None:
        yield f"kernel: {place_of(operator.kernel)}"
    if operator.body is not None:
        yield f"body: {place_of(operator.body)}"


def _texts(language: str, texts: Mapping[str, str]) -> Iterator[str]:
    for kind, text in texts.items():
        yield f"{language}, {kind} dtypes: {text}"


def _shown_function(definition: FunctionDef) -> Iterator[str]:
    """Describe a function that only chooses among operators."""
    function = definition.function
    yield f"{definition.name}{signature_text(inspect.signature(function))}"
    yield ""
    yield inspect.getdoc(function) or ""
    yield ""
    yield f"a function that chooses among operators, {place_of(function)}"
    yield f"forms: {', '.join(forms_of(definition.name))}"
