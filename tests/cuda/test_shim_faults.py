"""The faults that executing CUDA kernels on the CPU must find, each planted here."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cuda.kernels import (
    COLUMN_SUM,
    FUSED,
    ROW_LOGSUMEXP,
    Array,
    logsumexp,
    plant,
    run_column_sum,
    run_fused,
    run_logsumexp,
)
from tests.support.cuda_on_cpu.build import build, find_compiler, why_not
from tests.support.cuda_on_cpu.errors import CompileError, LaunchError, SourceError
from tests.support.cuda_on_cpu.memory import allocate
from tests.support.cuda_on_cpu.source import line_of

pytestmark = pytest.mark.usefixtures("cuda_on_cpu")

SEEDS = range(4)


# ---- planted faults: what C leaves undefined ----


@pytest.mark.parametrize(
    "statement",
    [
        "out[0] = start + 2147483647;",
        "out[0] = 1 << (start + 40);",
        "out[0] = (int)*(const long long*)(out + start);",
    ],
    ids=["overflow", "shift", "alignment"],
)
def test_undefined_behaviour(statement: str) -> None:
    source = (
        'extern "C" __global__ void kernel(int* out, int start) {\n'
        f"    {statement}\n"
        "}\n"
    )
    kernel = build(source)["kernel"]
    out = allocate(8, np.int32)
    out[:] = 0
    with pytest.raises(LaunchError, match=r"undefined behaviour .*thread 0,0,0"):
        kernel((1,), (1,), (out, np.int32(1)))


# ---- planted faults: numbers ----


def worst_error(found: Sequence[Array], expected: Array) -> float:
    """Largest error of several runs; NaN counts as infinite."""
    return float(np.nan_to_num(abs(np.stack(found) - expected), nan=np.inf).max())


@pytest.mark.parametrize("which", ["first", "second", "third"])
def test_a_missing_barrier_gives_wrong_numbers_in_some_order(
    x: Array, which: str
) -> None:
    source = plant(ROW_LOGSUMEXP, f"__syncthreads();  // {which}", "")
    found = [run_logsumexp(x, source, seed) for seed in range(8)]
    assert worst_error(found, logsumexp(x)) > 1e-2


def test_a_dynamic_tile_read_without_a_barrier(x: Array) -> None:
    source = plant(COLUMN_SUM, "__syncthreads();", "__syncwarp();")
    found = [run_column_sum(x, source, seed) for seed in SEEDS]
    assert worst_error(found, x.sum(0)) > 1e-2


def test_shared_memory_read_before_it_is_written_is_nan(x: Array) -> None:
    source = plant(
        ROW_LOGSUMEXP, "lane < warps ? partial[lane] : 0.0f", "partial[lane]"
    )
    assert np.isnan(run_logsumexp(x, source)).all()


def test_an_element_that_is_never_written_is_nan(x: Array) -> None:
    found = run_fused(x, n=x.size - 1)
    assert np.isnan(found.flat[-1])
    assert not np.isnan(found.flat[:-1]).any()


def test_a_lane_outside_the_mask_sends_nan() -> None:
    source = """
    extern "C" __global__ void outside(float* out) {
        if (threadIdx.x < 8) out[threadIdx.x] = __shfl_down_sync(0xffu, 1.0f, 4);
    }
    """
    out = allocate(8, np.float32)
    build(source)["outside"]((1,), (32,), (out,))
    assert out[:4].tolist() == [1.0] * 4
    assert np.isnan(out[4:]).all()


# ---- planted faults: threads that never meet ----


def test_a_barrier_in_a_divergent_branch(x: Array) -> None:
    source = plant(
        ROW_LOGSUMEXP,
        "if (lane == 0) partial[warp] = largest;\n    __syncthreads();  // first",
        "if (lane == 0) { partial[warp] = largest;\n    __syncthreads(); }",
    )
    barrier = line_of(source, source.index("__syncthreads(); }"))
    message = rf"deadlock.* 4 at __syncthreads, line {barrier} \(thread 0,0,0\)"
    with pytest.raises(LaunchError, match=message):
        run_logsumexp(x, source)


def test_a_shuffle_by_half_a_warp_with_a_full_mask(x: Array) -> None:
    source = plant(
        ROW_LOGSUMEXP,
        "total = warp_sum(total);",
        "if (lane < 16) total = warp_sum(total);",
    )
    shuffle = line_of(source, source.index("__shfl_down_sync"))
    message = rf"deadlock.*64 at __shfl_down_sync, line {shuffle} .*64 at __syncthreads"
    with pytest.raises(LaunchError, match=message):
        run_logsumexp(x, source)


def test_an_early_return_before_a_barrier(x: Array) -> None:
    source = plant(
        COLUMN_SUM, "float sum = 0.0f;", "float sum = 0.0f; if (c >= columns) return;"
    )
    message = "barrier not reached by all threads: of 256 threads 160 have exited"
    with pytest.raises(LaunchError, match=message):
        run_column_sum(x, source)


def test_threads_that_meet_at_different_barriers() -> None:
    source = """
    extern "C" __global__ void two(int* out) {
        if (threadIdx.x < 32) __syncthreads();
        else
            __syncthreads();
        out[threadIdx.x] = 1;
    }
    """
    with pytest.raises(LaunchError, match=r"different barriers.*line 3 .*line 5 "):
        build(source)["two"]((1,), (64,), (np.zeros(64, np.int32),))


def test_lanes_that_meet_at_different_calls() -> None:
    source = """
    extern "C" __global__ void two(int* out) {
        int v = threadIdx.x;
        if (v < 16) v = __shfl_xor_sync(0xffffffffu, v, 1);
        else v = __shfl_xor_sync(0xffffffffu, v, 2) + __ballot_sync(0xffff0000u, 1);
        out[threadIdx.x] = v;
    }
    """
    with pytest.raises(LaunchError, match=r"met at different calls.*line 4 .*line 5 "):
        build(source)["two"]((1,), (32,), (np.zeros(32, np.int32),))


def test_a_caller_that_is_not_in_its_own_mask() -> None:
    source = """
    extern "C" __global__ void odd(int* out) { out[0] = __any_sync(0xfffffffe, 1); }
    """
    with pytest.raises(LaunchError, match=r"not in the mask 0xfffffffe .*thread 0,0,0"):
        build(source)["odd"]((1,), (32,), (np.zeros(1, np.int32),))


# ---- planted faults: memory ----


def test_one_element_too_many(x: Array) -> None:
    source = plant(FUSED, "i < n;", "i <= n;")
    message = (
        r"fused: illegal memory access \(block 1,0,0 thread 16,0,0\): "
        r"0 bytes past the end of argument 0, line 9"
    )
    with pytest.raises(LaunchError, match=message):
        run_fused(x, source)


def test_a_missing_column_guard(x: Array) -> None:
    source = plant(COLUMN_SUM, "threadIdx.y == 0 && c < columns", "threadIdx.y == 0")
    with pytest.raises(LaunchError, match=r"block 9,\d,0 thread \d+,0,0\).*argument 1"):
        run_column_sum(x, source)


def test_an_access_before_the_first_element() -> None:
    source = """
    extern "C" __global__ void before(const float* x, float* out) {
        out[-1 - (int)threadIdx.x] = 0.0f;
    }
    """
    out = allocate(1000, np.float32)
    with pytest.raises(LaunchError, match="argument 0 was written 32 bytes before it"):
        build(source)["before"]((1,), (8,), (out, out))
    build(FUSED)["fused"]((1,), (1,), (out, out, out, 1000, 1000))


def test_a_write_that_misses_the_guard_page_by_alignment() -> None:
    source = """
    extern "C" __global__ void third(float* out) { out[3] = 1.0f; }
    """
    out = allocate(3, np.float32)
    with pytest.raises(
        LaunchError, match="argument 0 was written 0 bytes past its end"
    ):
        build(source)["third"]((1,), (1,), (out,))


@pytest.mark.parametrize(("size", "problem"), [(4, "illegal"), (2, "past its end")])
def test_a_static_shared_array_that_is_too_small(size: int, problem: str) -> None:
    source = f"""
    extern "C" __global__ void small(float* out) {{
        __shared__ float tile[{size}];
        tile[threadIdx.x] = 1.0f;
        __syncthreads();
        out[0] = tile[0];
    }}
    """
    with pytest.raises(LaunchError, match=problem):
        build(source)["small"]((1,), (size + 1,), (allocate(1, np.float32),))


def test_a_dynamic_shared_array_that_is_too_small(x: Array) -> None:
    with pytest.raises(
        LaunchError, match=r"illegal memory access \(block 0,0,0 thread"
    ):
        run_column_sum(x, shared=512)


@pytest.mark.parametrize(("extent", "dynamic"), [(48 * 256 + 1, 0), (48 * 256, 16)])
def test_more_than_48_kib_of_shared_memory(extent: int, dynamic: int) -> None:
    source = f"""
    extern "C" __global__ void big(float* out) {{
        __shared__ float tile[{extent}];
        tile[0] = 1.0f;
        out[0] = tile[0];
    }}
    """
    with pytest.raises(
        LaunchError, match=r"shared memory in a block, the limit is 49152"
    ):
        build(source)["big"]((1,), (1,), (np.zeros(1, np.float32),), shared_mem=dynamic)


def test_other_traps_of_the_processor() -> None:
    source = """
    __device__ int deep(int n) { volatile int page[1024]; page[0] = n;
                                 return n > 0 ? deep(n - 1) + page[0] : 0; }
    extern "C" __global__ void traps(int* out, int which) {
        __syncthreads();
        if (which == 0) out[0] = 7 / out[0];
        if (which == 1) __trap();
        if (which == 2) out[0] = deep(1000000);
    }
    """
    kernel = build(source)["traps"]
    problems = ["integer division by zero", r"__trap\(\) was called", "stack overflow"]
    for which, problem in enumerate(problems):
        with pytest.raises(LaunchError, match=problem + r" \(block 0,0,0 thread 0,0,0"):
            kernel((1,), (2,), (np.zeros(1, np.int32), np.int32(which)))


# ---- planted faults: the launch ----


def arguments(**changed: Any) -> tuple[Any, ...]:
    """Right arguments of COLUMN_SUM, but for some."""
    good = {
        "x": np.zeros((2, 3), np.float32),
        "out": np.zeros(3, np.float32),
        "rows": np.int32(2),
        "columns": np.int32(3),
    }
    return tuple((good | changed).values())


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (arguments(rows=2), "argument 2: the parameter is a 32-bit signed integer"),
        (
            arguments(rows=np.int64(2)),
            r"launch passes a 64-bit signed integer \(i8",
        ),
        (arguments(rows=np.float32(2)), r"passes a 32-bit floating-point number \(f4"),
        (arguments(x=np.zeros((2, 3))), r"argument 0: .* a pointer to a 64-bit float"),
        (
            arguments(out=np.zeros(3, np.int32)),
            r"argument 1: .*pointer to a 32-bit signed",
        ),
        (arguments(out=np.float32(1)), r"argument 1: the parameter is a pointer"),
        (arguments(columns=None), "argument 3: .* the launch passes a null pointer"),
        (arguments(columns="3"), "Unsupported type <class 'str'>"),
        (
            arguments()[:-1],
            "the kernel has 4 parameters, the launch passes 3 arguments",
        ),
        (
            arguments(extra=1),
            "the kernel has 4 parameters, the launch passes 5 arguments",
        ),
    ],
)
def test_arguments_that_do_not_fit(args: tuple[Any, ...], problem: str) -> None:
    with pytest.raises(LaunchError, match=problem):
        build(COLUMN_SUM)["column_sum"]((1,), (32, 8), args, shared_mem=1024)


@pytest.mark.parametrize(
    ("grid", "block", "shared", "problem"),
    [
        ((1,), (2048,), 0, r"block \(2048,\): 2048 is not in 1..1024"),
        ((1,), (64, 32), 0, r"block \(64, 32\) has 2048 threads, the limit is 1024"),
        ((1,), (1, 1, 65), 0, r"65 is not in 1..64"),
        ((1, 65536), (1,), 0, r"grid \(1, 65536\): 65536 is not in 1..65535"),
        ((1, 1, 65536), (1,), 0, "65536 is not in 1..65535"),
        ((0,), (1,), 0, r"grid \(0,\): 0 is not in"),
        ((1, 1, 1, 1), (1,), 0, "grid must be a tuple of 1 to 3 integers"),
        ((1,), 32, 0, "block must be a tuple"),
        ((1,), (32,), 49153, "49153 bytes of dynamic shared memory"),
    ],
)
def test_configurations_that_cuda_refuses(
    grid: Any, block: Any, shared: int, problem: str
) -> None:
    with pytest.raises(LaunchError, match=problem):
        build(COLUMN_SUM)["column_sum"](grid, block, arguments(), shared_mem=shared)


# ---- planted faults: the source ----


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("out[0] = INFINITY;", "line 3: 'INFINITY' is not known to NVRTC"),
        ("out[0] = NAN;", "line 3: 'NAN'"),
        ("int32_t i = 0; out[i] = 0;", "line 3: 'int32_t'"),
        ("\n#include <math.h>\n", "line 4: '#include <math.h>'"),
        ("__shared__ float a[2] = {0};", "line 3: this __shared__ declaration"),
    ],
)
def test_source_that_is_refused(statement: str, problem: str) -> None:
    source = f"""
    extern "C" __global__ void bad(float* out) {{
        {statement}
    }}
    """
    with pytest.raises(SourceError, match=problem):
        build(source)


def test_source_without_a_kernel() -> None:
    with pytest.raises(SourceError, match="no kernel"):
        build('// extern "C" __global__ void only_a_comment(int)\n')


def test_a_compiler_error_names_the_line_of_the_kernel() -> None:
    source = plant(FUSED, "tanhf(shifted)", "tanhf(shifty)")
    with pytest.raises(CompileError, match=r"kernel.cu:10:.*'shifty' was not declared"):
        build(source)


def test_a_missing_compiler_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert find_compiler() is None
    assert "NOT RUN: no C++ compiler" in (why_not() or "")


# ---- faults outside a launch ----

CRASH = """
    import ctypes, faulthandler, sys, threading, time
    import numpy as np
    from tests.support.cuda_on_cpu.build import build
    from tests.support.cuda_on_cpu.errors import LaunchError
    from tests.support.cuda_on_cpu.memory import allocate

    faulthandler.enable()
    source = '''
    extern "C" __global__ void spin(volatile int* go) { while (go[0]) {} }
    extern "C" __global__ void fault(int* out) { out[4] = 0; }
    '''
    kernels = build(source)
    try:
        kernels["fault"]((1,), (1,), (allocate(4, np.int32),))
    except LaunchError:
        print("caught", flush=True)
    if sys.argv[1] == "during":
        launch = ((1,), (1,), (np.ones(1, np.int32),))
        threading.Thread(target=kernels["spin"], args=launch, daemon=True).start()
        time.sleep(0.3)
    ctypes.string_at(0)
"""


@pytest.mark.parametrize("when", ["after", "during"])
def test_a_fault_that_is_not_the_kernels_goes_to_the_handler_before(
    when: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CRASH), when],
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "caught\n"
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert done.returncode < 0
