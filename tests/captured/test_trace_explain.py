"""The report of a captured function, and what happens when compiling fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tracegrad as tg
import tracegrad.captured.entry
import tracegrad.captured.function as captured_function
import tracegrad.compiler

PROGRAM = """\
import tracegrad as tg

RATE = 0.5
SEEN = []


def step(x, w, loud=False):
    h = tg.nn.functional.softmax(x @ w, 1)
    if h.sum() > 10:
        h = h * 2
    if loud:
        SEEN.append(x)
    return h * RATE, h.mean().item()


f = tg.trace(step)
w = tg.ones(3, 2)
f(tg.ones(4, 3), w)
f(tg.ones(4, 3), w)
f(tg.ones(20, 3), w)
RATE = 0.25
f(tg.ones(4, 3), w)
f(tg.ones(4, 3), w.clone().requires_grad_())
f(tg.ones(4, 3), w, loud=True)
print(f.explain())
"""


def report(tmp_path: Path, seed: str, **environment: str) -> tuple[str, str]:
    program = tmp_path / "example.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program)],
        env=os.environ | {"PYTHONHASHSEED": seed} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, done.stderr


def test_report(tmp_path: Path) -> None:
    text, silent = report(tmp_path, "1")
    assert text == report(tmp_path, "77")[0]
    assert silent == ""
    assert str(tmp_path) not in text
    assert not re.search(r"0x[0-9a-f]{6}", text)
    golden = Path(__file__).with_name("explain_golden.txt")
    assert text == golden.read_text()


def test_log(tmp_path: Path) -> None:
    _, printed = report(tmp_path, "1", TRACEGRAD_LOG="capture")
    assert "capture: step: program 1: captured" in printed
    assert "capture: step: ran eagerly: calls SEEN.append" in printed


def test_not_called() -> None:
    captured = tg.trace(lambda x: x)
    said = "<lambda>:\n  not called yet: graph is None and source is empty"
    assert str(captured.explain()) == said
    assert repr(captured) == "<captured function <lambda>: not called yet>"
    assert (captured.graph, captured.source) == (None, "")


HEARD: list[tg.Tensor] = []


def shouting(x: tg.Tensor) -> tg.Tensor:
    HEARD.append(x)
    return x


def test_only_eager_calls() -> None:
    captured = tg.trace(shouting)
    captured(tg.ones(2))
    said = str(captured.explain()).splitlines()[-1]
    assert said == "  no call was captured: graph is None and source is empty"
    assert (captured.graph, captured.source) == (None, "")
    assert repr(captured) == (
        "<captured function shouting: 0 programs, 1 reason to run eagerly>"
    )


def test_representations() -> None:
    def doubled(x: tg.Tensor) -> tg.Tensor:
        return x * 2

    captured = tg.trace(doubled)
    captured(tg.ones(2))
    captured(tg.ones(2))
    assert repr(captured) == "<captured function doubled: 1 program>"
    said = repr(captured.specializations[0])
    assert re.fullmatch(
        r"<specialization doubled\(x: f32\[2\]\): 1 operators, \d+ guards, 1 hits>",
        said,
    )
    assert "no call was captured" not in str(captured.explain())


def broken(*args: Any, **kwargs: Any) -> Any:
    raise ZeroDivisionError("an emitter's fault")


@pytest.mark.parametrize("error", [ZeroDivisionError, tg.errors.CompileError])
def test_a_failing_compiler_falls_back(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise error("an emitter's fault")

    monkeypatch.setitem(tracegrad.compiler.TARGETS, "numpy", fail)
    captured = tg.trace(lambda x: x * 2)
    with pytest.warns(UserWarning, match="runs eagerly, it could not be compiled"):
        assert captured(tg.ones(1)).item() == 2.0
    for k in (1.0, 3.0):
        assert captured(tg.tensor([k])).item() == 2 * k
    assert "an emitter's fault" in str(captured.explain())
    strict = tg.trace(lambda x: x * 2, strict=True)
    with pytest.raises(error, match="an emitter's fault"):
        strict(tg.ones(1))
    with tg.config(strict=True), pytest.raises(error):
        tg.trace(lambda x: x * 2)(tg.ones(1))


def test_a_failing_compiler_of_backward_falls_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    captured = tg.trace(lambda x: (x * x).sum())
    for _ in range(2):
        captured(tg.ones(2, requires_grad=True))
    monkeypatch.setitem(tracegrad.compiler.TARGETS, "numpy", broken)
    x = tg.tensor([3.0, 4.0], requires_grad=True)
    captured(x).backward()
    assert x.grad.tolist() == [6.0, 8.0]
    assert captured.specializations[0].hits == 2


def test_a_failing_program_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    captured = tg.trace(lambda x: x * 2)
    captured(tg.ones(1))
    executable = captured.specializations[0].compiled.executable
    monkeypatch.setattr(executable, "function", broken)
    assert captured(tg.tensor([4.0])).item() == 8.0


def test_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tg.trace(lambda x: x * 2, tg.ones(1)).specializations[0].compiled
    with tg.config(target="numpy"):
        captured = tg.trace(lambda x: x * 2, tg.ones(1))
    assert "target numpy, as asked" in str(captured.explain())
    monkeypatch.setitem(sys.modules, "cupy", None)
    on_cuda = tg.trace(lambda x: x * 2, target="cuda")
    with pytest.warns(UserWarning, match="CuPy is not installed: pip install"):
        assert on_cuda(tg.ones(1)).item() == 2.0
    assert on_cuda(tg.ones(1)).item() == 2.0
    with pytest.raises(tg.errors.CompileError, match="CuPy"):
        tg.trace(lambda x: x * 2, target="cuda", strict=True)(tg.ones(1))
    with pytest.raises(NotImplementedError):
        tg.trace(lambda x: x, target="c")


def test_every_mode_is_named() -> None:
    captured = tg.trace(lambda x: x * 2)
    captured(tg.ones(1))
    with tg.no_grad():
        captured(tg.ones(1))
    assert "made because gradients on was True and is False" in str(captured.explain())


def test_limit_is_said() -> None:
    captured = tg.trace(lambda x: x * 2)
    for n in range(captured_function.MAX_SPECIALIZATIONS + 4):
        captured(tg.ones(n))
    assert "`x` changed 4 times or more, no more programs" in str(captured.explain())
