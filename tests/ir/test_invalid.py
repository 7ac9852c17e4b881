"""Bad graphs are refused with a sentence, whatever is wrong with them."""

import random
from pathlib import Path

import pytest

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
        return type(error).__qualname__
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
