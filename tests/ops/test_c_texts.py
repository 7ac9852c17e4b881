"""The C text of each operator means what its NumPy text means, on hard points too."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.ops import c_texts
from tracegrad.dispatch.tensor import wrap
from tracegrad.dtypes import DType

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(c_texts.COMPILER is None, reason="there is no C compiler"),
]

ENTRIES = list(c_texts.entries())
_FLOATS = [
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.0, 1e-40,
    1e-3, 7.0, -30.0, 30.0, 1e30, -1e30, 3e9, 1e19,
]  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return c_texts.compiled(tmp_path_factory.mktemp("c"))


def points(dtype: DType) -> Any:
    if dtype.kind == "bool":
        return np.array([False, True])
    if dtype.kind == "float":
        return np.array(_FLOATS, dtype.numpy)
    info = np.iinfo(dtype.numpy)
    bits = info.bits
    found = {info.min, info.min + 1, 0, 1, 2, 3, bits - 1, bits, info.max - 1, info.max}
    found |= {-1, -2, -7} if info.min < 0 else set()
    return np.array(sorted(found), dtype.numpy)


def operands(entry: c_texts.Entry) -> list[Any]:
    each = [points(d) for d in entry.operands]
    if len(each) > 2:
        each = [e[:: 1 + len(each) // 2] for e in each]
    columns = zip(*itertools.product(*each), strict=True)
    arrays = [
        np.array(c, d.numpy) for c, d in zip(columns, entry.operands, strict=True)
    ]
    facts = entry.operator.facts["pointwise"]
    refused = facts.failure(entry.operands[-1])
    if refused is not None:
        named = dict(zip(facts.names, arrays, strict=True))
        keep = ~eval(refused.replace("{", "").replace("}", ""), {}, named)
        arrays = [np.ascontiguousarray(a[keep]) for a in arrays]
    return arrays


# Whose formula takes nearly equal numbers apart where the result is small.
CANCELLING = ("gelu", "gelu_tanh")


def compare(found: Any, expected: Any, slack: float) -> None:
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    # Bits where IEEE 754 says them; functions of the two libraries differ in the last.
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    tolerance = 3e-6 if found.dtype == np.float32 else 1e-13
    tiny = float(np.finfo(found.dtype).tiny)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=max(tiny, slack))
    zeros = (found == 0) & (expected == 0)
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))


def _id(entry: c_texts.Entry) -> str:
    return entry.symbol.removeprefix("run_")


@pytest.mark.parametrize("entry", ENTRIES, ids=_id)
def test_c_text(entry: c_texts.Entry, library: Any) -> None:
    arrays = operands(entry)
    found = c_texts.call(library, entry, arrays)
    expected = entry.operator.apply([wrap(a) for a in arrays], entry.attributes)
    cancels = entry.operator.name in CANCELLING
    compare(found, expected.numpy(), 1e-7 if cancels else 0)


def test_nothing_is_undefined(tmp_path: Any, capfd: Any) -> None:
    library = c_texts.compiled(tmp_path, ("-fsanitize=undefined",))
    run: Callable[..., Any] = c_texts.call
    for entry in ENTRIES:
        run(library, entry, operands(entry))
    assert "runtime error" not in capfd.readouterr().err
