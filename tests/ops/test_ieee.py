"""NaN, infinities, the sign of zero: bit for bit, at every place in an array.

The reference is Python's own arithmetic, which is IEEE 754 double precision; a single
precision result is the double one rounded, which is exact for + - * / and sqrt
(Figueroa, "When is double rounding innocuous?", 1995).
"""

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.ops.samples import is_defined
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.tensor import wrap

POINTS = [
    math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -1e-310, 1e-40, 1e-300,
    1.0, -1.0, 1.5, -2.5, 0.5, 3.0, 1e30, -1e30, 1.7e308, 1 + 2**-23,
]  # fmt: skip
PAIRS = list(itertools.product(POINTS, POINTS))
LENGTHS = [1, 3, 17, 64]


def _divided(a: float, b: float) -> float:
    if b == 0 and not (a == 0 or math.isnan(a)):
        return math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))
    return math.nan if b == 0 else a / b


def _root(a: float) -> float:
    return math.nan if a < 0 else math.sqrt(a)


def _larger(a: float, b: float) -> float:
    return a if a > b or math.isnan(a) else b


def _smaller(a: float, b: float) -> float:
    return a if a < b or math.isnan(a) else b


def _remainder(a: float, b: float) -> float:
    rest = _fmod(a, b)
    return rest + b if rest != 0 and (rest < 0) != (b < 0) else rest


def _fmod(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        return math.nan
    return math.fmod(a, b)


def _rounded(function: Callable[[float], int]) -> Callable[[float], float]:
    def apply(a: float) -> float:
        finite = math.isfinite(a) and a != 0
        return math.copysign(float(function(a)), a) if finite else a

    return apply


BINARY: dict[str, Callable[[float, float], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divided,
    "maximum": _larger,
    "minimum": _smaller,
    "fmax": lambda a, b: b if math.isnan(a) else a if math.isnan(b) else _larger(a, b),
    "fmin": lambda a, b: b if math.isnan(a) else a if math.isnan(b) else _smaller(a, b),
    "copysign": math.copysign,
    "fmod": _fmod,
    "remainder": _remainder,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "logical_and": lambda a, b: a != 0 and b != 0,
    "logical_or": lambda a, b: a != 0 or b != 0,
    "logical_xor": lambda a, b: (a != 0) != (b != 0),
}
UNARY: dict[str, Callable[[float], Any]] = {
    "neg": operator.neg,
    "abs": abs,
    "sqrt": _root,
    "reciprocal": lambda a: _divided(1.0, a),
    "square": lambda a: a * a,
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "trunc": _rounded(math.trunc),
    "round": _rounded(round),
    "frac": lambda a: (
        a - a if math.isinf(a) else a - (a if a == 0 else _rounded(math.trunc)(a))
    ),
    "sign": lambda a: float((a > 0) - (a < 0)),
    "sgn": lambda a: float((a > 0) - (a < 0)),
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "signbit": lambda a: math.copysign(1, a) < 0,
    "logical_not": lambda a: a == 0,
    "relu": lambda a: a if math.isnan(a) else max(0.0, a),
}


def columns_of(rows: list[tuple[float, ...]], dtype: str) -> list[Any]:
    with np.errstate(all="ignore"):
        return [np.array(c, dtype) for c in zip(*rows, strict=True)]


def bits(array: Any) -> Any:
    """Return the bits, with one pattern for all NaN."""
    if array.dtype.kind != "f":
        return array
    whole = np.array(array, copy=True)
    whole[np.isnan(whole)] = np.nan
    return whole.view(f"i{array.itemsize}")


def check(name: str, rows: list[tuple[float, ...]], function: Any, dtype: str) -> None:
    columns = columns_of(rows, dtype)
    given = zip(*[c.tolist() for c in columns], strict=True)
    with np.errstate(all="ignore"):
        expected = np.array([function(*row) for row in given])
        expected = expected.astype(dtype) if expected.dtype.kind == "f" else expected
    for length in LENGTHS:
        for start in range(0, len(rows), length):
            part = slice(start, start + length)
            found = getattr(tg, name)(*[wrap(c[part].copy()) for c in columns])
            np.testing.assert_array_equal(bits(found.numpy()), bits(expected[part]))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, dtype: str) -> None:
    check(name, PAIRS, BINARY[name], dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: str) -> None:
    check(name, [(a,) for a in POINTS], UNARY[name], dtype)


FLOATING = [
    name
    for name, op in OPERATORS.items()
    if "pointwise" in op.facts
    and is_defined(op, tg.float32)
    and not op.attributes
    and "float" not in op.facts["pointwise"].fails
]


@pytest.mark.parametrize("name", FLOATING)
def test_values_do_not_depend_on_their_place(name: str) -> None:
    op = OPERATORS[name]
    facts = op.facts["pointwise"]
    count = len(facts.names)
    rows = list(itertools.islice(itertools.product(POINTS, repeat=count), 0, 400))
    columns = columns_of(rows, "float32")
    if facts.names[0] == "condition":
        columns[0] = columns[0] > 0
    whole = op.apply([wrap(c) for c in columns], {}).numpy()
    alone = [
        op.apply([wrap(c[i : i + 1]) for c in columns], {}).numpy()
        for i in range(len(rows))
    ]
    spread = [np.repeat(c, 3)[::3] for c in columns]
    strided = op.apply([wrap(c) for c in spread], {}).numpy()
    for other in (np.concatenate(alone), strided):
        _same_kind(whole, other)


def _same_kind(found: Any, expected: Any) -> None:
    """Compare exactly, except for the last bits of finite floats."""
    if found.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
        return
    np.testing.assert_allclose(found, expected, rtol=5e-7, atol=1e-44)
    if found.dtype.kind == "f":
        zeros = (found == 0) & (expected == 0)
        np.testing.assert_array_equal(
            np.signbit(found[zeros]), np.signbit(expected[zeros])
        )


def test_nothing_simplifies_a_zero_away() -> None:
    zero = tg.tensor([-0.0])
    assert math.copysign(1, (zero + 0).item()) == 1
    assert math.copysign(1, (zero * 1).item()) == -1
    assert (1 / (zero + 0)).item() == math.inf
    assert (tg.tensor([math.inf]) * 0).isnan().item() is True


def test_division_of_floats_by_zero_does_not_raise() -> None:
    x = tg.tensor([1.0, -1.0, 0.0])
    assert (x / 0).tolist()[:2] == [math.inf, -math.inf]
    assert (x // 0).tolist()[:2] == [math.inf, -math.inf]
    assert (x % 0).isnan().all().item() is True


def test_a_bound_that_is_nan_gives_nan() -> None:
    x = tg.tensor([1.0, 2.0])
    assert tg.clamp(x, min=math.nan).isnan().all().item() is True
    assert tg.clamp(x, tg.tensor([0.0, math.nan]), 3.0).isnan().tolist() == [
        False,
        True,
    ]
    assert tg.clamp(x, 3, 1).tolist() == [1.0, 1.0]
