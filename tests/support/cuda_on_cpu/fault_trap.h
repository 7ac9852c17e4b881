// Turns a processor fault on the launching thread into a return from the launch.
#pragma once
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

namespace shim {

class FaultTrap {
 public:
  FaultTrap();
  ~FaultTrap();
  FaultTrap(const FaultTrap&) = delete;
  FaultTrap& operator=(const FaultTrap&) = delete;

  // sigsetjmp must be called in the frame that owns the trap, so it is not in here.
  static sigjmp_buf landing;
  [[noreturn]] static void leave();

  void arm();
  void disarm();
  bool faulted() const;
  void* address() const;
  const char* description() const;
  // Where in the library of `kernel` the fault happened, or 0 if not in there.
  uintptr_t code_offset(void (*kernel)(void*)) const;

 private:
  stack_t saved_stack_;
};

}  // namespace shim
