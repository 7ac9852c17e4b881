"""The compile gate passes the good kernels, and stops what it is there to stop."""

import pytest

from tests.cuda.kernels import COLUMN_SUM, FUSED, ROW_LOGSUMEXP
from tests.support.cuda_on_cpu import nvcc
from tests.support.cuda_on_cpu.errors import CompileError
from tests.support.cuda_on_cpu.nvcc import CompileCheck, KernelUse, compile_check
from tracegrad.random_streams import philox

SPILLING = """
extern "C" __global__ void __launch_bounds__(1024) spilling(const float* x, float* out,
                                                           int n) {
    float a[96];
    #pragma unroll
    for (int i = 0; i < 96; i++) a[i] = x[threadIdx.x + i * 1024];
    for (int r = 0; r < n; r++) {
        #pragma unroll
        for (int i = 0; i < 96; i++) a[i] = a[i] * a[(i * 37 + 11) % 96] + 1.0f;
    }
    float sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < 96; i++) sum += a[i];
    out[threadIdx.x] = sum;
}
"""


def check(source: str) -> CompileCheck:
    """Compile, or skip where no compiler of NVIDIA's is here."""
    found = compile_check(source)
    if not found.ran:
        pytest.skip("; ".join(found.not_run))
    return found


@pytest.mark.parametrize("source", [FUSED, ROW_LOGSUMEXP, COLUMN_SUM])
def test_good_kernels_pass(source: str) -> None:
    found = check(source)
    assert {arch for _, arch, _ in found.uses} == {"sm_80", "sm_90"}
    for use in found.uses.values():
        assert 8 <= use.registers <= 64
        assert use.spilled_bytes == 0
        assert use.fits(1024)


def test_the_kernel_of_the_random_streams_passes() -> None:
    for use in check(philox._KERNEL).uses.values():
        assert use.spilled_bytes == 0


def test_static_shared_memory_is_reported() -> None:
    for use in check(ROW_LOGSUMEXP).uses.values():
        # Since CUDA 13 sm_90 reserves a further kilobyte.
        assert use.shared_bytes % 1024 == 128


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            FUSED.replace("const float shifted", "const float unused = 0.0f, shifted"),
            "unused",
        ),
        (FUSED.replace("tanhf(shifted)", "tanhf(shifty)"), "shifty"),
        (SPILLING, "spill"),
    ],
    ids=["unused variable", "unknown name", "spill"],
)
def test_planted_faults_are_stopped(source: str, problem: str) -> None:
    check(FUSED)
    with pytest.raises(CompileError, match=problem):
        compile_check(source)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (FUSED.replace("tanhf(shifted)", "tanhf(INFINITY)"), "INFINITY"),
        ("#include <math.h>\n" + FUSED, r"math\.h"),
        (SPILLING, "spilling spills registers"),
    ],
    ids=["INFINITY", "C header", "spill"],
)
def test_planted_faults_are_stopped_by_nvrtc(source: str, problem: str) -> None:
    missing = nvcc.missing_compilers().get("nvrtc")
    if missing:
        pytest.skip(missing)
    with pytest.raises(CompileError, match=problem):
        compile_check(source, compilers=("nvrtc",))


def test_a_missing_compiler_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = {"nvcc": "NOT RUN with nvcc: a", "nvrtc": "NOT RUN with NVRTC: b"}
    monkeypatch.setattr(nvcc, "missing_compilers", lambda: reasons)
    found = compile_check(FUSED + "\n")
    assert not found.ran
    assert found.not_run == ("NOT RUN with nvcc: a", "NOT RUN with NVRTC: b")


def test_registers_limit_the_block() -> None:
    assert KernelUse(registers=64, spilled_bytes=0, shared_bytes=0).fits(1024)
    assert not KernelUse(registers=65, spilled_bytes=0, shared_bytes=0).fits(1024)
