"""The pytest plugin: says that no GPU ran, and installs the stand-in for CuPy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cuda_on_cpu.build import why_not
from tests.support.cuda_on_cpu.fake_cupy import Installed, install
from tracegrad.capture import trust
from tracegrad.device import unregister_backend

_HERE = str(Path(__file__).resolve().parent)


def pytest_report_header() -> str:
    """One line of the report's head."""
    return why_not() or "no GPU ran: CUDA kernels were executed on the CPU"


@pytest.fixture(scope="session")
def cuda_on_cpu() -> None:
    """Skip, with the reason, where kernels cannot run on the CPU."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture
def fake_cupy(
    cuda_on_cpu: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Installed]:
    """Let ``import cupy`` give the stand-in during one test.

    A recording takes it for what it stands for: an installed package.
    """
    monkeypatch.setattr(trust, "_INSTALLED", (*trust._INSTALLED, _HERE))
    unregister_backend("cuda")
    with install() as installed:
        yield installed
    unregister_backend("cuda")
