"""Every Python block in README.md, CONTRIBUTING.md and docs/ runs.

The blocks of one page share their names, from top to bottom. A block that only shows a
shape, and cannot run, is fenced as `python no-run`.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python *\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def python_blocks(page: Path) -> list[tuple[int, str]]:
    """Return the blocks of a page, each with the line on which its code begins."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, match.start(1)) + 1, match.group(1))
        for match in BLOCK.finditer(text)
    ]


def run_blocks(page: Path) -> None:
    """Run a page's blocks in order; a failure's traceback names the page's line."""
    names: dict[str, object] = {"__name__": "__main__"}
    for line, code in python_blocks(page):
        padded = "\n" * (line - 1) + code
        exec(compile(padded, str(page), "exec"), names)


PAGES = [
    page
    for page in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    if python_blocks(page)
]


@pytest.mark.skipif(
    not (ROOT / "tracegrad" / "api.py").exists(), reason="there is no `trace` yet"
)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page: Path) -> None:
    run_blocks(page)


def test_blocks_share_names_and_no_run_is_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\n```\n\n```python no-run\n1 / 0\n```\n"
        "```python\nassert x == 1\n```\n"
    )
    run_blocks(page)
    assert [line for line, _ in python_blocks(page)] == [2, 9]


def test_planted_fault_is_found_on_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("words\n\n```python\nx = 1\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError) as caught:
        run_blocks(page)
    assert caught.traceback[-1].lineno + 1 == 5
