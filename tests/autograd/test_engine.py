"""The autograd engine: `semantics.md`, section 4."""

import pytest

import tracegrad as tg
from tests.autograd.engine_cases import case
from tests.support.cases import Case, answer_of, listed


@pytest.mark.parametrize("sample", case.parameters())
def test_semantics(sample: Case) -> None:
    assert answer_of(sample, tg) == listed(sample.answer)
