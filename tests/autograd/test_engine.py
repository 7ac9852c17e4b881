"""The autograd engine: `semantics.md`, section 4."""

from pathlib import Path

import pytest

import tracegrad as tg
from tests.autograd.engine_cases import case
from tests.support.cases import Case, answer_of, listed


@pytest.mark.parametrize("sample", case.parameters())
def test_semantics(sample: Case) -> None:
    assert answer_of(sample, tg) == listed(sample.answer)


def test_a_saved_tensor_written_since_names_both_lines():
    def line_of(text):
        source = Path(__file__).read_text(encoding="utf-8").splitlines()
        (number,) = (n for n, line in enumerate(source, 1) if line.endswith(text))
        return f"test_engine.py:{number}"

    x = tg.ones(3, requires_grad=True)
    with tg.autograd.detect_anomaly():
        y = x.exp()  # saved here
        y.add_(1)  # written here
        with pytest.raises(RuntimeError, match="written in place") as caught:
            y.sum().backward()
    # Not written as in the program, or these lines would be found too.
    assert line_of("# written " + "here") in str(caught.value)
    assert any(line_of("# saved " + "here") in note for note in caught.value.__notes__)
