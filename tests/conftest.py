"""What holds for every test: one printed seed, and markers that follow from folders."""

import os
from pathlib import Path

import hypothesis
import pytest

pytest_plugins = ["tests.support.cuda_on_cpu.plugin"]

# Times differ tenfold between a busy machine and an idle one: no deadlines.
hypothesis.settings.register_profile("tracegrad", deadline=None)
hypothesis.settings.load_profile("tracegrad")

SEED = int(os.environ.get("TRACEGRAD_TEST_SEED", "0"))
ORACLE_TESTS = Path(__file__).parent / "oracle"


def pytest_report_header() -> str:
    """Say how to repeat this run."""
    return f"tracegrad: TRACEGRAD_TEST_SEED={SEED}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what compares with PyTorch, so that `-m oracle` selects it."""
    for item in items:
        if item.path.is_relative_to(ORACLE_TESTS):
            item.add_marker("oracle")


@pytest.fixture
def seed() -> int:
    """Seed of the tests that sample: 0 by default, another one each day in CI."""
    return SEED
