"""Good kernels, in the shape that templates emit; tests plant faults in them."""

from typing import Final

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
