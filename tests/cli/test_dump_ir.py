import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tracegrad as tg
from tracegrad.cli.main import main
from tracegrad.passes.pipeline import PIPELINE

MODEL = """
import tracegrad as tg

W = tg.ones(4, 8)
NOT_A_FUNCTION = 3


class Layer(tg.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = tg.nn.Parameter(tg.ones(4, 2))

    def forward(self, x):
        return x @ self.weight


layer = Layer()


def mlp(x, w, scale=1.0):
    h = tg.tanh(x @ W)
    return (h * w * scale).sum()


def pick(table, index):
    return table[index]


@tg.trace
def traced(x):
    return x * 2


def mismatch(x):
    return x @ x


def fails(x):
    raise ValueError("on purpose")


def leaves(x):
    raise SystemExit(3)


def prints(x):
    print("hi")
    return x


def step(x, weight):
    loss = (x * weight).sum()
    loss.backward()
    return loss.detach()


def tuple_of_inputs():
    return tg.ones(3, 4), tg.ones(8)


def dict_of_inputs():
    return {"w": tg.ones(8), "x": tg.ones(3, 4)}


def one_input():
    return tg.ones(3, 3)


def wrong_inputs():
    return "x"


exec("def sourceless(x):\\n    return x * 2")
"""

INPUTS = ("--input", "x=f32[3,4]", "--input", "w=f32[8]")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Run ``tracegrad dump-ir`` beside model.py; status, output, errors."""
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "talks.py").write_text("print('talk')\ndef f(x): return x * 2\n")
    (tmp_path / "broken.py").write_text("x = 1\ny = 1 +\n")
    (tmp_path / "raises.py").write_text("x = 1\n1 / 0\n")
    (tmp_path / "needs.py").write_text("import a_package_that_is_not_there\n")
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "notes.txt").write_text("words")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))

    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(["dump-ir", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def graphs_in(text: str) -> list[tg.ir.Graph]:
    """Return the graphs of a dump with headings."""
    starts = [m.start() for m in re.finditer(r"^graph ", text, re.MULTILINE)]
    ends = [m.end() for m in re.finditer(r"^}$", text, re.MULTILINE)]
    return [tg.ir.parse(text[a:b]) for a, b in zip(starts, ends, strict=True)]


# -- what it prints -------------------------------------------------------------


def test_graph_as_captured(run: Run) -> None:
    status, out, err = run("model.py:mlp", *INPUTS)
    assert (status, err) == (0, "")
    graph = tg.ir.parse(out)
    assert [n.operator.name for n in graph.nodes] == [
        "matmul",
        "tanh",
        "mul",
        "mul",
        "sum",
    ]
    assert [v.name for v in graph.inputs] == ["x", "w", "W"]
    assert "# model.py:" in out


def test_target_is_a_module_by_name(run: Run) -> None:
    assert run("model:mlp", *INPUTS)[1] == run("./model.py:mlp", *INPUTS)[1]


def test_a_module_instance_by_its_forward(run: Run) -> None:
    status, out, _ = run("model.py:layer", "--input", "x=f32[3,4]")
    assert status == 0
    assert [n.operator.name for n in tg.ir.parse(out).nodes] == ["matmul"]


def test_a_method_by_dots(run: Run) -> None:
    status, out, _ = run("model.py:layer.forward", "--input", "f32[3,4]")
    assert status == 0
    assert tg.ir.parse(out).nodes[0].operator.name == "matmul"


def test_a_function_that_is_traced_already(run: Run) -> None:
    status, out, _ = run("model.py:traced", "--input", "x=f64[]")
    assert status == 0
    assert str(tg.ir.parse(out).inputs[0].spec) == "f64[]"


def test_integers_have_a_bound(run: Run) -> None:
    status, out, _ = run(
        "model.py:pick", "--input", "table=f32[3,2]", "--input", "index=i64[50]<3"
    )
    assert status == 0
    assert "%index: i64[50]" in out


def test_numbers_are_inputs_too(run: Run) -> None:
    _, out, _ = run("model.py:mlp", *INPUTS, "--input", "scale=0.25")
    assert "0.25" in out


def test_inputs_by_position(run: Run) -> None:
    named = run("model.py:mlp", *INPUTS)
    assert run("model.py:mlp", "--input", "f32[3,4]", "--input", "f32[8]") == named


@pytest.mark.parametrize("make", ["tuple_of_inputs", "dict_of_inputs"])
def test_inputs_by_a_function(run: Run, make: str) -> None:
    named = run("model.py:mlp", *INPUTS)
    assert run("model.py:mlp", "--inputs", f"model.py:{make}") == named


def test_a_single_input_by_a_function(run: Run) -> None:
    status, out, _ = run("model.py:mismatch", "--inputs", "model.py:one_input")
    assert (status, len(tg.ir.parse(out).nodes)) == (0, 1)


def test_same_text_each_time(run: Run) -> None:
    assert run("model.py:mlp", *INPUTS) == run("model.py:mlp", *INPUTS)


@pytest.mark.parametrize("name", [each.name for each in PIPELINE])
def test_before_and_after_each_pass(run: Run, name: str) -> None:
    status, out, _ = run("model.py:mlp", *INPUTS, "--pass", name)
    assert status == 0
    assert out.startswith(f"# before {name}\ngraph mlp(")
    assert f"# after {name}: " in out
    assert len(graphs_in(out)) == (1 if "unchanged" in out else 2)


def test_before_and_after_the_derivation(run: Run) -> None:
    status, out, _ = run(
        *("model.py:mlp", "--input", "x=f32[3,4] grad", "--input", "w=f32[8]"),
        *("--pass", "vjp"),
    )
    assert status == 0
    names = [graph.name for graph in graphs_in(out)]
    assert names == ["mlp", "mlp", "mlp_backward"]


def test_all_passes(run: Run) -> None:
    _, out, _ = run("model.py:mlp", *INPUTS, "--all-passes")
    headings = re.findall(r"^# after ([\w-]+)", out, re.MULTILINE)
    assert headings == [each.name for each in PIPELINE]
    assert graphs_in(out)[-1].nodes[-1].operator.name == "fused"


def test_all_passes_on_forward_and_backward(run: Run) -> None:
    _, out, _ = run(
        *("model.py:mlp", "--input", "x=f32[3,4] grad", "--input", "w=f32[8]"),
        "--all-passes",
    )
    assert "# after fuse, forward" in out
    assert "# after fuse, backward" in out


def test_numpy_source_compiles(run: Run) -> None:
    _, out, _ = run("model.py:mlp", *INPUTS, "--emit", "source")
    compile(out, "source", "exec")
    assert "import numpy as np" in out


def test_cuda_source(run: Run) -> None:
    _, out, _ = run("model.py:mlp", *INPUTS, "--emit", "source", "--target", "cuda")
    compile(out, "source", "exec")
    assert "__global__" in out


def test_source_of_forward_and_backward(run: Run) -> None:
    _, out, _ = run(
        *("model.py:mlp", "--input", "x=f32[3,4] grad", "--input", "w=f32[8]"),
        *("--emit", "source"),
    )
    assert out.index("# forward") < out.index("# backward")
    compile(out, "source", "exec")


def test_a_step_with_its_own_backward_is_one_graph(run: Run) -> None:
    _, out, _ = run(
        "model.py:step", "--input", "x=f32[3]", "--input", "weight=f32[3] grad"
    )
    assert "bind %weight.grad <- " in out


def test_dot(run: Run) -> None:
    _, out, _ = run("model.py:mlp", *INPUTS, "--emit", "dot", "--pass", "fuse")
    assert out.startswith("// before fuse\ndigraph ")


def test_what_a_module_prints_is_not_in_the_dump(run: Run) -> None:
    status, out, err = run("talks.py:f", "--input", "x=f32[3]")
    assert (status, err) == (0, "talk\n")
    assert out.startswith("graph f(")


def test_to_a_file(run: Run, tmp_path: Path) -> None:
    _, expected, _ = run("model.py:mlp", *INPUTS)
    status, out, _ = run("model.py:mlp", *INPUTS, "-o", "out.tg")
    assert (status, out) == (0, "")
    assert (tmp_path / "out.tg").read_text() == expected


# -- what it refuses ------------------------------------------------------------

MISTAKES = [
    (
        ("model.py",),
        "'model.py' is neither file.py:function nor package.module:function",
    ),
    ((":f",), "':f' is neither"),
    (("model.py:",), "'model.py:' is neither"),
    (("nothing.py:f",), "the file nothing.py does not exist"),
    ((".model:f",), "'.model:f' is neither"),
    (("./:f",), "the file ./ is a folder, not a file"),
    (("./notes.txt:f",), "the file ./notes.txt is not a Python file (.py)"),
    (("not_here.at_all:f",), "there is no module not_here.at_all here or among"),
    (("model.py:mlpp",), "model.py has no 'mlpp'; did you mean 'mlp'?"),
    (("model.py:layer.nope",), "model.py has no 'nope'"),
    (("model.py:NOT_A_FUNCTION",), "model.py:NOT_A_FUNCTION is int, not a function"),
    (("model.py:Layer",), "model.py:Layer is a class; name a function or an instance"),
    (("broken.py:f",), "importing broken.py failed: SyntaxError: "),
    (("broken.py:f",), "(broken.py:2)"),
    (
        ("raises.py:f",),
        "importing raises.py failed: ZeroDivisionError: division by zero",
    ),
    (("raises.py:f",), "(raises.py:2)"),
    (("raises:f",), "importing raises failed: ZeroDivisionError"),
    (
        ("needs.py:f",),
        "importing needs.py failed: ModuleNotFoundError: No module named",
    ),
    (("needs:f",), "importing needs failed: ModuleNotFoundError: No module named"),
    (("exits.py:f",), "importing exits.py failed: SystemExit: 0 (exits.py:2)"),
    (
        ("model.py:mlp", "--input", "x=f32[3,4]"),
        "do not fit mlp(x, w, scale=1.0): missing",
    ),
    (("model.py:mlp", "--input", "y=f32[3]"), "it has no parameter 'y'"),
    (("model.py:mlp", *INPUTS, "--input", "x=f32[3]"), "the input 'x' is given twice"),
    (
        ("model.py:mlp", *INPUTS, "--input", "f32[3]"),
        "'x' is given by position and by name",
    ),
    (
        ("model.py:traced", "--input", "1", "--input", "2"),
        "too many positional arguments",
    ),
    (("model.py:traced", "--input", "x=f99[3]"), "there is no dtype 'f99'; there are "),
    (("model.py:traced", "--input", "x=f32[a]"), "sizes are numbers from 0 up"),
    (("model.py:traced", "--input", "x=f32[3,-1]"), "sizes are numbers from 0 up"),
    (("model.py:traced", "--input", "x=f32[3"), "is not an input: an input is written"),
    (("model.py:traced", "--input", "x=f32[3]<4"), "<N bounds integers from above"),
    (("model.py:traced", "--input", "x=i64[3]<0"), "<N bounds integers from above"),
    (("model.py:traced", "--input", "x=i64[3] grad"), "gradients are for floating and"),
    (("model.py:traced", "--input", "x=import os"), "is not an input"),
    (("model.py:mlp", "--inputs", "model.py:nope"), "model.py has no 'nope'"),
    (
        ("model.py:mlp", "--inputs", "model.py:wrong_inputs"),
        "returned str; it must return",
    ),
    (("model.py:mlp", "--inputs", "model.py:NOT_A_FUNCTION"), "is int, not a function"),
    (
        ("model.py:mlp", "--inputs", "model.py:fails"),
        "model.py:fails() failed: TypeError",
    ),
    (("model.py:mlp", "--inputs", "model.py:one_input"), "missing a required argument"),
    (
        ("model.py:mlp", *INPUTS, "--inputs", "model.py:one_input"),
        "both state the inputs",
    ),
    (
        ("model.py:mlp", *INPUTS, "--pass", "nope"),
        "there is no pass 'nope'; the passes are ",
    ),
    (("model.py:mlp", *INPUTS, "--pass", "vjp"), "the pass vjp has nothing to do"),
    (("model.py:mlp", *INPUTS, "--pass", "cse", "--all-passes"), "give one"),
    (
        ("model.py:mlp", *INPUTS, "--emit", "source", "--pass", "cse"),
        "after all passes",
    ),
    (("model.py:mlp", *INPUTS, "-o", "no/such/folder"), "can't write no/such/folder: "),
    (("model.py:mismatch", "--input", "x=f32[3,4]"), "ShapeError: matmul: "),
    (("model.py:mismatch", "--input", "x=f32[3,4]"), "(model.py:35)"),
    (("model.py:fails", "--input", "x=f32[3]"), "ValueError: on purpose (model.py:39)"),
    (("model.py:leaves", "--input", "x=f32[3]"), "SystemExit: 3 (model.py:43)"),
    (("model.py:prints", "--input", "x=f32[3]"), "can't be captured: "),
    (("model.py:prints", "--input", "x=f32[3]"), "model.py:47"),
    (("model.py:sourceless", "--input", "x=f32[3]"), "sourceless has no source"),
]


@pytest.mark.parametrize(("arguments", "said"), MISTAKES)
def test_mistake_is_a_sentence(run: Run, arguments: tuple[str, ...], said: str) -> None:
    status, out, err = run(*arguments)
    assert status == 2
    assert out == ""
    assert said in err
    assert err.removeprefix("hi\n").startswith("tracegrad: ")
    assert "Traceback" not in err


# -- as a process ---------------------------------------------------------------


def _process(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tracegrad", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": str(Path(tg.__file__).parents[1]), "PATH": "/usr/bin:/bin"},
    )


def test_as_a_process(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    good = _process("dump-ir", "model.py:mlp", *INPUTS, folder=tmp_path)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("graph mlp(")
    bad = _process("dump-ir", "model.py:nope", folder=tmp_path)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("tracegrad: model.py has no 'nope'")


def test_version_and_usage(tmp_path: Path) -> None:
    assert (
        _process("--version", folder=tmp_path).stdout == f"tracegrad {tg.__version__}\n"
    )
    assert _process(folder=tmp_path).returncode == 2


LAYER = """\
from tracegrad import nn

model = nn.Linear(8, 2)
stack = nn.Sequential(nn.Linear(8, 4), nn.ReLU())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)

    def forward(self, image):
        return self.layer(image)


net = Net()
"""


@pytest.mark.parametrize(
    ("name", "parameter", "place"),
    [
        ("model", "input", "linear.py"),
        ("stack", "input", "container.py"),
        ("net", "image", "layers_of_mine.py:13"),
    ],
)
def test_a_module_has_its_parameters_names_and_a_place(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    parameter: str,
    place: str,
) -> None:
    file = tmp_path / "layers_of_mine.py"
    file.write_text(LAYER)
    given = ["--input", f"{parameter}=f32[4,8]"]
    assert main(["dump-ir", f"{file}:{name}", *given]) == 0
    out = capsys.readouterr().out
    assert f"%{parameter}: f32[4, 8]" in out
    assert f"# {place}" in out


def test_too_large_an_input_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "layers_of_mine.py"
    file.write_text(LAYER)
    assert main(["dump-ir", f"{file}:model", "--input", "input=f32[999999999999]"]) == 2
    assert capsys.readouterr().err.startswith("tracegrad: there is not enough memory")
