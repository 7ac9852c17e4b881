import sys
from operator import attrgetter

import pytest

import tracegrad
from tracegrad.cli.describe import forms_of
from tracegrad.cli.main import main
from tracegrad.cli.output import columns, table
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS


def test_table_has_each_operator(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split()[:2] == ["name", "family"]
    assert [line.split()[0] for line in lines] == sorted(OPERATORS)


@pytest.mark.parametrize("name", sorted({*OPERATORS, *FUNCTIONS}))
def test_each_name_can_be_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "show", name]) == 0
    assert capsys.readouterr().out.startswith(f"{name}(")


def test_all_of_one_operator(capsys: pytest.CaptureFixture[str]) -> None:
    main(["ops", "show", "sinh"])
    out = capsys.readouterr().out
    assert "sinh(input: Tensor) -> Tensor\n\nHyperbolic sine of each element." in out
    assert "defined at: tracegrad/ops/hyperbolic.py:" in out
    assert "forms: tracegrad.sinh, Tensor.sinh, Tensor.sinh_, in graphs" in out
    assert "dtypes: bool, int, float, complex" in out
    assert "VJP by input: times of input, tracegrad/ops/hyperbolic.py:" in out
    assert "NumPy, any dtypes: np.sinh({input})" in out
    assert "C family, float dtypes: sinh{f}({input})" in out


def test_a_function_and_its_operator_are_shown_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["ops", "show", "relu"])
    out = capsys.readouterr().out
    assert out.startswith("relu(input: Any, inplace: bool = False")
    forms = "tracegrad.relu, Tensor.relu, Tensor.relu_, nn.functional.relu, in graphs"
    assert f"forms: {forms}\n" in out
    assert out.count("forms:") == 1
    assert "\nrelu(input: Tensor) -> Tensor\n" in out
    assert "NumPy, int dtypes: np.maximum" in out or "NumPy, any dtypes" in out


@pytest.mark.parametrize("name", sorted({*OPERATORS, *FUNCTIONS}))
def test_every_form_that_is_listed_is_there(name: str) -> None:
    for form in forms_of(name):
        if form != "in graphs":
            attrgetter(form.removeprefix("tracegrad."))(tracegrad)


def test_unknown_operator_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "show", "sinhh"]) == 2
    said = capsys.readouterr().err
    assert said == "tracegrad: there is no operator 'sinhh'; did you mean 'sinh'?\n"


def test_plain_columns_line_up() -> None:
    text = columns(("a", "long"), [("wide cell", "x"), ("y", "")])
    assert text == "a          long\nwide cell  x\ny\n"


def test_rich_draws_the_table_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    table(("name", "text"), [("x", "[bold] is no markup")])
    assert "[bold] is no markup" in capsys.readouterr().out
