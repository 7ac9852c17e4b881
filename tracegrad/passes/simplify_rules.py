"""The rules of algebra that simplification applies.

An exact rule keeps every bit: NaN, infinity and -0.0 stay what they are, so do dtype
and layout. A result that was a fresh tensor stays one, which is why ``x * 1`` becomes
``clone(x)``; a clone that nobody outside can tell from its operand is then dropped by
a rule of its own. Rules marked ``exact=False`` are off unless they are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tracegrad.device import Device
from tracegrad.dtypes import DType
from tracegrad.ir.graph import Value
from tracegrad.ir.patterns import Any_, Match, Number, apply
from tracegrad.ir.rewriting import Replacement, RightSide, Rule
from tracegrad.ir.verifier import same_layout
from tracegrad.spec import TensorSpec

_X, _Y, _CONDITION = Any_("x"), Any_("y"), Any_("condition")
# Powers of two whose quotients and products are far from overflow in every dtype.
_LARGEST_EXPONENT = 8


def _dtype(value: Value) -> DType:
    spec = value.spec
    assert isinstance(spec, TensorSpec)
    return spec.dtype


def _device(value: Value) -> Device:
    spec = value.spec
    assert isinstance(spec, TensorSpec)
    return spec.device


# -- tests of numbers ----------------------------------------------------------


def _is_one(number: Any) -> bool:
    return type(number) in (int, float) and bool(number == 1)


def _is_minus_one(number: Any) -> bool:
    return type(number) in (int, float) and bool(number == -1)


def _is_plus_zero(number: Any) -> bool:
    real = type(number) in (int, float)
    return real and number == 0 and math.copysign(1, number) > 0


def _is_zero(number: Any) -> bool:
    return type(number) in (int, float) and bool(number == 0)


def _is_power_of_two(number: Any) -> bool:
    if type(number) not in (int, float) or not 0 < abs(number) < math.inf:
        return False
    mantissa, exponent = math.frexp(number)
    return abs(mantissa) == 0.5 and 1 < exponent <= _LARGEST_EXPONENT


def _is_finite(number: Any) -> bool:
    return type(number) in (int, float) and 0 < abs(number) < math.inf


# -- right sides ---------------------------------------------------------------


def _copy(found: Match, build: Replacement) -> Value:
    return build.apply("clone", found.value("x"), contiguous=False)


def _copy_if(holds: Callable[[DType], bool]) -> RightSide:
    """Return the right side "a copy of x, where its dtype allows it"."""

    def right(found: Match, build: Replacement) -> Value | None:
        return _copy(found, build) if holds(_dtype(found.value("x"))) else None

    return right


def _real(dtype: DType) -> bool:
    # (a + bi) * (1 + 0i) is NaN for infinite parts.
    return dtype.kind != "complex"


def _integral(dtype: DType) -> bool:
    return dtype.kind == "int"


def _unneeded_clone(found: Match, build: Replacement) -> Value | None:
    x = found.value("x")
    # Not before it is sure that the value fits: `may_become` hands it over.
    same = same_layout(x.spec, found.root.result.spec)
    return x if same and build.may_become(x) else None


def _times_filled_one(found: Match, build: Replacement) -> Value | None:
    x, filled = found.value("x"), found.nodes["filled"]
    plain = filled.result.spec == TensorSpec(_dtype(x), (), (), _device(x))
    one = _is_one(filled.attribute("fill_value"))
    return _copy(found, build) if plain and one and _real(_dtype(x)) else None


def _subtracted(found: Match, build: Replacement) -> Value | None:
    same = _dtype(found.value("y")) is _dtype(found.root.result)
    # In a narrower integer dtype, the negative wraps around before it is widened.
    return build.apply("sub", found.value("x"), found.value("y")) if same else None


def _added(found: Match, build: Replacement) -> Value | None:
    same = _dtype(found.value("y")) is _dtype(found.root.result)
    return build.apply("add", found.value("x"), found.value("y")) if same else None


def _multiplied(found: Match, build: Replacement) -> Value | None:
    x, y = found.value("x"), found.value("y")
    same = _dtype(x) is _dtype(y)
    return build.apply("mul", x, y) if same and _real(_dtype(x)) else None


def _negated(found: Match, build: Replacement) -> Value | None:
    x = found.value("x")
    same = _dtype(x) is _dtype(found.root.result)
    return build.apply("neg", x) if same and _real(_dtype(x)) else None


def _times_reciprocal(found: Match, build: Replacement) -> Value | None:
    x, number = found.value("x"), found.operands["number"]
    if not _real(_dtype(x)):
        return None
    assert isinstance(number, int | float)
    return build.apply("mul", x, 1 / number)


def _zeros(found: Match, build: Replacement) -> Value:
    spec = found.root.result.spec
    assert isinstance(spec, TensorSpec)
    return build.apply(
        "full", size=spec.shape, fill_value=0, dtype=spec.dtype, device=spec.device
    )


def _holds_exactly(wide: DType, narrow: DType) -> bool:
    """Whether every value of `narrow` is one of `wide`."""
    if wide is narrow or narrow.kind == "bool":
        return True
    digits = _DIGITS
    if wide.kind == narrow.kind == "float":
        return (
            digits[wide.name] >= digits[narrow.name]
            and _EXPONENT_BITS[wide.name] >= _EXPONENT_BITS[narrow.name]
        )
    if narrow.kind != "int" or wide.kind not in ("int", "float"):
        return False
    if not wide.is_signed and narrow.is_signed:
        return False
    return digits[wide.name] >= digits[narrow.name]


# Binary digits of the significand; of the magnitude for integers.
_DIGITS = {
    "uint8": 8, "int8": 7, "int16": 15, "int32": 31, "int64": 63,
    "float16": 11, "bfloat16": 8, "float32": 24, "float64": 53,
}  # fmt: skip
_EXPONENT_BITS = {"float16": 5, "bfloat16": 8, "float32": 8, "float64": 11}


def _cast_back(found: Match, build: Replacement) -> Value | None:
    own, between = _dtype(found.value("x")), _dtype(found.nodes["inner"].result)
    back = _dtype(found.root.result)
    lossless = back is own and _holds_exactly(between, own)
    return _copy(found, build) if lossless else None


def _cast_through(found: Match, build: Replacement) -> Value | None:
    own, between = _dtype(found.value("x")), _dtype(found.nodes["inner"].result)
    to = _dtype(found.root.result)
    # Conversions from different kinds to integers can differ out of range.
    one_kind = own.kind == between.kind == to.kind
    lossless = one_kind and _holds_exactly(between, own)
    return build.apply("cast", found.value("x"), dtype=to) if lossless else None


def _undoes_itself(operator: str, code: str) -> Rule:
    """Return the rule that an operator applied twice gives its operand back."""
    return Rule(
        f"{operator}-of-{operator}",
        apply(operator, apply(operator, _X)),
        _copy,
        _applied_twice(operator, code),
    )


def _changes_nothing_again(operator: str) -> Rule:
    """Return the rule that the second of two applications is idle."""
    return Rule(
        f"{operator}-of-{operator}",
        apply(operator, apply(operator, _X)),
        lambda found, build: build.apply(operator, found.value("x")),
        _applied_twice(operator, "f32"),
    )


def _applied_twice(operator: str, code: str) -> str:
    return f"""
        graph f(%x: {code}[3]) {{
          %a: {code}[3] = {operator}(%x)
          %y: {code}[3] = {operator}(%a)
          return %y
        }}"""


# -- the table -----------------------------------------------------------------

# Where two rules match one node, the first is applied.
SIMPLIFY_RULES: tuple[Rule, ...] = (
    Rule(
        "unneeded-clone",
        apply("clone", _X),
        _unneeded_clone,
        """
        graph f(%x: f32[3]) {
          %c: f32[3] = clone(%x, contiguous=False)
          %y: f32[3] = exp(%c)
          return %y
        }""",
    ),
    _undoes_itself("neg", "f32"),
    _undoes_itself("bitwise_not", "i64"),
    _undoes_itself("logical_not", "bool"),
    _undoes_itself("conj", "c64"),
    *map(_changes_nothing_again, ("abs", "sign", "floor", "ceil", "trunc", "round")),
    Rule(
        "mul-one",
        apply("mul", _X, Number("number", _is_one)),
        _copy_if(_real),
        """
        graph f(%x: f32[3]) {
          %y: f32[3] = mul(%x, 1)
          return %y
        }""",
    ),
    # The gradient of a loss begins as such a one.
    Rule(
        "mul-filled-one",
        apply("mul", _X, apply("full", name="filled")),
        _times_filled_one,
        """
        graph f(%x: f32[3]) {
          %one: f32[] = full(size=[], fill_value=1, dtype=f32, device=cpu)
          %y: f32[3] = mul(%x, %one)
          return %y
        }""",
    ),
    Rule(
        "mul-minus-one",
        apply("mul", _X, Number("number", _is_minus_one)),
        _negated,
        """
        graph f(%x: f32[3]) {
          %y: f32[3] = mul(-1, %x)
          return %y
        }""",
    ),
    Rule(
        "div-one",
        apply("div", _X, Number("number", _is_one)),
        _copy_if(_real),
        """
        graph f(%x: f32[3]) {
          %y: f32[3] = div(%x, 1)
          return %y
        }""",
    ),
    Rule(
        "div-power-of-two",
        apply("div", _X, Number("number", _is_power_of_two)),
        _times_reciprocal,
        """
        graph f(%x: f32[3]) {
          %y: f32[3] = div(%x, 4)
          return %y
        }""",
    ),
    Rule(
        "sub-zero",
        apply("sub", _X, Number("number", _is_plus_zero)),
        _copy,
        """
        graph f(%x: f32[3]) {
          %y: f32[3] = sub(%x, 0)
          return %y
        }""",
    ),
    Rule(
        "integer-add-zero",
        apply("add", _X, Number("number", _is_zero)),
        _copy_if(_integral),
        """
        graph f(%x: i64[3]) {
          %y: i64[3] = add(%x, 0)
          return %y
        }""",
    ),
    Rule(
        "add-of-neg",
        apply("add", _X, apply("neg", _Y)),
        _subtracted,
        """
        graph f(%x: f32[3], %y: f32[3]) {
          %n: f32[3] = neg(%y)
          %z: f32[3] = add(%x, %n)
          return %z
        }""",
    ),
    Rule(
        "sub-of-neg",
        apply("sub", _X, apply("neg", _Y)),
        _added,
        """
        graph f(%x: f32[3], %y: f32[3]) {
          %n: f32[3] = neg(%y)
          %z: f32[3] = sub(%x, %n)
          return %z
        }""",
    ),
    Rule(
        "mul-of-negs",
        apply("mul", apply("neg", _X), apply("neg", _Y)),
        _multiplied,
        """
        graph f(%x: f32[3], %y: f32[3]) {
          %a: f32[3] = neg(%x)
          %b: f32[3] = neg(%y)
          %z: f32[3] = mul(%a, %b)
          return %z
        }""",
    ),
    Rule(
        "same-cast",
        apply("cast", _X),
        lambda found, build: (
            _copy(found, build)
            if _dtype(found.value("x")) is _dtype(found.root.result)
            else None
        ),
        """
        graph f(%x: f32[3]) {
          %y: f32[3] = cast(%x, dtype=f32)
          return %y
        }""",
    ),
    Rule(
        "cast-back",
        apply("cast", apply("cast", _X, name="inner")),
        _cast_back,
        """
        graph f(%x: f32[3]) {
          %w: f64[3] = cast(%x, dtype=f64)
          %y: f32[3] = cast(%w, dtype=f32)
          return %y
        }""",
    ),
    Rule(
        "cast-through",
        apply("cast", apply("cast", _X, name="inner")),
        _cast_through,
        """
        graph f(%x: f32[3]) {
          %w: f64[3] = cast(%x, dtype=f64)
          %y: f16[3] = cast(%w, dtype=f16)
          return %y
        }""",
    ),
    Rule(
        "where-same",
        apply("where", _CONDITION, _X, _X),
        _copy,
        """
        graph f(%x: f32[3], %c: bool[3]) {
          %y: f32[3] = where(%c, %x, %x)
          return %y
        }""",
    ),
)

INEXACT_RULES: tuple[Rule, ...] = (
    Rule(
        "add-zero",
        apply("add", _X, Number("number", _is_zero)),
        _copy,
        """
        graph f(%x: f32[3]) {
          %y: f32[3] = add(%x, 0.0)
          return %y
        }""",
        exact=False,
    ),
    Rule(
        "mul-zero",
        apply("mul", _X, Number("number", _is_zero)),
        _zeros,
        """
        graph f(%x: f32[3]) {
          %y: f32[3] = mul(%x, 0.0)
          return %y
        }""",
        exact=False,
    ),
    Rule(
        "div-number",
        apply("div", _X, Number("number", _is_finite)),
        _times_reciprocal,
        """
        graph f(%x: f32[3]) {
          %y: f32[3] = div(%x, 3)
          return %y
        }""",
        exact=False,
    ),
)
