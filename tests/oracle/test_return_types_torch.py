"""Named results are shown as PyTorch shows them."""

import pytest

import tracegrad as tg
from tests.tensor.test_return_types import CALLS

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", CALLS)
def test_representation(name: str) -> None:
    rows = [[1.0, 2.0], [3.0, 4.0]]
    expected = repr(CALLS[name](torch.tensor(rows)))
    found = repr(CALLS[name](tg.tensor(rows)))
    assert found == expected.replace("torch.", "tracegrad.")
