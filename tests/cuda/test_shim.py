"""The runtime that executes CUDA kernels on the CPU, and the faults it must find."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.cuda.kernels import COLUMN_SUM, FUSED, ROW_LOGSUMEXP
from tests.support.cuda_on_cpu.build import build, find_compiler, why_not
from tests.support.cuda_on_cpu.errors import CompileError, LaunchError, SourceError
from tests.support.cuda_on_cpu.memory import allocate, guarded_copy
from tests.support.cuda_on_cpu.source import line_of

pytestmark = pytest.mark.usefixtures("cuda_on_cpu")

ROWS, COLUMNS = 12, 300
SEEDS = range(4)
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def x() -> Array:
    sample = np.random.default_rng(0).standard_normal((ROWS, COLUMNS))
    return guarded_copy(sample.astype(np.float32))


def plant(source: str, good: str, bad: str) -> str:
    """Put a fault into a kernel."""
    assert source.count(good) == 1, good
    return source.replace(good, bad)


def run_fused(x: Array, source: str = FUSED, seed: int = 0, n: int | None = None):
    out = allocate(x.shape, np.float32)
    args = (x, guarded_copy(x[0]), out, x.size if n is None else n, x.shape[1])
    build(source)["fused"]((3,), (128,), args, seed=seed)
    return out


def run_logsumexp(x: Array, source: str = ROW_LOGSUMEXP, seed: int = 0, threads=128):
    out = allocate(len(x), np.float32)
    args = (x, out, x.shape[1])
    build(source)["row_logsumexp"]((len(x),), (threads,), args, seed=seed)
    return out


def run_column_sum(x: Array, source: str = COLUMN_SUM, seed: int = 0, shared=1024):
    out = guarded_copy(np.zeros(x.shape[1], np.float32))
    args = (x, out, np.int32(len(x)), np.int32(x.shape[1]))
    kernel = build(source)["column_sum"]
    kernel((10, 2), (32, 8), args, shared_mem=shared, seed=seed)
    return out


def logsumexp(x: Array) -> Array:
    return np.log(np.exp(x.astype(np.float64)).sum(1))


# ---- good kernels ----


@pytest.mark.parametrize("seed", SEEDS)
def test_fused_elementwise(x: Array, seed: int) -> None:
    shifted = x.astype(np.float64) + x[0]
    expected = np.tanh(shifted) + np.exp(-abs(shifted))
    np.testing.assert_allclose(run_fused(x, seed=seed), expected, atol=1e-6)


@pytest.mark.parametrize("threads", [32, 128, 256])
@pytest.mark.parametrize("seed", SEEDS)
def test_row_logsumexp(x: Array, seed: int, threads: int) -> None:
    found = run_logsumexp(x, seed=seed, threads=threads)
    np.testing.assert_allclose(found, logsumexp(x), rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_column_sum(x: Array, seed: int) -> None:
    found = run_column_sum(x, seed=seed)
    np.testing.assert_allclose(found, x.astype(np.float64).sum(0), atol=1e-5)


def test_seed_0_is_the_order_of_the_grid_and_others_are_not() -> None:
    source = """
    extern "C" __global__ void order(int* count, int* place) {
        place[atomicAdd(count, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
    }
    """

    def order(seed: int) -> list[int]:
        place = np.zeros(64, np.int32)
        build(source)["order"]((4,), (16,), (np.zeros(1, np.int32), place), seed=seed)
        return place.tolist()

    assert order(0) == list(range(64))
    assert order(1) != order(0)
    assert sorted(order(1)) == order(0)
    assert order(1) == order(1) != order(2)


def test_ucontext_switches_as_assembly_does(x: Array) -> None:
    out = allocate(ROWS, np.float32)
    kernel = build(ROW_LOGSUMEXP, ucontext=True)["row_logsumexp"]
    kernel((ROWS,), (64,), (x, out, COLUMNS), seed=1)
    np.testing.assert_array_equal(out, run_logsumexp(x, threads=64, seed=1))


def test_indices_in_three_dimensions() -> None:
    source = """
    extern "C" __global__ void indices(int* out) {
        int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        out[block * blockDim.x * blockDim.y * blockDim.z + thread] += block + thread;
    }
    """
    out = guarded_copy(np.zeros((24, 24), np.int32))
    build(source)["indices"]((2, 3, 4), (4, 3, 2), (out,), seed=5)
    block, thread = np.indices((24, 24))
    np.testing.assert_array_equal(out, block + thread)


def test_shuffles_and_votes() -> None:
    source = """
    extern "C" __global__ void lanes(int* out) {
        const unsigned all = 0xffffffffu;
        int lane = threadIdx.x;
        out[lane] = __shfl_sync(all, lane, 5);
        out[32 + lane] = __shfl_up_sync(all, lane, 3);
        out[64 + lane] = __shfl_down_sync(all, lane, 3, 8);
        out[96 + lane] = __shfl_xor_sync(all, lane, 1);
        out[128 + lane] = (int)__ballot_sync(all, lane % 2);
        out[160 + lane] = __any_sync(all, lane == 7) + 2 * __all_sync(all, lane == 7);
        if (lane < 16) lane = __shfl_xor_sync(0x0000ffffu, lane, 8);
        out[192 + lane] = __shfl_xor_sync(all, lane, 16);
        __syncwarp();
    }
    """
    lane = np.arange(32)
    expected = [
        np.full(32, 5),
        np.where(lane < 3, lane, lane - 3),
        np.where(lane % 8 + 3 < 8, lane + 3, lane),
        lane ^ 1,
        np.full(32, 0xAAAAAAAA, np.uint32).view(np.int32),
        np.ones(32),
    ]
    for seed in SEEDS:
        out = allocate((7, 32), np.int32)
        build(source)["lanes"]((1,), (32,), (out,), seed=seed)
        np.testing.assert_array_equal(out[:6], expected)
        np.testing.assert_array_equal(
            out[6, 16:], np.concatenate([lane[8:16], lane[:8]])
        )


def test_atomics() -> None:
    source = """
    extern "C" __global__ void atomics(int* i, unsigned* u, float* f, double* d) {
        int t = threadIdx.x + 1;
        atomicAdd(&i[0], t);
        atomicMax(&i[1], t);
        atomicMin(&i[2], -t);
        if (atomicCAS(&i[3], 0, t) == 0) atomicAdd(&i[4], 1);
        atomicAdd(&u[0], 2u * t);
        atomicMax(&u[1], (unsigned)t);
        atomicExch(&u[2], 9u);
        atomicAdd(f, 0.5f);
        atomicAdd(d, 0.25);
    }
    """
    i, u = np.zeros(5, np.int32), np.zeros(3, np.uint32)
    f, d = np.zeros(1, np.float32), np.zeros(1)
    build(source)["atomics"]((1,), (100,), (i, u, f, d), seed=3)
    assert i[[0, 1, 2, 4]].tolist() == [5050, 100, -100, 1]
    assert u.tolist() == [10100, 100, 9]
    assert (f[0], d[0]) == (50.0, 25.0)


def test_denormals_are_flushed_inside_a_launch_only() -> None:
    source = """
    extern "C" __global__ void triple(float* x) { x[0] *= 3.0f; }
    """
    x = np.full(1, 1e-40, np.float32)
    build(source)["triple"]((1,), (1,), (x,))
    assert x[0] == 0.0
    assert np.float32(1e-40) * np.float32(3.0) > 0.0


def test_a_source_is_compiled_once() -> None:
    assert build(FUSED) is build(FUSED)


def test_shared_declarations_of_every_form() -> None:
    source = """
    #define N 8
    /* __shared__ int in_a_comment; */
    extern "C" __global__ void __launch_bounds__(N) forms(float* out) {
        __shared__ float a[N], b[2][N + 1];
        __shared__ __align__(16) unsigned int flag;
        extern __shared__ __align__(16) double dynamic[];
        int t = threadIdx.x;
        a[t] = t; b[1][t] = 2 * t; dynamic[t] = 3 * t;
        if (t == 0) flag = 4;
        __syncthreads();
        out[t] = a[N - 1 - t] + b[1][N - 1 - t] + dynamic[N - 1 - t] + flag;
    }
    """
    out = allocate(8, np.float32)
    build(source)["forms"]((1,), (8,), (out,), shared_mem=64)
    np.testing.assert_array_equal(out, 6 * np.arange(7, -1, -1) + 4)


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
        r"0 bytes past the end of argument 0"
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
    with pytest.raises(LaunchError, match="argument 0 was written 4 bytes before it"):
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
def test_more_than_48_KiB_of_shared_memory(extent: int, dynamic: int) -> None:
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
            r"the launch passes a 64-bit signed integer \(i8",
        ),
        (arguments(rows=np.float32(2)), r"passes a 32-bit floating-point number \(f4"),
        (arguments(x=np.zeros((2, 3))), r"argument 0: .* a pointer to a 64-bit float"),
        (
            arguments(out=np.zeros(3, np.int32)),
            r"argument 1: .*a pointer to a 32-bit si",
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
def test_configurations_that_CUDA_refuses(
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
def test_source_that_NVRTC_or_this_package_refuses(
    statement: str, problem: str
) -> None:
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
    from tests.support.cuda_on_cpu.source import line_of
from tests.support.cuda_on_cpu.memory import allocate

    faulthandler.enable()
    source = '''
    extern "C" __global__ void spin(volatile int* go) { while (go[0]) {} }
    extern "C" __global__ void fault(int* out) { out[1 << 20] = 0; }
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
def test_a_fault_that_is_not_the_kernels_goes_to_the_handler_before(when: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CRASH), when],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "caught\n"
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert done.returncode < 0
