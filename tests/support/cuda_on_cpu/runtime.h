// What kernels and the runtime share: CUDA's built-in variables, and the few
// calls that CUDA's own functions turn into (cuda_builtins.h).
#pragma once
#include <stddef.h>
#include <stdint.h>

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace shim {

constexpr size_t max_shared_bytes = 48 * 1024;

// Mirrored by ctypes structures in launch.py.
struct Request {
  unsigned grid[3];
  unsigned block[3];
  uint64_t dynamic_shared;
  uint64_t seed;
  int fibers;
};

struct Report {
  uint64_t switches;
  uint64_t address;
  uint64_t code_offset;
  int failed;
  char message[1024];
};

void sync_block(int line);

// Waits for all lanes of `mask`. Each lane sends eight bytes and receives those
// that `source` sent; a source of -1 asks for the ballot of non-zero words.
uint64_t sync_warp(const char* what, unsigned mask, uint64_t sent, int source,
                   int line);

unsigned lane();
void* dynamic_shared();
[[noreturn]] void fail(const char* message);

// One __shared__ variable of one kernel, poisoned when a block first reaches it.
// It lies before an inaccessible page, so running past its end is a fault.
class SharedSlot {
 public:
  constexpr explicit SharedSlot(size_t bytes) : bytes_(bytes) {}
  void* get();
  bool slack_is_intact() const;

 private:
  size_t bytes_;
  unsigned char* memory_ = nullptr;
  uint64_t block_ = 0;
};

template <class T>
class Shared : SharedSlot {
 public:
  constexpr Shared() : SharedSlot(sizeof(T)) {}
  T& variable() { return *static_cast<T*>(get()); }
};

int launch(void (*kernel)(void*), void* arguments, const Request& request,
           Report& report);

}  // namespace shim
