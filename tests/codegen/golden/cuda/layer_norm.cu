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

// add_1 = add(mul(mul(sub(x0, div(sum(x0), 1024)), rsqrt(add(div(sum(mul(sub, sub)), 1024), 1e-05))), x1), x2)
extern "C" __global__ void __launch_bounds__(256)
sum_div_sub_mul_add_rsqrt(
    const float* __restrict__ x0_ptr,
    const float* __restrict__ x1_ptr,
    const float* __restrict__ x2_ptr,
    float* __restrict__ add_1_ptr) {
    const int lane = threadIdx.x;
    const int first = blockIdx.x;
    const int step = gridDim.x;
    for (int row = first; row < 8; row += step) {
        float sum = 0.0f;
        for (int column = lane; column < 1024; column += 256) {
            const float x0 = x0_ptr[row * 1024 + column];
            sum = sum + x0;  // model.py:1
        }
        sum = block_sum_f32(sum);
        const float div = sum / 1024.0f;  // model.py:2
        float sum_1 = 0.0f;
        for (int column = lane; column < 1024; column += 256) {
            const float x0 = x0_ptr[row * 1024 + column];
            const float sub = x0 - div;  // model.py:3
            const float mul = sub * sub;  // model.py:4
            sum_1 = sum_1 + mul;  // model.py:5
        }
        sum_1 = block_sum_f32(sum_1);
        const float div_1 = sum_1 / 1024.0f;  // model.py:6
        const float add = div_1 + 1e-05f;  // model.py:7
        const float rsqrt_1 = 1 / sqrtf(add);  // model.py:8
        for (int column = lane; column < 1024; column += 256) {
            const float x0 = x0_ptr[row * 1024 + column];
            const float sub = x0 - div;  // model.py:3
            const float mul_1 = sub * rsqrt_1;  // model.py:9
            const float x1 = x1_ptr[column];
            const float mul_2 = mul_1 * x1;  // model.py:10
            const float x2 = x2_ptr[column];
            const float add_1 = mul_2 + x2;  // model.py:11
            add_1_ptr[row * 1024 + column] = add_1;
        }
    }
}
