// Emitted by tracegrad. NVRTC has no C headers: nothing is included.
// Helper functions are the same for signed and unsigned integers.
#pragma nv_diag_suppress 186

__device__ __forceinline__ float warp_sum_f32(float a) {
    for (int offset = 16; offset > 0; offset /= 2) {
        const float b = __shfl_down_sync(0xffffffffu, a, offset);
        a = a + b;
    }
    return __shfl_sync(0xffffffffu, a, 0);
}

__device__ __forceinline__ float block_sum_f32(float a) {
    __shared__ float partial[32];
    const int lane = threadIdx.x % 32;
    a = warp_sum_f32(a);
    if (lane == 0) partial[threadIdx.x / 32] = a;
    __syncthreads();
    a = 0.0f;
    if (lane < blockDim.x / 32) a = partial[lane];
    __syncthreads();
    return warp_sum_f32(a);
}

// sum = sum(mul(x0, x0)), in 64 chunks
extern "C" __global__ void __launch_bounds__(256)
mul_sum_chunks(const float* __restrict__ x0_ptr, float* __restrict__ sum_partial) {
    const int lane = threadIdx.x;
    const int first = blockIdx.x;
    const int step = gridDim.x;
    const int begin = (int)blockIdx.y * 4096;
    const int end = begin + 4096 < 262144 ? begin + 4096 : 262144;
    for (int row = first; row < 1; row += step) {
        float sum = 0.0f;
        for (int column = begin + lane; column < end; column += 256) {
            const float x0 = x0_ptr[column];
            const float mul = x0 * x0;  // model.py:1
            sum = sum + mul;  // model.py:2
        }
        sum = block_sum_f32(sum);
        if (lane == 0) {
            sum_partial[row * 64 + blockIdx.y] = sum;
        }
    }
}

// sum = sum(mul(x0, x0))
extern "C" __global__ void __launch_bounds__(128)
mul_sum(const float* __restrict__ sum_partial, float* __restrict__ sum_ptr) {
    const int lane = threadIdx.x % 32;
    const int first = blockIdx.x * 4 + threadIdx.x / 32;
    const int step = gridDim.x * 4;
    for (int row = first; row < 1; row += step) {
        float sum = 0.0f;
        for (int column = lane; column < 64; column += 32) {
            const float sum_element = sum_partial[row * 64 + column];
            sum = sum + sum_element;  // model.py:2
        }
        sum = warp_sum_f32(sum);
        if (lane == 0) {
            sum_ptr[0] = sum;
        }
    }
}
