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


def run_blocks(page: Path, folder: Path) -> None:
    """Run a page's blocks in order; a failure's traceback names the page's line.

    They run as one file in `folder`, because what is captured must have source.
    """
    lines: list[str] = []
    for line, code in python_blocks(page):
        lines += [""] * (line - 1 - len(lines)) + code.splitlines()
    program = folder / f"{page.stem}.py"
    program.write_text("\n".join(lines), encoding="utf-8")
    code = compile(program.read_text(encoding="utf-8"), str(program), "exec")
    exec(code, {"__name__": "__main__"})


PAGES = [
    page
    for page in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    if python_blocks(page)
]


@pytest.mark.skipif(
    not (ROOT / "tracegrad" / "api.py").exists(), reason="there is no `trace` yet"
)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page: Path, tmp_path: Path) -> None:
    run_blocks(page, tmp_path)


def test_blocks_share_names_and_no_run_is_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\n```\n\n```python no-run\n1 / 0\n```\n"
        "```python\nassert x == 1\n```\n"
    )
    run_blocks(page, tmp_path)
    assert [line for line, _ in python_blocks(page)] == [2, 9]


def test_planted_fault_is_found_on_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("words\n\n```python\nx = 1\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError) as caught:
        run_blocks(page, tmp_path)
    assert caught.traceback[-1].lineno + 1 == 5


def test_readme_shows_the_graph_that_its_program_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```\n(graph .*?)^```$", readme, re.MULTILINE | re.DOTALL)
    ((_, code),) = python_blocks(ROOT / "README.md")
    program = tmp_path / "first.py"
    program.write_text(code, encoding="utf-8")
    exec(compile(code, str(program), "exec"), {"__name__": "__main__"})
    assert shown in capsys.readouterr().out
