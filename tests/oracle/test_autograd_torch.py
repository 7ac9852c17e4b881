"""The answers of the engine's cases are PyTorch's."""

import pytest

from tests.autograd.engine_cases import case
from tests.support.cases import Case, answer_of, listed

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("sample", case.parameters(oracle=True))
def test_semantics(sample: Case) -> None:
    assert answer_of(sample, torch) == listed(sample.answer)
