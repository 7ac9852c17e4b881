#include "fault_trap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

namespace shim {

static constexpr size_t handler_stack_bytes = 64 * 1024;
static const int trapped_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

static struct sigaction previous[NSIG];
static volatile bool armed;
static pthread_t launching_thread;
static volatile int fault_signal;
static void* volatile fault_address;
static void* volatile fault_instruction;

sigjmp_buf FaultTrap::landing;

void FaultTrap::leave() { siglongjmp(landing, 1); }

// A fault that is not the kernel's: whoever handled it before this launch does.
static void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& old = previous[signal];
  if (old.sa_flags & SA_SIGINFO) {
    old.sa_sigaction(signal, info, context);
  } else if (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN) {
    // The faulting instruction runs again, now with the default action.
    sigaction(signal, &old, nullptr);
  } else {
    old.sa_handler(signal);
  }
}

static void* instruction(const void* context) {
#if defined(__linux__) && defined(__x86_64__)
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
  return reinterpret_cast<void*>(machine->gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
  return reinterpret_cast<void*>(machine->pc);
#else
  return nullptr;
#endif
}

static void on_fault(int signal, siginfo_t* info, void* context) {
  // A positive code says that the processor raised it, not another process.
  bool is_ours = armed && info->si_code > 0 &&
                 pthread_equal(pthread_self(), launching_thread);
  if (!is_ours) return chain(signal, info, context);
  fault_signal = signal;
  fault_address = info->si_addr;
  fault_instruction = instruction(context);
  FaultTrap::leave();
}

FaultTrap::FaultTrap() {
  // The fault may be the overflow of the stack, so the handler needs another one.
  static void* const handler_stack = malloc(handler_stack_bytes);
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = handler_stack_bytes;
  sigaltstack(&stack, &saved_stack_);
  fault_signal = 0;
  fault_address = nullptr;
  fault_instruction = nullptr;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int signal : trapped_signals) sigaction(signal, &action, &previous[signal]);
}

FaultTrap::~FaultTrap() {
  for (int signal : trapped_signals) sigaction(signal, &previous[signal], nullptr);
  sigaltstack(&saved_stack_, nullptr);
}

void FaultTrap::arm() {
  launching_thread = pthread_self();
  armed = true;
}

void FaultTrap::disarm() { armed = false; }

bool FaultTrap::faulted() const { return fault_signal != 0; }

void* FaultTrap::address() const {
  return fault_signal == SIGSEGV || fault_signal == SIGBUS ? fault_address : nullptr;
}

uintptr_t FaultTrap::code_offset(void (*kernel)(void*)) const {
  Dl_info here, there;
  bool known = fault_instruction && dladdr(fault_instruction, &here) &&
               dladdr(reinterpret_cast<void*>(kernel), &there);
  if (!known || here.dli_fbase != there.dli_fbase) return 0;
  return reinterpret_cast<uintptr_t>(fault_instruction) -
         reinterpret_cast<uintptr_t>(here.dli_fbase);
}

const char* FaultTrap::description() const {
  if (fault_signal == SIGFPE) return "integer division by zero";
  // The trap instructions that -fsanitize=undefined puts in.
  if (fault_signal == SIGILL || fault_signal == SIGTRAP) return "undefined behaviour";
  return "illegal memory access";
}

}  // namespace shim
