"""Bad graphs are refused with a sentence, whatever is wrong with them."""

import random
import re
from pathlib import Path

import pytest

import tracegrad as tg
import tracegrad.ir as ir
from tests.ir.text_cases import read_cases
from tracegrad.errors import ParseError, VerifyError
from tracegrad.ir.tokens import tokens_of

CASES = read_cases(Path(__file__).parent / "cases" / "invalid.tg")

WHOLE = (Path(__file__).parent / "cases" / "whole.tg").read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_sentence(text: str, expected: str) -> None:
    with pytest.raises((ParseError, VerifyError)) as caught:
        ir.parse(text)
    assert expected in str(caught.value)


def outcome(text: str) -> str:
    """Parse `text`; anything but a graph or one of the two errors is raised."""
    try:
        graph = ir.parse(text)
    except (ParseError, VerifyError) as error:
        names_a_line = re.search(r"\bline \d+", str(error)) is not None
        return type(error).__qualname__ if names_a_line else f"no line: {error}"
    assert ir.parse(str(graph)) == graph
    return "graph"


def words(line: str) -> list[str]:
    """Split a line so that its parts joined give it back."""
    return [token.text for token in tokens_of(line)]


def broken_lines(line: str, rng: random.Random) -> list[str]:
    """Ways to spoil a line: delete, double or swap a word, cut it, change a letter."""
    parts = words(line) or [line]
    i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
    swapped = list(parts)
    swapped[i], swapped[j] = swapped[j], swapped[i]
    cut = rng.randrange(len(line) + 1)
    letter = rng.choice("%[](){}<>=-,.:#@'\"0 1xn\\\t\0é")
    return [
        " ".join(parts[:i] + parts[i + 1 :]),
        " ".join([*parts[:i], parts[i], *parts[i:]]),
        " ".join(swapped),
        line[:cut],
        line[cut:],
        line[:cut] + letter + line[cut:],
        line[:cut] + letter + line[cut + 1 :],
        "",
    ]


def test_any_line_broken(seed: int) -> None:
    rng = random.Random(seed)
    lines = WHOLE.splitlines()
    found = set()
    for index, line in enumerate(lines):
        for _ in range(12):
            for broken in broken_lines(line, rng):
                text = "\n".join([*lines[:index], broken, *lines[index + 1 :]])
                found.add(outcome(text))
    assert found == {"ParseError", "VerifyError", "graph"}


def test_lines_swapped_and_text_truncated(seed: int) -> None:
    rng = random.Random(seed)
    lines = WHOLE.splitlines()
    for _ in range(200):
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        swapped = list(lines)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        outcome("\n".join(swapped))
        assert outcome(WHOLE[: rng.randrange(len(WHOLE) - 2)]) == "ParseError"


def a_step(x: tg.Tensor, w: tg.Tensor, labels: tg.Tensor) -> object:
    hidden = tg.nn.functional.dropout(tg.nn.functional.relu(x @ w), 0.5)
    hidden[0] = 3.0
    x.add_(1)
    loss = tg.nn.functional.cross_entropy(hidden, labels)
    return loss, hidden.sort(1), hidden.transpose(0, 1).reshape(-1), hidden[:, 1:]


def captured_text() -> str:
    captured = tg.trace(a_step)
    captured(tg.ones(4, 3), tg.ones(3, 5), tg.tensor([0, 1, 2, 3]))
    assert captured.graph is not None
    return str(captured.graph)


PIECES = ["%", "%x", ",", ")", "(", "[", "{", "}", "=", "<-", "nan", "-1", "1e999",
          "99999999999", '"', "\0", "f32", "None", "#", "*", "True", "return", "graph",
          "check", "state<mt19937>", "\\", "é"]  # fmt: skip


def test_any_word_of_a_captured_graph_spoilt(seed: int) -> None:
    rng = random.Random(seed)
    text = captured_text()
    parts = words(text.replace("\n", " \n"))
    found = set()
    for _ in range(400):
        i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
        for spoilt in (
            [*parts[:i], *parts[i + 1 :]],
            [*parts[:i], parts[i], *parts[i:]],
            [*parts[:i], rng.choice(PIECES), *parts[i + 1 :]],
            [*parts[:i], parts[j], *parts[i + 1 :]],
        ):
            found.add(outcome(" ".join(spoilt)))
    assert found == {"ParseError", "VerifyError", "graph"}


def test_the_line_is_that_of_the_text() -> None:
    text = """

graph f(%x: f32[3]) {

  %y: f32[3] = add(%x, %x)
  %z: f32[4] = mul(%y, %y)
  return %z
}"""
    with pytest.raises(VerifyError, match=r"%z is f32\[3\].*\(line 6 of the text\)"):
        ir.parse(text)


def test_a_long_text_is_read_in_time_that_grows_with_it() -> None:
    lines = [f"  %y{i}: f32[3] = add(%x, %x)" for i in range(3000)]
    text = "\n".join(["graph f(%x: f32[3]) {", *lines, "  return %y0", "}"])
    assert len(ir.parse(text).nodes) == 3000
