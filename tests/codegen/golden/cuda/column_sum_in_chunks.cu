// Emitted by tracegrad. NVRTC has no C headers: nothing is included.
// Helper functions are the same for signed and unsigned integers.
#pragma nv_diag_suppress 186

__device__ __forceinline__ float column_sum_f32(float a) {
    __shared__ float tile[8][32];
    tile[threadIdx.y][threadIdx.x] = a;
    __syncthreads();
    a = tile[0][threadIdx.x];
    for (int y = 1; y < 8; y += 1) {
        const float b = tile[y][threadIdx.x];
        a = a + b;
    }
    __syncthreads();
    return a;
}

// sum = sum(exp(x0)), in 16 chunks
extern "C" __global__ void __launch_bounds__(256)
exp_sum_chunks(const float* __restrict__ x0_ptr, float* __restrict__ sum_partial) {
    // 32 columns side by side, 8 threads for each; the last block may have fewer.
    const int own = (int)blockIdx.x * 32 + threadIdx.x;
    const bool active = own < 40;
    const int column = active ? own : 40 - 1;
    const int begin = (int)blockIdx.y * 256;
    const int limit = begin + 256 < 4096 ? begin + 256 : 4096;
    const int end = active ? limit : 0;
    float sum = 0.0f;
    #pragma unroll 2
    for (int row = begin + threadIdx.y; row < end; row += 8) {
        const float x0 = x0_ptr[column + row * 40];
        const float exp_1 = expf(x0);  // model.py:1
        sum = sum + exp_1;  // model.py:2
    }
    sum = column_sum_f32(sum);
    if (active && threadIdx.y == 0) {
        sum_partial[blockIdx.y * 40 + column] = sum;
    }
}

// sum = sum(exp(x0))
extern "C" __global__ void __launch_bounds__(256)
exp_sum(const float* __restrict__ sum_partial, float* __restrict__ sum_ptr) {
    // 32 columns side by side, 8 threads for each; the last block may have fewer.
    const int own = (int)blockIdx.x * 32 + threadIdx.x;
    const bool active = own < 40;
    const int column = active ? own : 40 - 1;
    const int end = active ? 16 : 0;
    float sum = 0.0f;
    #pragma unroll 2
    for (int row = threadIdx.y; row < end; row += 8) {
        const float sum_element = sum_partial[row * 40 + column];
        sum = sum + sum_element;  // model.py:2
    }
    sum = column_sum_f32(sum);
    if (active && threadIdx.y == 0) {
        sum_ptr[column] = sum;
    }
}
