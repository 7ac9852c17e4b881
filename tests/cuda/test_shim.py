"""The runtime that executes CUDA kernels on the CPU, and the faults it must find."""

import numpy as np
import pytest

from tests.cuda.kernels import (
    FUSED,
    ROW_LOGSUMEXP,
    Array,
    logsumexp,
    run_column_sum,
    run_fused,
    run_logsumexp,
)
from tests.support.cuda_on_cpu.build import build
from tests.support.cuda_on_cpu.memory import allocate, guarded_copy

pytestmark = pytest.mark.usefixtures("cuda_on_cpu")

SEEDS = range(4)


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
    out = allocate(len(x), np.float32)
    kernel = build(ROW_LOGSUMEXP, ucontext=True)["row_logsumexp"]
    kernel((len(x),), (64,), (x, out, x.shape[1]), seed=1)
    np.testing.assert_array_equal(out, run_logsumexp(x, threads=64, seed=1))


def test_indices_in_three_dimensions() -> None:
    source = """
    extern "C" __global__ void indices(int* out) {
        int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        int row = threadIdx.y + blockDim.y * threadIdx.z;
        int thread = threadIdx.x + blockDim.x * row;
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
        np.testing.assert_array_equal(out[6, 16:], lane[:16] ^ 8)


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


def test_functions_that_c_does_not_have() -> None:
    source = """
    extern "C" __global__ void beyond(const float* x, float* out) {
        const float v = x[threadIdx.x];
        out[threadIdx.x] = erfinvf(erff(v));
        out[4 + threadIdx.x] = rsqrtf(v) * rsqrtf(v);
        out[8 + threadIdx.x] = normcdff(v) + normcdff(-v);
        out[12 + threadIdx.x] = __uint_as_float(__float_as_uint(v));
        out[16 + threadIdx.x] = max(v, 1.0f) + min(3, 4) + __popc(7u) + __clz(1);
    }
    """
    x = np.array([0.01, 0.5, 1.0, 2.5], np.float32)
    out = allocate((5, 4), np.float32)
    build(source)["beyond"]((1,), (4,), (x, out))
    expected = np.stack([x, 1 / x, 0 * x + 1, x, np.maximum(x, 1) + 3 + 3 + 31])
    np.testing.assert_allclose(out, expected, rtol=1e-4)
    edges = """
    extern "C" __global__ void edges(float* out) {
        out[0] = erfinvf(1.0f); out[1] = erfinvf(-1.0f); out[2] = erfinvf(2.0f);
        out[3] = erfinvf(0.0f); out[4] = erfinvf(0.5f);
    }
    """
    build(edges)["edges"]((1,), (1,), (out.ravel(),))
    edge = [np.inf, -np.inf, np.nan, 0.0, 0.476936276]
    np.testing.assert_allclose(out.ravel()[:5], edge, rtol=1e-6)


@pytest.mark.parametrize("name", ["clone", "splice", "tee", "signbit_"])
def test_a_kernel_may_be_called_as_a_function_of_the_c_library(name: str) -> None:
    source = f'extern "C" __global__ void {name}(int* out) {{ out[threadIdx.x] = 7; }}'
    out = allocate(3, np.int32)
    build(source)[name]((1,), (3,), (out,))
    assert out.tolist() == [7, 7, 7]
