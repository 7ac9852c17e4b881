"""The pytest plugin: says that no GPU ran, and installs the stand-in for CuPy."""

from collections.abc import Iterator

import pytest

from tests.support.cuda_on_cpu.build import why_not
from tests.support.cuda_on_cpu.fake_cupy import Installed, install


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
def fake_cupy(cuda_on_cpu: None) -> Iterator[Installed]:
    """Let ``import cupy`` give the stand-in during one test."""
    with install() as installed:
        yield installed
