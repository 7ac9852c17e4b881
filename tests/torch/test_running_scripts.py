"""`python -m tracegrad.torch` runs a script as Python would, with our `torch`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tracegrad
from tests.support import readme

# Tests may run on a package that is found by a path and not installed.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(tracegrad.__file__).parents[1])}


def run(*arguments, cwd):
    command = [sys.executable, "-m", "tracegrad.torch", *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "beside.py").write_text("VALUE = 5\n")
    (folder / "script.py").write_text(
        "import sys\n"
        "import torch\n"
        "import torch.nn.functional as F\n"
        "from torch.optim.lr_scheduler import StepLR\n"
        "from beside import VALUE\n"
        "if __name__ == '__main__':\n"
        "    print(torch.__name__, F.relu(torch.tensor([-1.0, 2.0])).tolist())\n"
        "    print(sys.argv[1:], VALUE, __file__.endswith('script.py'))\n"
    )
    (folder / "fails.py").write_text(
        "import torch\n\ndef f():\n    return torch.ones(2) @ torch.ones(3)\n\nf()\n"
    )
    (folder / "leaves.py").write_text("raise SystemExit(3)\n")
    return folder


def test_a_script_gets_its_arguments_and_its_folder(folder):
    done = run("script.py", "--lr", "0.1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "tracegrad.torch [0.0, 2.0]",
        "['--lr', '0.1'] 5 True",
    ]


def test_a_module(folder):
    done = run("-m", "script", "x", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "['x'] 5 True" in done.stdout


def test_an_exception_shows_the_users_frames_first(folder):
    done = run("fails.py", cwd=folder)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Traceback")
    assert "fails.py" in lines[1]
    assert "runpy" not in done.stderr


def test_an_exit_status_is_passed_on(folder):
    assert run("leaves.py", cwd=folder).returncode == 3


def test_wrong_use_is_a_sentence(folder):
    done = run(cwd=folder)
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_readmes_script_prints_what_readme_says(tmp_path):
    (tmp_path / "moons.py").write_text(readme.script())
    done = run("moons.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == readme.printed()
