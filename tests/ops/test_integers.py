"""Integer arithmetic against Python's big integers, reduced to the width."""

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg

DTYPES = ["uint8", "int8", "int16", "int32", "int64"]
LENGTHS = [1, 7, 64, 1000]


def limits(dtype: str) -> tuple[int, int, int]:
    """Return the least and the largest integer, and the width in bits."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max), info.bits


def wrapped(value: int, dtype: str) -> int:
    """Return the integer that the low bits of `value` are."""
    low, _, bits = limits(dtype)
    value &= (1 << bits) - 1
    return value - (1 << bits) if low < 0 and value >> (bits - 1) else value


def hard(dtype: str) -> list[int]:
    low, high, bits = limits(dtype)
    rng = np.random.default_rng(0)
    found = [low, low + 1, 0, 1, 2, 3, 7, high - 1, high, bits - 1, bits, bits + 1]
    found += [-1, -2, -7] if low < 0 else []
    found += [int(x) for x in rng.integers(low, high, 4, dtype, endpoint=True)]
    return sorted({x for x in found if low <= x <= high})


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _power(a: int, b: int) -> int:
    if b >= 0:
        return pow(a, b, 1 << 64)
    return {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)


def _left(a: int, b: int, bits: int) -> int:
    return a << b if 0 <= b < bits else 0


def _right(a: int, b: int, bits: int) -> int:
    return a >> b if 0 <= b < bits else (-1 if a < 0 else 0)


# What the operator is, in Python; of the width too where that matters.
BINARY: dict[str, Callable[..., int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "maximum": max,
    "minimum": min,
    "fmax": max,
    "fmin": min,
    "pow": _power,
}
DIVIDING: dict[str, Callable[[int, int], int]] = {
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "fmod": lambda a, b: a - b * _truncated(a, b),
    "div_floor": operator.floordiv,
    "div_trunc": _truncated,
}
SHIFTS: dict[str, Callable[[int, int, int], int]] = {
    "bitwise_left_shift": _left,
    "bitwise_right_shift": _right,
}
COMPARING: dict[str, Callable[[int, int], bool]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
UNARY: dict[str, Callable[[int], int]] = {
    "neg": operator.neg,
    "abs": abs,
    "bitwise_not": operator.invert,
    "square": lambda a: a * a,
    "sign": lambda a: (a > 0) - (a < 0),
    "sgn": lambda a: (a > 0) - (a < 0),
    "relu": lambda a: max(a, 0),
}


def call(name: str, *operands: Any) -> Any:
    if name.startswith("div_"):
        return tg.div(*operands, rounding_mode=name.removeprefix("div_"))
    return getattr(tg, name)(*operands)


def check(
    name: str, rows: list[tuple[Any, ...]], expected: list[int], dtype: str
) -> None:
    """Compare at several lengths: a value may not depend on its place in the array."""
    columns = [np.array(c, dtype) for c in zip(*rows, strict=True)]
    for length in LENGTHS:
        places = np.arange(length) % len(rows)
        found = call(name, *[tg.tensor(c[places]) for c in columns])
        np.testing.assert_array_equal(
            found.numpy(), np.array(expected, found.numpy().dtype)[places]
        )


def reduced(value: int, dtype: str) -> int:
    return int(value) if isinstance(value, bool) else wrapped(value, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*BINARY, *COMPARING])
def test_binary(name: str, dtype: str) -> None:
    rows = list(itertools.product(hard(dtype), hard(dtype)))
    function = (BINARY | COMPARING)[name]
    check(name, rows, [reduced(function(*row), dtype) for row in rows], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DIVIDING)
def test_division(name: str, dtype: str) -> None:
    rows = [r for r in itertools.product(hard(dtype), hard(dtype)) if r[1] != 0]
    check(name, rows, [wrapped(DIVIDING[name](*r), dtype) for r in rows], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DIVIDING)
def test_division_by_zero(name: str, dtype: str) -> None:
    one = tg.tensor([1, 2, 3]).to(getattr(tg, dtype))
    zero = tg.tensor([1, 0, 1]).to(getattr(tg, dtype))
    with pytest.raises(ZeroDivisionError):
        call(name, one, zero)
    with pytest.raises(RuntimeError):
        call(name, one, 0)
    assert call(name, one[:0], zero[:0]).shape == (0,)
    if name in ("floor_divide", "remainder", "fmod"):
        with pytest.raises(tg.errors.DivisionError, match=name):
            getattr(one, name + "_")(zero)
        assert one.tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SHIFTS)
def test_shift(name: str, dtype: str) -> None:
    bits = limits(dtype)[2]
    rows = list(itertools.product(hard(dtype), hard(dtype)))
    expected = [wrapped(SHIFTS[name](a, b, bits), dtype) for a, b in rows]
    check(name, rows, expected, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: str) -> None:
    rows = [(a,) for a in hard(dtype)]
    check(name, rows, [wrapped(UNARY[name](*r), dtype) for r in rows], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_three_operands(dtype: str) -> None:
    values = hard(dtype)
    rows = list(itertools.product(values, values[::2], values[::3]))
    check("addcmul", rows, [wrapped(a + b * c, dtype) for a, b, c in rows], dtype)
    check("clamp", rows, [min(max(a, b), c) for a, b, c in rows], dtype)


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_cast(source: str, target: str) -> None:
    values = hard(source)
    found = tg.tensor(np.array(values, source)).to(getattr(tg, target))
    assert found.tolist() == [wrapped(v, target) for v in values]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_large_number_wraps(dtype: str) -> None:
    x = tg.tensor([1, 2]).to(getattr(tg, dtype))
    assert (x + 300).tolist() == [wrapped(301, dtype), wrapped(302, dtype)]
    assert (x - 2).tolist() == [wrapped(-1, dtype), 0]
    assert (x * -1).tolist() == [wrapped(-1, dtype), wrapped(-2, dtype)]


def test_intermediates_are_narrow() -> None:
    c, x, y = (tg.tensor([v], dtype=tg.int8) for v in (100, 100, 3))
    assert ((c + x) * y).item() == (c * y + x * y).item()
    a, b = tg.tensor([200], dtype=tg.uint8), tg.tensor([100], dtype=tg.uint8)
    assert ((a + b) // 2).item() == 22


def test_float_to_integer_is_total() -> None:
    x = tg.tensor([np.nan, np.inf, -np.inf, 1e30, 2.9, -2.9], dtype=tg.float64)
    least64, least32 = -(2**63), -(2**31)
    assert x.long().tolist() == [least64] * 4 + [2, -2]
    assert x.int().tolist() == [least32] * 4 + [2, -2]
    assert x.short().tolist() == [0] * 4 + [2, -2]
    assert x.to(tg.uint8).tolist() == [0] * 4 + [2, 254]
    assert tg.tensor([-1.0, 256.0, 300.0]).to(tg.uint8).tolist() == [255, 0, 44]
    assert x.bool().all().item() is True
