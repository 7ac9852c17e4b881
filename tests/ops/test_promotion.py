"""Result dtypes of every operator for every pair of dtypes, against PyTorch's table.

The table was recorded from PyTorch 2.13.0 (`promotion_cases.py` writes it).
"""

import json
from typing import Any

import pytest

import tracegrad as tg
from tests.ops import promotion_cases as cases
from tracegrad.dispatch.tensor import wrap
from tracegrad.spec import TensorSpec

pytest.importorskip("ml_dtypes")

RECORDED: dict[str, str] = json.loads(cases.TABLE.read_text(encoding="utf-8"))

# Where tracegrad refuses what PyTorch computes.
REFUSED_HERE = {
    "logaddexp": "complex numbers are not supported",
    "pow": "a bool to the power of a Python bool would be a bool",
    "pow_": "as pow",
    "clamp": "PyTorch takes a complex bound of a real tensor and drops its type",
}


class _OnMeta:
    """The library, with tensors that have a spec and no data."""

    def __getattr__(self, name: str) -> Any:
        return getattr(tg, name)

    def tensor(self, data: Any, dtype: Any = None) -> Any:
        real = tg.tensor(data, dtype=dtype)
        meta = tg.device("meta")
        return wrap(TensorSpec(real.dtype, real._array.shape, (), meta))


def _operands(name: str) -> list[Any]:
    if name in cases.UNARY:
        return [(o,) for n, o in cases.unary_cases() if n == name]
    return list(cases.binary_cases())


def _check(name: str, found: str) -> None:
    wrong = [
        f"{operands}: {have} here, {want} there"
        for operands, have, want in zip(
            _operands(name), found, RECORDED[name], strict=True
        )
        if have != want and not _excused(name, operands, have, want)
    ]
    assert wrong == []


def _excused(name: str, operands: Any, have: str, want: str) -> bool:
    """Return whether a difference from PyTorch is meant."""
    if want == cases.REFUSED:
        with_number = any(rank == "n" for _, rank in operands)
        # There is no complex32: complex64 stands for it where PyTorch gives up.
        half = any(d == "float16" for d, _ in operands)
        return with_number or (half and any("complex" in d for d, _ in operands))
    if want == cases.LETTERS["complex32"]:
        return have == cases.LETTERS["complex64"]
    return have == cases.REFUSED and name in REFUSED_HERE


@pytest.fixture(scope="module")
def eager() -> dict[str, str]:
    return cases.answers(tg)


@pytest.fixture(scope="module")
def abstract() -> dict[str, str]:
    return cases.answers(_OnMeta())


def test_table_is_whole() -> None:
    assert sorted(RECORDED) == sorted([*cases.UNARY, *cases.BINARY])
    assert all(len(RECORDED[name]) == len(_operands(name)) for name in RECORDED)


@pytest.mark.parametrize("name", [*cases.UNARY, *cases.BINARY])
def test_result_dtype(name: str, eager: dict[str, str]) -> None:
    _check(name, eager[name])


@pytest.mark.parametrize("name", [*cases.UNARY, *cases.BINARY])
def test_abstract_eval_agrees(
    name: str, eager: dict[str, str], abstract: dict[str, str]
) -> None:
    assert abstract[name] == eager[name]


def test_default_dtype_decides_for_integers() -> None:
    before = tg.get_default_dtype()
    tg.set_default_dtype(tg.float64)
    try:
        x = tg.tensor([1, 2])
        assert (x / 2).dtype is tg.float64
        assert (x + 0.5).dtype is tg.float64
        assert tg.sin(x).dtype is tg.float64
        assert (x + 1j).dtype is tg.complex128
    finally:
        tg.set_default_dtype(before)
    assert (tg.tensor([1, 2]) / 2).dtype is tg.float32


def test_a_literal_keeps_its_bits() -> None:
    x = tg.tensor([1.0], dtype=tg.float64)
    assert (x * 0.1).item() == 0.1
    assert (x + 1e-9).item() == 1 + 1e-9
    assert tg.where(x > 0, x, 0.1).dtype is tg.float64


def test_a_numpy_number_is_weak() -> None:
    np = pytest.importorskip("numpy")
    x = tg.tensor([1.0, 2.0])
    for result in (x * np.float64(2), np.float64(2) * x, x + np.int64(1), 1 - x):
        assert result.dtype is tg.float32
        assert isinstance(result, tg.Tensor)
    array = np.array([1.0, 2.0])
    for result in (array * x, x * array, array - x, array / x, array < x, array**x):
        assert isinstance(result, tg.Tensor)
    assert (array * x).dtype is tg.float64


def test_a_half_literal_is_rounded_before_it_is_compared() -> None:
    x = tg.tensor([0.1], dtype=tg.float16)
    assert (x == 0.1).item() is True
    assert (x < 0.1).item() is False
