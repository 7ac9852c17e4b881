// Emitted by tracegrad. NVRTC has no C headers: nothing is included.
// Helper functions are the same for signed and unsigned integers.
#pragma nv_diag_suppress 186

__device__ __forceinline__ float warp_amax_f32(float a) {
    for (int offset = 16; offset > 0; offset /= 2) {
        const float b = __shfl_down_sync(0xffffffffu, a, offset);
        a = a > b || a != a ? a : b;
    }
    return __shfl_sync(0xffffffffu, a, 0);
}

__device__ __forceinline__ float warp_sum_f32(float a) {
    for (int offset = 16; offset > 0; offset /= 2) {
        const float b = __shfl_down_sync(0xffffffffu, a, offset);
        a = a + b;
    }
    return __shfl_sync(0xffffffffu, a, 0);
}

// softmax = div(exp(sub(x0, amax(x0))), sum(exp))
extern "C" __global__ void __launch_bounds__(128)
softmax(const float* __restrict__ x0_ptr, float* __restrict__ softmax_ptr) {
    const int lane = threadIdx.x % 32;
    const int first = blockIdx.x * 4 + threadIdx.x / 32;
    const int step = gridDim.x * 4;
    for (int row = first; row < 64; row += step) {
        float amax = __int_as_float(0xff800000);
        for (int column = lane; column < 100; column += 32) {
            const float x0 = x0_ptr[row * 100 + column];
            amax = amax > x0 || amax != amax ? amax : x0;  // model.py:1 softmax
        }
        amax = warp_amax_f32(amax);
        float sum = 0.0f;
        for (int column = lane; column < 100; column += 32) {
            const float x0 = x0_ptr[row * 100 + column];
            const float sub = x0 - amax;  // model.py:2 softmax
            const float exp_1 = expf(sub);  // model.py:3 softmax
            sum = sum + exp_1;  // model.py:4 softmax
        }
        sum = warp_sum_f32(sum);
        for (int column = lane; column < 100; column += 32) {
            const float x0 = x0_ptr[row * 100 + column];
            const float sub = x0 - amax;  // model.py:2 softmax
            const float exp_1 = expf(sub);  // model.py:3 softmax
            const float softmax = exp_1 / sum;  // model.py:5 softmax
            softmax_ptr[row * 100 + column] = softmax;
        }
    }
}
