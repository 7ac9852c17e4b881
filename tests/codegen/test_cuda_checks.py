"""A wrong template is found: the tests of the target are themselves tested."""

import contextlib
from collections.abc import Iterator

import jinja2
import numpy as np
import pytest

from tests.cuda import functions
from tests.cuda.emitted import check, fused_graph
from tests.support.cuda_on_cpu.errors import LaunchError
from tests.support.cuda_on_cpu.fake_cupy import Installed
from tracegrad.codegen import environment

SEEDS = (0, 1, 2, 3)


@contextlib.contextmanager
def planted(template: str, good: str, bad: str) -> Iterator[None]:
    """Emit from a template with a fault in it."""
    loader = environment.ENVIRONMENT.loader
    assert loader is not None
    text, _, _ = loader.get_source(environment.ENVIRONMENT, template)
    assert text.count(good) == 1
    wrong = jinja2.DictLoader({template: text.replace(good, bad)})
    environment.ENVIRONMENT.loader = jinja2.ChoiceLoader([wrong, loader])
    environment.ENVIRONMENT.cache.clear()  # type: ignore[union-attr]
    try:
        yield
    finally:
        environment.ENVIRONMENT.loader = loader
        environment.ENVIRONMENT.cache.clear()  # type: ignore[union-attr]


FAULTS = {
    "one element too many": (
        "cuda/pointwise.cu.j2",
        "i < {{ size }}",
        "i <= {{ size }}",
        (functions.chain, (40, 40)),
    ),
    "a barrier is missing": (
        "cuda/team.cu.j2",
        "    if (lane == 0) partial[threadIdx.x / 32] = a;\n    __syncthreads();\n",
        "    if (lane == 0) partial[threadIdx.x / 32] = a;\n",
        (functions.softmax_rows, (3, 700)),
    ),
    "a lane is left out": (
        "cuda/team.cu.j2",
        "offset = 16",
        "offset = 8",
        (functions.softmax_rows, (3, 40)),
    ),
    "the last columns are not there": (
        "cuda/column_reduction.cu.j2",
        "active ? own : {{ kept }} - 1",
        "own",
        (functions.batch_norm, (50, 40)),
    ),
    "a chunk too long": (
        "cuda/row_reduction.cu.j2",
        "begin + {{ chunk }} < {{ reduced }} ? begin + {{ chunk }} : {{ reduced }}",
        "begin + {{ chunk }} + 1",
        (functions.full_sum, (90, 100)),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(fake_cupy: Installed, name: str) -> None:
    template, good, bad, (function, shape) = FAULTS[name]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    count = function.__code__.co_argcount
    inputs = [x, x[0].copy()][:count]
    graph = fused_graph(function, inputs)
    check(fake_cupy, graph, inputs, SEEDS)
    with planted(template, good, bad), pytest.raises((AssertionError, LaunchError)):
        check(fake_cupy, graph, inputs, SEEDS)
