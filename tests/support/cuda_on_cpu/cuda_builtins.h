// The part of CUDA C that kernels may use, on top of runtime.h. Included before the
// kernel source; what CUDA does not have without headers is taken away at the end.
#pragma once
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime.h"

static constexpr int warpSize = 32;

// ---- vector types ----

struct alignas(8) float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct int3 { int x, y, z; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) double2 { double x, y; };

inline float2 make_float2(float x, float y) { return {x, y}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
inline double2 make_double2(double x, double y) { return {x, y}; }

// ---- barriers, fences, votes and shuffles ----

inline void __syncthreads(int line = __builtin_LINE()) { shim::sync_block(line); }
inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  shim::sync_warp("__syncwarp", mask, 0, -1, line);
}
inline void __threadfence() {}
inline void __threadfence_block() {}
[[noreturn]] inline void __trap() { shim::fail("__trap() was called"); }

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              int line = __builtin_LINE()) {
  return unsigned(shim::sync_warp("__ballot_sync", mask, predicate != 0, -1, line));
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return shim::sync_warp("__any_sync", mask, predicate != 0, -1, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return shim::sync_warp("__all_sync", mask, predicate == 0, -1, line) == 0;
}

namespace shim {

template <class T>
T exchange(const char* what, unsigned mask, T value, unsigned source, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
  uint64_t sent = 0, received;
  memcpy(&sent, &value, sizeof value);
  received = sync_warp(what, mask, sent, int(source), line);
  memcpy(&value, &received, sizeof value);
  return value;
}

// Lanes form sections of `width`; a source outside one's own section is oneself.
inline unsigned section(int width) { return lane() & ~unsigned(width - 1); }

}  // namespace shim

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              int line = __builtin_LINE()) {
  unsigned from = shim::section(width) | (unsigned(source) & unsigned(width - 1));
  return shim::exchange("__shfl_sync", mask, value, from, line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 int line = __builtin_LINE()) {
  unsigned self = shim::lane(), offset = self & unsigned(width - 1);
  unsigned from = delta > offset ? self : self - delta;
  return shim::exchange("__shfl_up_sync", mask, value, from, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   int line = __builtin_LINE()) {
  unsigned self = shim::lane(), offset = self & unsigned(width - 1);
  unsigned from = offset + delta >= unsigned(width) ? self : self + delta;
  return shim::exchange("__shfl_down_sync", mask, value, from, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  int line = __builtin_LINE()) {
  unsigned self = shim::lane(), from = self ^ unsigned(lane_mask);
  if (from >= shim::section(width) + unsigned(width)) from = self;
  return shim::exchange("__shfl_xor_sync", mask, value, from, line);
}

// ---- atomics: exactly the overloads that CUDA has ----

namespace shim {

template <size_t bytes>
struct Word;
template <>
struct Word<4> { using type = uint32_t; };
template <>
struct Word<8> { using type = uint64_t; };

// Real atomic operations, so that a race checker may see them as such.
template <class T, class Update>
T atomic_update(T* address, Update update) {
  using Bits = typename Word<sizeof(T)>::type;
  Bits* bits = reinterpret_cast<Bits*>(address);
  Bits old_bits = __atomic_load_n(bits, __ATOMIC_RELAXED), new_bits;
  T old_value, new_value;
  do {
    memcpy(&old_value, &old_bits, sizeof old_value);
    new_value = update(old_value);
    memcpy(&new_bits, &new_value, sizeof new_bits);
  } while (!__atomic_compare_exchange_n(bits, &old_bits, new_bits, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old_value;
}

}  // namespace shim

#define SHIM_ATOMIC(name, T, result)                                  \
  inline T name(T* address, T value) {                                \
    return shim::atomic_update(address, [value](T old) -> T {         \
      (void)old;                                                      \
      return result;                                                  \
    });                                                               \
  }
#define SHIM_ATOMIC_INTEGERS(name, result)         \
  SHIM_ATOMIC(name, int, result)                   \
  SHIM_ATOMIC(name, unsigned, result)              \
  SHIM_ATOMIC(name, unsigned long long, result)

SHIM_ATOMIC_INTEGERS(atomicAdd, old + value)
SHIM_ATOMIC(atomicAdd, float, old + value)
SHIM_ATOMIC(atomicAdd, double, old + value)
SHIM_ATOMIC(atomicSub, int, old - value)
SHIM_ATOMIC(atomicSub, unsigned, old - value)
SHIM_ATOMIC_INTEGERS(atomicMax, old > value ? old : value)
SHIM_ATOMIC(atomicMax, long long, old > value ? old : value)
SHIM_ATOMIC_INTEGERS(atomicMin, old < value ? old : value)
SHIM_ATOMIC(atomicMin, long long, old < value ? old : value)
SHIM_ATOMIC_INTEGERS(atomicExch, value)
SHIM_ATOMIC(atomicExch, float, value)
SHIM_ATOMIC_INTEGERS(atomicAnd, old & value)
SHIM_ATOMIC_INTEGERS(atomicOr, old | value)
SHIM_ATOMIC_INTEGERS(atomicXor, old ^ value)

#undef SHIM_ATOMIC_INTEGERS
#undef SHIM_ATOMIC

#define SHIM_ATOMIC_CAS(T)                                             \
  inline T atomicCAS(T* address, T expected, T value) {                \
    return shim::atomic_update(                                        \
        address, [=](T old) -> T { return old == expected ? value : old; }); \
  }
SHIM_ATOMIC_CAS(int)
SHIM_ATOMIC_CAS(unsigned)
SHIM_ATOMIC_CAS(unsigned long long)
#undef SHIM_ATOMIC_CAS

// ---- bits ----

#define SHIM_REINTERPRET(name, To, From) \
  inline To name(From value) {           \
    To bits;                             \
    memcpy(&bits, &value, sizeof bits);  \
    return bits;                         \
  }
SHIM_REINTERPRET(__int_as_float, float, int)
SHIM_REINTERPRET(__uint_as_float, float, unsigned)
SHIM_REINTERPRET(__float_as_int, int, float)
SHIM_REINTERPRET(__float_as_uint, unsigned, float)
SHIM_REINTERPRET(__longlong_as_double, double, long long)
SHIM_REINTERPRET(__double_as_longlong, long long, double)
#undef SHIM_REINTERPRET

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned((unsigned long long)a * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}

// ---- mathematics beyond <math.h> ----

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float sinpif(float x) { return float(sin(3.14159265358979323846 * x)); }
inline float cospif(float x) { return float(cos(3.14159265358979323846 * x)); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline float normcdff(float x) {
  return float(0.5 * erfc(-0.70710678118654752440 * x));
}

// A first guess by Winitzki (2008), then Halley's iteration on erf.
inline double erfinv(double y) {
  if (!(fabs(y) < 1.0)) {
    return fabs(y) == 1.0 ? copysign(__builtin_inf(), y) : __builtin_nan("");
  }
  const double a = 0.147, log_term = log1p(-y * y);
  const double half = 2.0 / (3.14159265358979323846 * a) + 0.5 * log_term;
  double x = copysign(sqrt(sqrt(half * half - log_term / a) - half), y);
  for (int i = 0; i < 3; i++) {
    double slope = 1.12837916709551257390 * exp(-x * x);
    double step = (erf(x) - y) / slope;
    x -= step / (1.0 + x * step);
  }
  return x;
}
inline float erfinvf(float y) { return float(erfinv(y)); }

inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline int __float2int_rn(float x) { return int(rintf(x)); }
inline int __float2int_rz(float x) { return int(x); }
inline float __int2float_rn(int x) { return float(x); }

#define SHIM_MIN_MAX(T)                               \
  inline T min(T a, T b) { return b < a ? b : a; }    \
  inline T max(T a, T b) { return a < b ? b : a; }
SHIM_MIN_MAX(int)
SHIM_MIN_MAX(unsigned)
SHIM_MIN_MAX(long)
SHIM_MIN_MAX(unsigned long)
SHIM_MIN_MAX(long long)
SHIM_MIN_MAX(unsigned long long)
#undef SHIM_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

template <class T>
T __ldg(const T* address) { return *address; }

#include "trampoline.h"

// ---- words of the language ----

#undef INFINITY
#undef NAN
#undef HUGE_VAL
#undef HUGE_VALF

#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
