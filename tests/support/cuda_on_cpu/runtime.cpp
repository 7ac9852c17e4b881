// Runs the threads of a grid on one CPU thread: blocks one after another, and the
// threads of a block either in a loop or, if they meet, as fibers.
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "fault_trap.h"
#include "fiber.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace shim {

static constexpr unsigned warp_lanes = 32;
static constexpr unsigned max_threads = 1024;
static constexpr size_t page_bytes = 4096;
static constexpr int poison = 0xFF;

enum class State { runnable, at_block_barrier, at_warp_sync, exited };

struct Thread {
  Fiber fiber;
  uint3 index;
  State state;
  const char* what;
  int line;
  unsigned mask;
  uint64_t sent, received;
  int source;
};

// SplitMix64 (Steele, Lea and Flood 2014): small, and any seed is a good one.
struct Random {
  uint64_t state;

  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  template <class T>
  void shuffle(T* items, size_t count) {
    for (size_t i = count; i > 1; i--) std::swap(items[i - 1], items[next() % i]);
  }
};

// All of a launch's state is static: a failing launch leaves by siglongjmp, which
// runs no destructors.
static Thread threads[max_threads];
static Thread* current;
static bool inside_thread;
static unsigned thread_count;
static void (*kernel_entry)(void*);
static void* kernel_arguments;
static Random random_order;
static bool shuffled;
static uint64_t switches;
static char message[1024];

// ---- failing ----

static void append(const char* format, ...) {
  size_t used = strlen(message);
  va_list values;
  va_start(values, format);
  vsnprintf(message + used, sizeof message - used, format, values);
  va_end(values);
}

static void append_place() {
  append(" (block %u,%u,%u", blockIdx.x, blockIdx.y, blockIdx.z);
  if (inside_thread) {
    append(" thread %u,%u,%u", threadIdx.x, threadIdx.y, threadIdx.z);
  }
  append(")");
}

[[noreturn]] static void leave_launch() {
  append_place();
  FaultTrap::leave();
}

void fail(const char* text) {
  append("%s", text);
  leave_launch();
}

// ---- shared memory ----

static uint64_t block_serial;
static size_t shared_used;
static std::vector<SharedSlot*> block_slots;
static unsigned char* dynamic_memory;

static size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

static unsigned char* before_guard_page(size_t bytes) {
  size_t body = round_up(bytes, page_bytes);
  void* memory = mmap(nullptr, body + page_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail("the CPU has no memory left for shared memory");
  unsigned char* end = static_cast<unsigned char*>(memory) + body;
  mprotect(end, page_bytes, PROT_NONE);
  return end;
}

static void use_shared(size_t bytes) {
  shared_used += round_up(bytes, 16);
  if (shared_used <= max_shared_bytes) return;
  append("%zu bytes of shared memory in a block, the limit is %zu", shared_used,
         max_shared_bytes);
  leave_launch();
}

void* SharedSlot::get() {
  if (block_ == block_serial) return memory_;
  size_t rounded = round_up(bytes_, 16);
  if (!memory_) memory_ = before_guard_page(rounded) - rounded;
  block_ = block_serial;
  use_shared(bytes_);
  memset(memory_, poison, rounded);
  block_slots.push_back(this);
  return memory_;
}

bool SharedSlot::slack_is_intact() const {
  for (size_t i = bytes_; i < round_up(bytes_, 16); i++) {
    if (memory_[i] != poison) return false;
  }
  return true;
}

void* dynamic_shared() { return dynamic_memory; }

static void begin_block_memory(size_t dynamic_bytes) {
  static unsigned char* const dynamic_end = before_guard_page(max_shared_bytes);
  block_serial++;
  shared_used = 0;
  block_slots.clear();
  use_shared(dynamic_bytes);
  size_t rounded = round_up(dynamic_bytes, 16);
  dynamic_memory = dynamic_end - rounded;
  memset(dynamic_memory, poison, rounded);
}

static void check_block_memory() {
  for (const SharedSlot* slot : block_slots) {
    if (!slot->slack_is_intact()) fail("a shared array was written past its end");
  }
}

// ---- waiting ----

static void wait(State state, const char* what, int line) {
  if (!current) fail("a barrier in a kernel that was built without fibers");
  Thread* self = current;
  self->state = state;
  self->what = what;
  self->line = line;
  self->fiber.yield();
}

void sync_block(int line) { wait(State::at_block_barrier, "__syncthreads", line); }

uint64_t sync_warp(const char* what, unsigned mask, uint64_t sent, int source,
                   int line) {
  if (!(mask >> lane() & 1)) {
    append("%s at line %d: the calling lane is not in the mask 0x%08x", what, line,
           mask);
    leave_launch();
  }
  Thread* self = current;
  self->mask = mask;
  self->sent = sent;
  self->source = source;
  wait(State::at_warp_sync, what, line);
  return self->received;
}

unsigned lane() {
  unsigned linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return linear % warp_lanes;
}

// ---- scheduling ----

static unsigned lanes_of(unsigned warp) {
  return std::min(warp_lanes, thread_count - warp * warp_lanes);
}

static void check_same_call(const Thread& first, const Thread& other) {
  if (first.what == other.what && first.line == other.line &&
      first.mask == other.mask) {
    return;
  }
  append("lanes of one warp met at different calls: %s at line %d with mask 0x%08x, "
         "and %s at line %d with mask 0x%08x",
         first.what, first.line, first.mask, other.what, other.line, other.mask);
  leave_launch();
}

static uint64_t value_for(const Thread& receiver, const Thread* warp, unsigned lanes) {
  if (receiver.source >= 0) {
    unsigned source = receiver.source;
    bool takes_part = source < lanes && (receiver.mask >> source & 1);
    return takes_part ? warp[source].sent : ~uint64_t{0};
  }
  uint64_t ballot = 0;
  for (unsigned l = 0; l < lanes; l++) {
    bool votes = (receiver.mask >> l & 1) && warp[l].sent;
    ballot |= uint64_t{votes} << l;
  }
  return ballot;
}

static void release_mask(Thread* warp, unsigned lanes, unsigned members) {
  const Thread& first = warp[__builtin_ctz(members)];
  for (unsigned l = 0; l < lanes; l++) {
    if (!(members >> l & 1)) continue;
    check_same_call(first, warp[l]);
    warp[l].received = value_for(warp[l], warp, lanes);
  }
  for (unsigned l = 0; l < lanes; l++) {
    if (members >> l & 1) warp[l].state = State::runnable;
  }
}

// Lets go every group of lanes whose mask is complete.
static void release_warp(unsigned index) {
  Thread* warp = threads + index * warp_lanes;
  unsigned lanes = lanes_of(index);
  unsigned existing = lanes == warp_lanes ? ~0u : (1u << lanes) - 1;
  unsigned waiting = 0;
  for (unsigned l = 0; l < lanes; l++) {
    waiting |= unsigned{warp[l].state == State::at_warp_sync} << l;
  }
  while (waiting) {
    unsigned lowest = __builtin_ctz(waiting);
    unsigned members = warp[lowest].mask & existing;
    if ((waiting & members) == members) {
      release_mask(warp, lanes, members);
      waiting &= ~members;
    }
    waiting &= ~(1u << lowest);
  }
}

static unsigned count(State state) {
  return std::count_if(threads, threads + thread_count,
                       [state](const Thread& t) { return t.state == state; });
}

// One example for each place where threads wait, and how many wait there.
static void append_waiting() {
  std::vector<const Thread*> places;
  for (const Thread* t = threads; t != threads + thread_count; t++) {
    if (t->state == State::exited) continue;
    auto same = [t](const Thread* p) { return p->what == t->what && p->line == t->line; };
    if (std::any_of(places.begin(), places.end(), same)) continue;
    places.push_back(t);
    unsigned here = std::count_if(threads, threads + thread_count, [&](const Thread& o) {
      return o.state != State::exited && same(&o);
    });
    append("; %u at %s, line %d (thread %u,%u,%u)", here, t->what, t->line, t->index.x,
           t->index.y, t->index.z);
  }
}

[[noreturn]] static void fail_waiting(const char* problem) {
  append("%s: of %u threads %u have exited", problem, thread_count,
         count(State::exited));
  append_waiting();
  leave_launch();
}

static void release_block() {
  unsigned waiting = count(State::at_block_barrier);
  if (waiting + count(State::exited) != thread_count) fail_waiting("deadlock");
  if (waiting != thread_count) fail_waiting("barrier not reached by all threads");
  for (unsigned i = 0; i < thread_count; i++) {
    if (threads[i].line != threads[0].line) {
      fail_waiting("threads of one block met at different barriers");
    }
    threads[i].state = State::runnable;
  }
}

static void run_until_wait(Thread& thread) {
  current = &thread;
  threadIdx = thread.index;
  inside_thread = true;
  switches++;
  thread.fiber.resume();
  inside_thread = false;
  current = nullptr;
}

static bool run_lanes(unsigned index) {
  unsigned order[warp_lanes];
  unsigned lanes = lanes_of(index);
  for (unsigned l = 0; l < lanes; l++) order[l] = index * warp_lanes + l;
  if (shuffled) random_order.shuffle(order, lanes);
  bool ran = false;
  for (unsigned l = 0; l < lanes; l++) {
    if (threads[order[l]].state != State::runnable) continue;
    run_until_wait(threads[order[l]]);
    ran = true;
  }
  if (ran) release_warp(index);
  return ran;
}

// A warp that runs ahead goes on to the next barrier of the block before any other
// warp moves: that shows a barrier that is missing between a read and a write.
static bool run_warp(unsigned index, bool ahead) {
  bool ran = run_lanes(index);
  while (ran && ahead && run_lanes(index)) {
  }
  return ran;
}

static bool coin() { return shuffled && (random_order.next() & 1); }

static void fiber_main() {
  kernel_entry(kernel_arguments);
  current->state = State::exited;
  current->fiber.yield();
  __builtin_unreachable();
}

static uint3 index_in_block(unsigned linear) {
  return {linear % blockDim.x, linear / blockDim.x % blockDim.y,
          linear / blockDim.x / blockDim.y};
}

static void run_block_with_fibers() {
  unsigned warps[max_threads / warp_lanes];
  unsigned warp_count = (thread_count + warp_lanes - 1) / warp_lanes;
  for (unsigned w = 0; w < warp_count; w++) warps[w] = w;
  for (unsigned i = 0; i < thread_count; i++) {
    threads[i].index = index_in_block(i);
    threads[i].state = State::runnable;
    threads[i].fiber.start(fiber_main);
  }
  bool run_ahead = coin();
  while (count(State::exited) != thread_count) {
    if (shuffled) random_order.shuffle(warps, warp_count);
    bool ran = false;
    for (unsigned w = 0; w < warp_count; w++) ran |= run_warp(warps[w], run_ahead);
    if (!ran && count(State::exited) != thread_count) {
      release_block();
      run_ahead = coin();
    }
  }
}

static void run_block_in_a_loop() {
  static unsigned order[max_threads];
  for (unsigned i = 0; i < thread_count; i++) order[i] = i;
  if (shuffled) random_order.shuffle(order, thread_count);
  inside_thread = true;
  for (unsigned i = 0; i < thread_count; i++) {
    threadIdx = index_in_block(order[i]);
    kernel_entry(kernel_arguments);
  }
  inside_thread = false;
}

static void run_block(uint64_t linear, const Request& request) {
  blockIdx = {unsigned(linear % gridDim.x), unsigned(linear / gridDim.x % gridDim.y),
              unsigned(linear / gridDim.x / gridDim.y)};
  begin_block_memory(request.dynamic_shared);
  if (request.fibers) {
    run_block_with_fibers();
  } else {
    run_block_in_a_loop();
  }
  check_block_memory();
}

static void run_grid(const Request& request) {
  uint64_t blocks = uint64_t{gridDim.x} * gridDim.y * gridDim.z;
  if (!shuffled) {
    for (uint64_t linear = 0; linear < blocks; linear++) run_block(linear, request);
    return;
  }
  static std::vector<uint64_t> order;
  order.resize(blocks);
  for (uint64_t i = 0; i < blocks; i++) order[i] = i;
  random_order.shuffle(order.data(), blocks);
  for (uint64_t linear : order) run_block(linear, request);
}

// ---- launching ----

// CuPy compiles with -ftz=true: float32 denormals are zero going in and coming out.
class FlushDenormals {
#if defined(__x86_64__)
  unsigned saved_ = __builtin_ia32_stmxcsr();

 public:
  FlushDenormals() { __builtin_ia32_ldmxcsr(saved_ | 0x8040); }
  ~FlushDenormals() { __builtin_ia32_ldmxcsr(saved_); }
#elif defined(__aarch64__)
  uint64_t saved_;

 public:
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" ::"r"(saved_ | 1u << 24));
  }
  ~FlushDenormals() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }
#endif
};

static void begin_launch(void (*kernel)(void*), void* arguments,
                         const Request& request) {
  gridDim = dim3(request.grid[0], request.grid[1], request.grid[2]);
  blockDim = dim3(request.block[0], request.block[1], request.block[2]);
  thread_count = blockDim.x * blockDim.y * blockDim.z;
  kernel_entry = kernel;
  kernel_arguments = arguments;
  random_order.state = request.seed;
  shuffled = request.seed != 0;
  switches = 0;
  message[0] = 0;
  current = nullptr;
  inside_thread = false;
}

static void describe_fault(const FaultTrap& trap) {
  bool overflow = current && current->fiber.is_overflow(trap.address());
  append("%s", overflow ? "stack overflow" : trap.description());
  append_place();
}

int launch(void (*kernel)(void*), void* arguments, const Request& request,
           Report& report) {
  begin_launch(kernel, arguments, request);
  FaultTrap trap;
  FlushDenormals flush;
  bool completed = sigsetjmp(FaultTrap::landing, 1) == 0;
  if (completed) {
    trap.arm();
    run_grid(request);
  }
  trap.disarm();
  if (trap.faulted()) describe_fault(trap);
  report.failed = !completed;
  report.switches = switches;
  report.address = reinterpret_cast<uint64_t>(trap.address());
  report.code_offset = trap.code_offset(kernel);
  memcpy(report.message, message, sizeof message);
  return report.failed;
}

}  // namespace shim
