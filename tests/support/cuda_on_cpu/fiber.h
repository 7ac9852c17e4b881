// A stack of its own for each CUDA thread of a block, and the switch to and from it.
#pragma once
#include <stddef.h>

// The assembly is for ELF.
#if !(defined(__x86_64__) && defined(__ELF__)) && !defined(SHIM_UCONTEXT)
#define SHIM_UCONTEXT 1
#endif

#ifdef SHIM_UCONTEXT
#include <ucontext.h>
#endif

namespace shim {

class Fiber {
 public:
  // The next resume() enters `entry` on this fiber's stack; it must never return.
  void start(void (*entry)());
  // Called by the scheduler: runs the fiber until it yields.
  void resume();
  // Called on the fiber: back to the scheduler.
  void yield();
  // Whether `address` is in the inaccessible page under this fiber's stack.
  bool is_overflow(const void* address) const;

 private:
  void allocate_stack();

  char* stack_ = nullptr;
#ifdef SHIM_UCONTEXT
  ucontext_t context_;
#else
  void* stack_pointer_ = nullptr;
#endif
};

}  // namespace shim
