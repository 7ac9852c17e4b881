"""Emitted kernels pass NVIDIA's compilers for sm_80 and sm_90, without a warning."""

from typing import Any

import numpy as np
import pytest

from tests.codegen import registry
from tests.codegen.golden import CASES, text_of
from tests.cuda import functions
from tests.cuda.emitted import backward_graph, cuda_text, emitted, fused_graph
from tests.cuda.test_target_pointwise import by_dtype
from tests.cuda.test_target_reductions import every_reduction
from tests.support.cuda_on_cpu.errors import CompileError
from tests.support.cuda_on_cpu.nvcc import KernelUse, compile_check
from tracegrad.dtypes import DType, complex64, float32, int8

QUICK = (int8, float32, complex64)


def uses(source: str) -> dict[tuple[str, str, str], KernelUse]:
    """What the compilers found; skips, with the reason, where there is none."""
    found = compile_check(source)
    if not found.ran:
        pytest.skip("; ".join(found.not_run))
    assert {arch for _, arch, _ in found.uses} == {"sm_80", "sm_90"}
    return dict(found.uses)


def fits_its_block(source: str) -> None:
    for use in uses(source).values():
        assert use.fits(256)


@pytest.mark.parametrize("dtype", by_dtype(QUICK))
def test_every_operator(dtype: DType) -> None:
    rng = np.random.default_rng(0)
    graph = registry.kernel_graph(list(registry.applications(dtype, rng)))
    fits_its_block(cuda_text(emitted(graph)))


@pytest.mark.parametrize("dtype", by_dtype((float32,)))
def test_every_reduction(dtype: DType) -> None:
    graph, _ = every_reduction(dtype, np.random.default_rng(0))
    fits_its_block(cuda_text(emitted(graph)))


@pytest.mark.parametrize("name", CASES)
def test_golden_kernels(name: str) -> None:
    fits_its_block(text_of(name))


def test_backward_kernels() -> None:
    x, weight = np.zeros((6, 33), np.float32), np.zeros(33, np.float32)
    fits_its_block(cuda_text(emitted(backward_graph(functions.softmax_rows, [x]))))
    given = [x, weight, weight]
    fits_its_block(cuda_text(emitted(backward_graph(functions.layer_norm, given))))


def test_indices_beyond_int() -> None:
    huge = np.lib.stride_tricks.as_strided(
        np.zeros(1, np.float32), (1 << 16, 1 << 16), (0, 0)
    )

    def spread(x: Any) -> Any:
        return x * 2

    text = cuda_text(emitted(fused_graph(spread, [huge])))
    assert "long long i" in text
    fits_its_block(text)


def test_the_gate_sees_a_wrong_kernel() -> None:
    text = text_of("softmax")
    if not compile_check(text).ran:
        pytest.skip("no compiler of NVIDIA's is here")
    with pytest.raises(CompileError):
        compile_check(text.replace("expf(", "expp("))
