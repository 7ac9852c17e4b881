"""Storage, views, writes in place: `semantics.md`, section 2, and lines 51 and 58."""

import pytest

import tracegrad as tg
from tests.support.cases import Case, answer_of, listed
from tests.tensor.storage_cases import case


@pytest.mark.parametrize("sample", case.parameters())
def test_semantics(sample: Case) -> None:
    assert answer_of(sample, tg) == listed(sample.answer)
