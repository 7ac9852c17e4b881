"""PyTorch's operator database: samples of tracegrad's operators of the same names.

A slice of the names, another one each day in CI; the slow test runs them all. What is
known to differ stands in `op_db_remaining.tsv`, with the reason.
"""

from typing import Any

import pytest

torch = pytest.importorskip("torch")
op_db = pytest.importorskip(
    "tests.oracle.op_db", reason="needs expecttest, as PyTorch's database does"
)

SLICES = 40


def _check(names: list[str]) -> None:
    _, found = op_db.differences(names)
    known = op_db.listed()
    new = [d for d in found if d.key not in known]
    assert not new, "\n".join(f"{d.key}: {d.reason}" for d in new)
    expected = {key for key in known if key[0] in names}
    mended = expected - {d.key for d in found}
    assert not mended, f"take out of {op_db.LIST.name}: {sorted(mended)[:20]}"


def test_a_slice_of_the_names(seed: int) -> None:
    _check(sorted(op_db.named())[seed % SLICES :: SLICES])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
def test_all_names(part: int) -> None:
    _check(sorted(op_db.named())[part::SLICES])


def test_coverage(capsys: Any) -> None:
    names = op_db.named()
    with capsys.disabled():
        print(f"\nop_db: {len(names)} names, {len(op_db.listed())} samples differ")  # noqa: T201
    assert len(names) >= 400


def test_a_wrong_operator_is_found() -> None:
    (add,) = [op for op in op_db.op_db if op.name == "add"]
    samples = op_db._samples(add, torch.float64)
    wrong = [
        op_db.compared(add, op_db.tg.sub, s)
        for s, _ in zip(samples, range(4), strict=False)
    ]
    assert any(wrong)
