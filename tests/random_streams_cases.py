"""The draws whose values are recorded from PyTorch: ours, by name.

PyTorch's side of the same names is in `tests/oracle/test_random_streams_torch.py`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracegrad import random_streams as streams
from tracegrad.random_streams import MT19937

GOLDEN = Path(__file__).parent / "data" / "random_streams_torch_2_13_0.json"
SEED = 20
SIZES = (0, 1, 2, 7, 8, 15, 16, 17, 31, 100)

Draw = Callable[[MT19937, int, str], NDArray[Any]]


def probabilities(size: int, dtype: str) -> NDArray[Any]:
    return (np.arange(size) / max(size - 1, 1)).astype(dtype)


FLOAT_DRAWS: dict[str, Draw] = {
    "rand": lambda engine, n, dtype: streams.uniform(engine, n, dtype),
    "uniform_": lambda engine, n, dtype: streams.uniform(engine, n, dtype, -0.31, 1.77),
    "randn": lambda engine, n, dtype: streams.normal(engine, n, dtype),
    "normal_": lambda engine, n, dtype: streams.normal(engine, n, dtype, 0.31, 1.77),
    "normal_strided": lambda engine, n, dtype: streams.normal(
        engine, n, dtype, 0.31, 1.77, contiguous=False
    ),
    "exponential_": lambda engine, n, dtype: streams.exponential(engine, n, dtype, 0.7),
    "bernoulli_scalar": lambda engine, n, dtype: streams.bernoulli(
        engine, n, 0.3, dtype
    ),
    "bernoulli_tensor": lambda engine, n, dtype: streams.bernoulli_each(
        engine, probabilities(n, dtype)
    ),
    "dropout_mask": lambda engine, n, dtype: streams.dropout_mask(engine, n, 0.3),
}

INTEGER_DRAWS: dict[str, Draw] = {
    "randint_short": lambda engine, n, dtype: streams.randint(engine, n, 3, 10, dtype),
    "randint_below_2_28": lambda engine, n, dtype: streams.randint(
        engine, n, 0, 2**28 - 1, dtype
    ),
    "randint_2_28": lambda engine, n, dtype: streams.randint(
        engine, n, -64, 2**28, dtype
    ),
    "random_": lambda engine, n, dtype: streams.random_integers(engine, n, dtype),
    "random_from": lambda engine, n, dtype: streams.randint(engine, n, -7, None, dtype),
    "randperm": lambda engine, n, dtype: streams.randperm(engine, n, dtype),
}

LONG_DRAWS: dict[str, Draw] = {
    "randint_2_45": lambda engine, n, dtype: streams.randint(
        engine, n, -(2**40), 2**45, dtype
    ),
    "random_64_bits": lambda engine, n, dtype: streams.randint(
        engine, n, -(2**63), None, dtype
    ),
}

DRAWS = FLOAT_DRAWS | INTEGER_DRAWS | LONG_DRAWS


def cases() -> Iterator[tuple[str, str, int]]:
    """Yield the name, the dtype and the size of every recorded draw."""
    for names, dtypes in (
        (FLOAT_DRAWS, ("float16", "float32", "float64")),
        (INTEGER_DRAWS, ("int32", "int64", "float32", "float64")),
        (LONG_DRAWS, ("int64", "float32", "float64")),
    ):
        for name in names:
            for dtype in dtypes:
                for size in SIZES:
                    yield name, dtype, size
    # Long enough for every branch of the float32 logarithm and sine.
    yield "randn", "float32", 20_003


def record(values: NDArray[Any], torch_state: NDArray[np.uint8]) -> list[Any]:
    """Return what the golden file keeps: three values, and checksums."""
    return [
        values[:3].tolist(),
        zlib.crc32(values.tobytes()),
        zlib.crc32(torch_state.tobytes()),
    ]


def golden() -> dict[str, list[Any]]:
    content: dict[str, list[Any]] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return content
