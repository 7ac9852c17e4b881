// Emitted by tracegrad. NVRTC has no C headers: nothing is included.
// Helper functions are the same for signed and unsigned integers.
#pragma nv_diag_suppress 186

__device__ __forceinline__ float tg_float(unsigned int bits) {
    return __uint_as_float(bits);
}

__device__ __forceinline__ float tg_f16_load(unsigned short bits) {
    const unsigned int sign = (unsigned int)(bits & 0x8000) << 16;
    const unsigned int exponent = (bits >> 10) & 31;
    const unsigned int mantissa = bits & 1023;
    if (exponent == 0) {
        const float magnitude = (float)mantissa * 5.9604644775390625e-08f;
        return sign ? -magnitude : magnitude;
    }
    const unsigned int wide = exponent == 31 ? 255 : exponent + 112;
    return tg_float(sign | (wide << 23) | (mantissa << 13));
}

__device__ __forceinline__ unsigned int tg_bits(float value) {
    return __float_as_uint(value);
}

__device__ __forceinline__ unsigned short tg_f16_store(float value) {
    const unsigned int bits = tg_bits(value);
    const unsigned int sign = (bits >> 16) & 0x8000;
    unsigned int magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
        return (unsigned short)(sign | 0x7e00 | ((magnitude >> 13) & 0x1ff));
    }
    if (magnitude >= 0x477ff000) return (unsigned short)(sign | 0x7c00);
    if (magnitude >= 0x38800000) {
        magnitude += 0xfff + ((magnitude >> 13) & 1);
        return (unsigned short)(sign | ((magnitude - 0x38000000) >> 13));
    }
    if (magnitude <= 0x33000000) return (unsigned short)sign;
    const unsigned int shift = 126 - (magnitude >> 23);
    const unsigned int mantissa = (magnitude & 0x7fffff) | 0x800000;
    const unsigned int rest = mantissa & ((1u << shift) - 1);
    const unsigned int half = 1u << (shift - 1);
    unsigned int found = mantissa >> shift;
    if (rest > half || (rest == half && (found & 1))) found += 1;
    return (unsigned short)(sign | found);
}

__device__ __forceinline__ float tg_f16_round(float value) {
    return tg_f16_load(tg_f16_store(value));
}

// add_1 = add(tanh(add(x0, x1)), exp(neg(abs(add))))
extern "C" __global__ void __launch_bounds__(256)
add_tanh_abs_neg_exp(
    const unsigned short* __restrict__ x0_ptr,
    const unsigned short* __restrict__ x1_ptr,
    unsigned short* __restrict__ add_1_ptr) {
    const int step = gridDim.x * blockDim.x;
    for (int i = (int)blockIdx.x * blockDim.x + threadIdx.x; i < 48; i += step) {
        const int i_0 = i / 8;
        const int i_1 = i % 8;
        const float x0 = tg_f16_load(x0_ptr[i_0 + i_1 * 6]);
        const float x1 = tg_f16_load(x1_ptr[i_0 * 16 + i_1]);
        const float add = tg_f16_round(x0 + x1);  // model.py:1
        const float tanh_1 = tg_f16_round(tanhf(add));  // model.py:2
        const float abs_1 = tg_f16_round(fabsf(add));  // model.py:3
        const float neg = tg_f16_round(-abs_1);  // model.py:4
        const float exp_1 = tg_f16_round(expf(neg));  // model.py:5
        const float add_1 = tg_f16_round(tanh_1 + exp_1);  // model.py:6
        add_1_ptr[i] = tg_f16_store(add_1);
    }
}
