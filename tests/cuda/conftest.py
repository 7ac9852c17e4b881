"""What the tests of CUDA kernels share."""

import numpy as np
import pytest

from tests.cuda.kernels import Array
from tests.support.cuda_on_cpu.memory import guarded_copy


@pytest.fixture(scope="session")
def x() -> Array:
    """Input of the good kernels, shape (12, 300)."""
    sample = np.random.default_rng(0).standard_normal((12, 300))
    return guarded_copy(sample.astype(np.float32))
