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

// div = div(sum(x0), 128)
// mul_2 = mul(mul(sub(x0, div(sum(x0), 128)), rsqrt(add(div(sum(mul(sub, sub)), 128), 1e-05))), x1)
extern "C" __global__ void __launch_bounds__(256)
sum_div_sub_mul_add_rsqrt(
    const float* __restrict__ x0_ptr,
    const float* __restrict__ x1_ptr,
    float* __restrict__ div_ptr,
    float* __restrict__ mul_2_ptr) {
    // 32 columns side by side, 8 threads for each; the last block may have fewer.
    const int own = (int)blockIdx.x * 32 + threadIdx.x;
    const bool active = own < 4096;
    const int column = active ? own : 4096 - 1;
    const int end = active ? 128 : 0;
    float sum = 0.0f;
    #pragma unroll 2
    for (int row = threadIdx.y; row < end; row += 8) {
        const float x0 = x0_ptr[column + row * 4096];
        sum = sum + x0;  // model.py:1
    }
    sum = column_sum_f32(sum);
    const float div = sum / 128.0f;  // model.py:2
    float sum_1 = 0.0f;
    #pragma unroll 2
    for (int row = threadIdx.y; row < end; row += 8) {
        const float x0 = x0_ptr[column + row * 4096];
        const float sub = x0 - div;  // model.py:3
        const float mul = sub * sub;  // model.py:4
        sum_1 = sum_1 + mul;  // model.py:5
    }
    sum_1 = column_sum_f32(sum_1);
    const float div_1 = sum_1 / 128.0f;  // model.py:6
    const float add = div_1 + 1e-05f;  // model.py:7
    const float rsqrt_1 = 1 / sqrtf(add);  // model.py:8
    const float x1 = x1_ptr[column];
    #pragma unroll 2
    for (int row = threadIdx.y; row < end; row += 8) {
        const float x0 = x0_ptr[column + row * 4096];
        const float sub = x0 - div;  // model.py:3
        const float mul_1 = sub * rsqrt_1;  // model.py:9
        const float mul_2 = mul_1 * x1;  // model.py:10
        mul_2_ptr[column + row * 4096] = mul_2;
    }
    if (active && threadIdx.y == 0) {
        div_ptr[column] = div;
    }
}
