"""Good kernels, in the shape that templates emit; tests plant faults in them."""

from typing import Any, Final

import numpy as np

from tests.support.cuda_on_cpu.build import build
from tests.support.cuda_on_cpu.memory import allocate, guarded_copy

Array = np.ndarray[Any, Any]

FUSED: Final = """
extern "C" __global__ void fused(const float* __restrict__ x,
                                 const float* __restrict__ bias,
                                 float* __restrict__ out, long long n,
                                 long long columns) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += stride) {
        const float shifted = x[i] + bias[i % columns];
        out[i] = tanhf(shifted) + expf(-fabsf(shifted));
    }
}
"""

ROW_LOGSUMEXP: Final = """
__device__ __forceinline__ float warp_max(float value) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
    }
    return value;
}

__device__ __forceinline__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

extern "C" __global__ void row_logsumexp(const float* __restrict__ x,
                                         float* __restrict__ out,
                                         long long columns) {
    __shared__ float partial[32];
    const float minus_infinity = __int_as_float(0xff800000);
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int warps = (blockDim.x + 31) >> 5;
    const float* row = x + blockIdx.x * columns;

    float largest = minus_infinity;
    for (long long c = threadIdx.x; c < columns; c += blockDim.x) {
        largest = fmaxf(largest, row[c]);
    }
    largest = warp_max(largest);
    if (lane == 0) partial[warp] = largest;
    __syncthreads();  // first
    largest = warp_max(lane < warps ? partial[lane] : minus_infinity);
    __syncthreads();  // second

    float total = 0.0f;
    for (long long c = threadIdx.x; c < columns; c += blockDim.x) {
        total += expf(row[c] - largest);
    }
    total = warp_sum(total);
    if (lane == 0) partial[warp] = total;
    __syncthreads();  // third
    if (warp == 0) {
        total = warp_sum(lane < warps ? partial[lane] : 0.0f);
        if (lane == 0) out[blockIdx.x] = largest + logf(total);
    }
}
"""

COLUMN_SUM: Final = """
extern "C" __global__ void column_sum(const float* __restrict__ x,
                                      float* __restrict__ out, int rows,
                                      int columns) {
    extern __shared__ float tile[];
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < rows;
         r += gridDim.y * blockDim.y) {
        if (c < columns) sum += x[(long long)r * columns + c];
    }
    tile[threadIdx.y * blockDim.x + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < columns) {
        for (int y = 1; y < blockDim.y; y++) sum += tile[y * blockDim.x + threadIdx.x];
        atomicAdd(&out[c], sum);
    }
}
"""


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
