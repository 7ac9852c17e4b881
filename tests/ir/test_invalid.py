"""Bad graphs are refused with a sentence, whatever is wrong with them."""

import random
from pathlib import Path

import pytest

import tracegrad.ir as ir
from tests.ir.text_cases import read_cases
from tracegrad.errors import ParseError, VerifyError
from tracegrad.ir.tokens import tokens_of

CASES = read_cases(Path(__file__).parent / "cases" / "invalid.tg")

WHOLE = """\
graph step(%x: f32[2, 3], %w: f32[3, 2] strides[1, 3] grad, %rng: state<mt19937>, %lr: float) {
  const %table: f32[3] = [0.5, nan(0x7fc00001), -0.0]
  const %big: f64[2, 2] = [1.0, -inf, 2e-300, nan]
  %h: f32[2, 2] = matmul(%x, %w)                                       # model.py:12
  %u: f32[2, 2], %rng_1: state<mt19937> = uniform(%rng, shape=[2, 2], dtype=f32, low=0.0, high=1.0)  # a.py:3 dropout
  %y: f32[2, 2] = mul(%h, %lr)
  %r: f32[2] = select(%y, dim=0, index=0)
  %b: f32[2, 2] = view_write(%u, %r, path=[select(dim=0, index=1)])
  %z: f32[2, 2] = full(size=[2, 2], fill_value=complex(1.0, -0.0), dtype=c64, device=cpu)
  %s: f32[] = sum(%b, dim=[0, 1], keepdim=False, dtype=None)
  %k: bool[] = gt(%s, 0)
  check %k == True                                                     # model.py:14
  write %w <- %w bumps 2
  bind %w.grad <- None
  state %rng <- %rng_1
  return %y, %b
}
""".replace("%z: f32", "%z: c64")


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
        return type(error).__name__
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
        " ".join(parts[:i] + [parts[i]] + parts[i:]),
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
