#include "fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

namespace shim {

static constexpr size_t page_bytes = 4096;
static constexpr size_t stack_bytes = 64 * 1024;

void Fiber::allocate_stack() {
  void* memory = mmap(nullptr, page_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) abort();
  mprotect(memory, page_bytes, PROT_NONE);
  stack_ = static_cast<char*>(memory) + page_bytes;
}

bool Fiber::is_overflow(const void* address) const {
  const char* byte = static_cast<const char*>(address);
  return stack_ && byte >= stack_ - page_bytes && byte < stack_;
}

#ifdef SHIM_UCONTEXT

static ucontext_t scheduler_context;

void Fiber::start(void (*entry)()) {
  if (!stack_) allocate_stack();
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_;
  context_.uc_stack.ss_size = stack_bytes;
  context_.uc_link = nullptr;
  makecontext(&context_, entry, 0);
}

void Fiber::resume() { swapcontext(&scheduler_context, &context_); }

void Fiber::yield() { swapcontext(&context_, &scheduler_context); }

#else

// Saves the callee-saved registers on the old stack and takes them from the new
// one; everything else is dead across a call by the System V ABI.
extern "C" void shim_switch(void** save_old, void* new_stack_pointer);
asm(R"(
.text
.type shim_switch,@function
shim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size shim_switch,.-shim_switch
)");

static void* scheduler_stack_pointer;

void Fiber::start(void (*entry)()) {
  if (!stack_) allocate_stack();
  void** top = reinterpret_cast<void**>(stack_ + stack_bytes);
  // A null return address, so that the entry sees the stack as after a call.
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  for (int saved_register = 0; saved_register < 6; saved_register++) {
    *--top = nullptr;
  }
  stack_pointer_ = top;
}

void Fiber::resume() { shim_switch(&scheduler_stack_pointer, stack_pointer_); }

void Fiber::yield() { shim_switch(&stack_pointer_, scheduler_stack_pointer); }

#endif

}  // namespace shim
