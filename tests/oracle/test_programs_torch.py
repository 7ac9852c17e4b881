"""Programs in the style of public ones print the same losses under both libraries."""

import subprocess
import sys
import warnings

import pytest

from tests.support import programs, readme

torch = pytest.importorskip("torch")

STEPS = 50
FIRST_STEPS = 3
# The first steps show the seeds and the operators; later ones what rounding adds up to.
AT_FIRST, ALWAYS = 1e-6, 1e-4
EINOPS = {"vit_einops"}
SLOW = {"char_gpt", "vit", "unet", "resnet", "transformer_encoder", "dcgan"}


def _marked(name):
    return pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def losses(manager, name):
    with manager(name) as train, warnings.catch_warnings():
        # PyTorch warns of its own deprecations.
        warnings.simplefilter("ignore")
        return list(train(STEPS))


def disagreement(ours, theirs):
    """The largest relative difference among the first steps, and among all."""
    pairs = zip(ours, theirs, strict=True)
    relative = [abs(a - b) / max(abs(b), 1e-12) for a, b in pairs]
    return max(relative[:FIRST_STEPS]), max(relative)


@pytest.mark.parametrize("name", [_marked(name) for name in programs.NAMES])
def test_losses_are_pytorchs(name):
    if name in EINOPS:
        pytest.importorskip("einops")
    theirs = losses(programs.under_pytorch, name)
    ours = losses(programs.under_tracegrad, name)
    at_first, always = disagreement(ours, theirs)
    assert len(ours) == STEPS
    assert at_first < AT_FIRST
    assert always < ALWAYS


def test_a_disagreement_is_seen():
    exact = [1.0] * STEPS
    assert disagreement([1.0, 1.0 + 2e-6, *exact[2:]], exact)[0] > AT_FIRST
    assert disagreement([*exact[:-1], 1.001], exact)[1] > ALWAYS


def test_there_are_as_many_as_promised():
    assert len(programs.NAMES) >= 25


def test_readmes_script_prints_what_readme_says(tmp_path):
    path = tmp_path / "moons.py"
    path.write_text(readme.script())
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == readme.printed()
