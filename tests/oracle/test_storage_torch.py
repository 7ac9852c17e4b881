"""The answers of the storage cases are PyTorch's."""

import pytest

from tests.support.cases import Case, answer_of, listed
from tests.tensor.storage_cases import case

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("sample", case.parameters(oracle=True))
def test_semantics(sample: Case) -> None:
    assert answer_of(sample, torch) == listed(sample.answer)
