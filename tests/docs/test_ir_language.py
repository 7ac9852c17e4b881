"""Each graph in docs/ir-language.md is parsed, and printed again as it stands."""

import inspect
import re
import textwrap
from pathlib import Path

import pytest

import tracegrad.ir as ir
from tests.support.round_trip import check_round_trip
from tracegrad.ir import parser

PAGE = (Path(__file__).parents[2] / "docs" / "ir-language.md").read_text("utf-8")
BLOCKS = re.findall(r"^```tg\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", BLOCKS, ids=lambda text: text.split("(")[0])
def test_block(text: str) -> None:
    graph = ir.parse(text)
    check_round_trip(graph)
    assert str(graph) + "\n" == text


def test_each_construct_has_a_block() -> None:
    whole = "\n".join(BLOCKS)
    for word in ("const", "check", "write", "bind", "state", "strides", "base64", "@"):
        assert word in whole


def test_grammar_is_the_parsers() -> None:
    (shown,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    stated = inspect.getdoc(parser) or ""
    assert textwrap.indent(shown, "    ") in stated
