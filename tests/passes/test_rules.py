"""Every rewrite rule, on the numbers that are hard to get right."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

import tracegrad as tg
import tracegrad.ir as ir
from tests.support.random_graphs import differences, laid_out_like
from tests.support.round_trip import check_round_trip
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import BY_CODE, DType
from tracegrad.errors import TracegradError, VerifyError
from tracegrad.ir.graph import Graph
from tracegrad.ir.interpreter import interpret
from tracegrad.ir.patterns import Any_, Number, apply
from tracegrad.ir.rewriting import Driver, Rule, overlaps, rewrite, size_of
from tracegrad.passes.simplify_rules import INEXACT_RULES, SIMPLIFY_RULES
from tracegrad.passes.view_rules import VIEW_RULES
from tracegrad.spec import TensorSpec

RULES = (*VIEW_RULES, *SIMPLIFY_RULES, *INEXACT_RULES)
EXACT = [rule for rule in RULES if rule.exact]
CODES = ("f32", "f64", "f16", "i64", "i32", "i8", "u8", "bool", "c64", "c128")


def named(rule: Rule) -> str:
    return rule.name


def hard(dtype: DType, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return `count` elements: the hardest first, then random ones."""
    if dtype.kind == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if dtype.kind == "int":
        info = np.iinfo(dtype.numpy)
        first = np.array([0, 1, info.max, info.min, 2, 3], dtype.numpy)
        return rng.choice(first, count)
    real = dtype.to_real().numpy
    info = np.finfo(real)
    edges = [0.0, 1.0, np.inf, np.nan, info.max, info.tiny, 1.5, 1 / 3]
    smallest = np.array(info.smallest_subnormal, real)
    values = np.array(edges, real)
    values = np.concatenate([values, -values, [smallest, -smallest]]).astype(real)
    if dtype.kind == "float":
        return rng.choice(values, count)
    parts = np.empty(2 * count, real)
    parts[:] = rng.choice(values, 2 * count)
    return parts.view(dtype.numpy)


def arguments(graph: Graph, rng: np.random.Generator) -> list[Tensor]:
    found = []
    for value in graph.inputs:
        spec = value.spec
        assert isinstance(spec, TensorSpec)
        elements = hard(spec.dtype, int(spec.size), rng)
        found.append(wrap(laid_out_like(elements, spec)))
    return found


def variants(rule: Rule) -> Iterator[Graph]:
    """Yield the rule's example as it is, and with its dtypes exchanged."""
    yield ir.parse(rule.example)
    used = [code for code in CODES if f"{code}[" in rule.example]
    for codes in itertools.product(CODES, repeat=len(used)):
        text = rule.example
        for i, code in enumerate(used):
            text = text.replace(f"{code}[", f"@{i}[").replace(f"={code}", f"=@{i}")
        for i, code in enumerate(codes):
            text = text.replace(f"@{i}", code)
        try:
            yield ir.parse(text)
        except VerifyError:
            continue


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_example(rule: Rule) -> None:
    graph = ir.parse(rule.example)
    driver = Driver([rule])
    after = driver.run(graph)
    assert driver.applied[rule.name] >= 1
    check_round_trip(after)
    assert after.inputs == graph.inputs


@pytest.mark.parametrize("rule", EXACT, ids=named)
def test_rule_keeps_every_bit(rule: Rule, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for graph in variants(rule):
        after = rewrite(graph, [rule])
        for _ in range(40 if after is not graph else 0):
            given = arguments(graph, rng)
            before_results = interpret(graph, *given)
            after_results = interpret(after, *given)
            said = differences(list(before_results), list(after_results))
            assert said == [], f"{graph}\n{[x._array for x in given]}"
            assert shared(before_results, given) == shared(after_results, given)


def shared(results: tuple[Tensor, ...], given: list[Tensor]) -> list[bool]:
    """Return which results lie in the memory of which arguments."""
    return [np.may_share_memory(a._array, b._array) for a in results for b in given]


@pytest.mark.parametrize("rule", INEXACT_RULES, ids=named)
def test_inexact_rule_is_close_and_does_change_something(rule: Rule, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = ir.parse(rule.example)
    after = rewrite(graph, [rule])
    x = tg.tensor(rng.normal(size=3), dtype=tg.float32)
    (a,), (b,) = interpret(graph, x), interpret(after, x)
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)
    different = 0
    for _ in range(40):
        given = arguments(graph, rng)
        different += bool(
            differences(list(interpret(graph, *given)), list(interpret(after, *given)))
        )
    assert different > 0


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_rule_makes_the_size_smaller(rule: Rule) -> None:
    for graph in variants(rule):
        after = rewrite(graph, [rule])
        if after is not graph:
            (before_value,), (after_value,) = graph.outputs, after.outputs
            assert size_of(after_value, after) < size_of(before_value, graph)


def test_names_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_a_wrong_rule_is_found(seed: int) -> None:
    wrong = Rule(
        "add-zero",
        apply("add", Any_("x"), Number("number", lambda n: n == 0)),
        lambda found, build: build.apply("clone", found.value("x"), contiguous=False),
        "graph f(%x: f32[3]) {\n %y: f32[3] = add(%x, 0.0)\n return %y\n}",
    )
    with pytest.raises(AssertionError, match="became"):
        test_rule_keeps_every_bit(wrong, seed)


# -- tables --------------------------------------------------------------------

# Pairs that some graph could match at once, and why that is well: each was looked at.
# The first of a pair is applied where both match one node.
REVIEWED = {
    "the identity goes first; without it the merged view would be one":
        [
            ("identity-permute", "permute-of-permute"),
            ("permute-of-permute", "identity-permute"),
            ("same-view", "view-of-view"),
            ("view-of-view", "same-view"),
            ("same-expand", "expand-of-expand"),
            ("expand-of-expand", "same-expand"),
            ("whole-slice", "slice-of-slice"),
            ("slice-of-slice", "whole-slice"),
        ],
    "three in a chain: merging is associative":
        [
            ("permute-of-permute", "permute-of-permute"),
            ("view-of-view", "view-of-view"),
            ("expand-of-expand", "expand-of-expand"),
            ("slice-of-slice", "slice-of-slice"),
            ("detach-of-detach", "detach-of-detach"),
            ("cast-through", "cast-through"),
        ],
    "three of one operator: any two of them can go":
        [
            (name, name)
            for name in (
                *(f"{op}-of-{op}" for op in ("bitwise_not", "logical_not", "conj")),
                *(f"{op}-of-{op}" for op in ("abs", "sign", "floor", "ceil")),
                *(f"{op}-of-{op}" for op in ("trunc", "round")),
            )
        ],
    "an odd chain of negatives leaves one, whichever pair goes":
        [
            ("neg-of-neg", "neg-of-neg"),
            ("add-of-neg", "neg-of-neg"),
            ("sub-of-neg", "neg-of-neg"),
            ("mul-of-negs", "neg-of-neg"),
        ],
    "the numbers differ":
        [
            ("mul-one", "mul-minus-one"),
            ("mul-one", "mul-zero"),
            ("mul-minus-one", "mul-zero"),
            ("div-one", "div-power-of-two"),
        ],
    "the exact one goes first":
        [
            ("div-one", "div-number"),
            ("div-power-of-two", "div-number"),
            ("integer-add-zero", "add-zero"),
        ],
    "all of these keep the value, and the outer one ends at a copy or one cast":
        [
            ("same-cast", "cast-back"),
            ("same-cast", "cast-through"),
            ("cast-back", "same-cast"),
            ("cast-back", "cast-back"),
            ("cast-back", "cast-through"),
            ("cast-through", "same-cast"),
            ("cast-through", "cast-back"),
        ],
}  # fmt: skip


def test_overlaps_are_reviewed() -> None:
    found = {*overlaps(VIEW_RULES), *overlaps(SIMPLIFY_RULES + INEXACT_RULES)}
    reviewed = {pair for pairs in REVIEWED.values() for pair in pairs}
    assert found == reviewed


def test_a_planted_overlap_is_found() -> None:
    first, second = SIMPLIFY_RULES[0], SIMPLIFY_RULES[1]
    planted = Rule("planted", apply("neg", Any_("x")), first.right, "")
    assert overlaps([second, planted]) == [
        ("neg-of-neg", "neg-of-neg"),
        ("neg-of-neg", "planted"),
    ]


# -- the driver ----------------------------------------------------------------

CHAIN = """
graph f(%x: f32[3]) {{
{lines}
  return %y{last}
}}"""


def chain(length: int) -> Graph:
    lines = ["  %y0: f32[3] = neg(%x)"]
    lines += [f"  %y{i}: f32[3] = neg(%y{i - 1})" for i in range(1, length)]
    return ir.parse(CHAIN.format(lines="\n".join(lines), last=length - 1))


def test_a_long_chain_ends() -> None:
    driver = Driver(SIMPLIFY_RULES)
    after = driver.run(chain(301))
    assert not driver.exhausted
    assert size_of(after.outputs[0], after) == 3


def test_rules_that_undo_each_other_end() -> None:
    def to(operator: str) -> Rule:
        other = {"exp": "log", "log": "exp"}[operator]
        return Rule(
            f"to-{operator}",
            apply(other, Any_("x")),
            lambda found, build: build.apply(operator, found.value("x")),
            "",
        )

    graph = ir.parse("graph f(%x: f32[3]) {\n %y: f32[3] = exp(%x)\n return %y\n}")
    driver = Driver([to("exp"), to("log")], limit=10)
    after = driver.run(graph)
    assert driver.exhausted
    assert driver.applied.total() == 10
    ir.verify(after)


def test_a_right_side_of_another_spec_is_refused() -> None:
    wrong = Rule(
        "to-bool",
        apply("neg", Any_("x")),
        lambda found, build: build.apply("cast", found.value("x"), dtype=tg.bool),
        "",
    )
    graph = chain(1)
    assert rewrite(graph, [wrong]) is graph


def test_a_wildcard_matches_one_operand_only() -> None:
    text = """
    graph f(%c: bool[3], %x: f32[3], %w: f32[3]) {
      %y: f32[3] = where(%c, %x, %w)
      return %y
    }"""
    graph = ir.parse(text)
    assert rewrite(graph, SIMPLIFY_RULES) is graph


def test_commutative_patterns_match_both_orders() -> None:
    for operands in ("%x, %n", "%n, %x"):
        text = f"""
        graph f(%x: f32[3], %w: f32[3]) {{
          %n: f32[3] = neg(%w)  # model.py:3
          %y: f32[3] = add({operands})  # model.py:4 loss
          return %y
        }}"""
        (_, node) = rewrite(ir.parse(text), SIMPLIFY_RULES).nodes
        assert str(node) == "%y: f32[3] = sub(%x, %w)"
        assert (str(node.location), node.scope) == ("model.py:4", "loss")


# -- properties that canonicalization relies on --------------------------------

COMMUTATIVE = [op for op in OPERATORS.values() if op.commutative]


@pytest.mark.parametrize("operator", COMMUTATIVE, ids=lambda op: op.name)
@pytest.mark.parametrize("code", [c for c in CODES if not BY_CODE[c].is_complex])
def test_commutative_operators_commute(operator: OpDef, code: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = (wrap(hard(BY_CODE[code], 200, rng)) for _ in range(2))
    try:
        expected = operator(x, y)
    except TracegradError:
        return
    assert differences([expected], [operator(y, x)]) == []
