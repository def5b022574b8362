// Part of the emulated library (tests/CMakeLists.txt) alone.
#include "engine_cuda/emulator/emulate.hpp"

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <memory>
#include <vector>

#include "support/error.hpp"

namespace tyche::engine::cuda_emulated::emulation {

namespace {

constexpr std::size_t kStack = 128 * 1024;

enum class Wait { none, warp, block, done };

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  std::size_t group;
};

struct Fibre {
  unsigned thread = 0;
  Wait wait = Wait::none;
  bool started = false;
  jmp_buf place;
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  std::vector<Copy> copies;
  std::size_t copy_group = 0;
};

struct Machine {
  std::vector<std::unique_ptr<Fibre>> fibres;
  Fibre* current = nullptr;
  jmp_buf scheduler;
  ucontext_t home;
  const std::function<void()>* body = nullptr;
  std::vector<unsigned char> slots;
  std::unique_ptr<char[]> shared_store;
  std::size_t shared_size = 0, shared_capacity = 0;
  char* shared = nullptr;
  Index block, threads, blocks;
};

Machine& machine() {
  static thread_local Machine the;
  return the;
}

void to_scheduler(Wait wait) {
  Machine& m = machine();
  m.current->wait = wait;
  if (_setjmp(m.current->place) == 0) _longjmp(m.scheduler, 1);
}

void entry() {
  Machine& m = machine();
  (*m.body)();
  to_scheduler(Wait::done);
}

void resume(Machine& m, Fibre& fibre) {
  m.current = &fibre;
  if (_setjmp(m.scheduler) != 0) return;
  if (fibre.started) _longjmp(fibre.place, 1);
  fibre.started = true;
  getcontext(&fibre.context);
  fibre.context.uc_stack.ss_sp = fibre.stack.get();
  fibre.context.uc_stack.ss_size = kStack;
  fibre.context.uc_link = nullptr;
  makecontext(&fibre.context, entry, 0);
  setcontext(&fibre.context);
}

// Lets those go on whose barrier is complete. Returns whether any can run.
bool release_barriers(Machine& m, unsigned threads) {
  bool all_block = true, any = false;
  for (unsigned first = 0; first < threads; first += 32) {
    bool all_warp = true;
    for (unsigned i = first; i < std::min(first + 32, threads); ++i) {
      const Wait wait = m.fibres[i]->wait;
      all_warp = all_warp && wait == Wait::warp;
      all_block = all_block && (wait == Wait::block || wait == Wait::done);
      any = any || wait == Wait::none;
    }
    for (unsigned i = first; all_warp && i < std::min(first + 32, threads); ++i) {
      m.fibres[i]->wait = Wait::none;
      any = true;
    }
  }
  for (unsigned i = 0; all_block && i < threads; ++i) {
    if (m.fibres[i]->wait == Wait::block) {
      m.fibres[i]->wait = Wait::none;
      any = true;
    }
  }
  return any;
}

void run_block(Machine& m, unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) {
    Fibre& fibre = *m.fibres[i];
    fibre.thread = i;
    fibre.wait = Wait::none;
    fibre.started = false;
    fibre.copies.clear();
    fibre.copy_group = 0;
  }
  std::memset(m.shared, 0xff, m.shared_size);
  unsigned turn = 0;
  do {
    // Forwards and backwards by turns: what depends on the order of threads between barriers shows.
    for (unsigned i = 0; i < threads; ++i) {
      Fibre& fibre = *m.fibres[turn % 2 == 0 ? i : threads - 1 - i];
      if (fibre.wait == Wait::none) resume(m, fibre);
    }
    ++turn;
  } while (release_barriers(m, threads));
  for (unsigned i = 0; i < threads; ++i) {
    if (m.fibres[i]->wait != Wait::done) {
      std::fprintf(stderr, "emulated kernel: thread %u of block %u waits at a barrier that others never reach\n", i,
                   m.block.x);
      std::abort();
    }
  }
}

}  // namespace

void run(unsigned blocks, unsigned threads, std::size_t shared_bytes, const std::function<void()>& body) {
  if (threads % 32 != 0 || threads == 0 || threads > 1024) throw Error("a block must have whole warps, at most 32");
  if (shared_bytes > 227 * 1024) throw Error("more shared memory asked for than a block can have");
  Machine& m = machine();
  while (m.fibres.size() < threads) {
    m.fibres.push_back(std::make_unique<Fibre>());
    m.fibres.back()->stack.reset(new char[kStack]);
  }
  m.slots.resize(threads / 32 * 32 * kSlot);
  if (m.shared_store == nullptr || m.shared_capacity < shared_bytes) {
    m.shared_capacity = shared_bytes;
    m.shared_store.reset(new char[shared_bytes + 2048]);
  }
  m.shared_size = shared_bytes;
  m.shared = m.shared_store.get() + (1024 - reinterpret_cast<std::uintptr_t>(m.shared_store.get()) % 1024);
  m.body = &body;
  m.threads.x = threads;
  m.blocks.x = blocks;
  for (unsigned b = 0; b < blocks; ++b) {
    m.block.x = b;
    run_block(m, threads);
  }
  m.current = nullptr;
}

Index thread_index() { return {machine().current->thread}; }
Index block_index() { return machine().block; }
Index block_size() { return machine().threads; }
Index grid_size() { return machine().blocks; }
char* shared_memory() { return machine().shared; }
void block_barrier() { to_scheduler(Wait::block); }
void warp_barrier() { to_scheduler(Wait::warp); }
unsigned char* warp_slots() {
  Machine& m = machine();
  return m.slots.data() + m.current->thread / 32 * 32 * kSlot;
}

float half_value(HalfBits bits) {
  static const std::vector<float> table = [] {
    std::vector<float> values(65536);
    for (unsigned h = 0; h < 65536; ++h) {
      const int exponent = static_cast<int>(h >> 10 & 31);
      const float fraction = static_cast<float>(h & 1023);
      float value;
      if (exponent == 31) {
        value = fraction == 0 ? INFINITY : NAN;
      } else {
        value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      }
      values[h] = (h & 0x8000u) != 0 ? -value : value;
    }
    return values;
  }();
  return table[bits];
}

HalfBits half_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const unsigned sign = bits >> 16 & 0x8000u;
  const float size = std::fabs(value);
  if (std::isnan(value)) return static_cast<HalfBits>(sign | 0x7e00u);
  if (size >= 65520.0f) return static_cast<HalfBits>(sign | 0x7c00u);
  if (size < 0x1p-14f) return static_cast<HalfBits>(sign | static_cast<unsigned>(std::nearbyint(size * 0x1p24f)));
  bits &= 0x7fffffffu;
  bits += 0xfffu + (bits >> 13 & 1);  // to nearest, ties to even
  return static_cast<HalfBits>(sign | ((bits >> 13) - (112u << 10)));
}

void copy_later(void* to, const void* from, std::size_t bytes) {
  Fibre& fibre = *machine().current;
  std::memset(to, 0xff, bytes);  // until the copy is waited for, nobody may count on what is there
  fibre.copies.push_back({to, from, bytes, fibre.copy_group});
}
void copy_commit() { ++machine().current->copy_group; }
void copy_wait(std::size_t groups_left) {
  Fibre& fibre = *machine().current;
  std::size_t kept = 0;
  for (const Copy& copy : fibre.copies) {
    if (copy.group + groups_left < fibre.copy_group) {
      std::memcpy(copy.to, copy.from, copy.bytes);
    } else {
      fibre.copies[kept++] = copy;
    }
  }
  fibre.copies.resize(kept);
}

}  // namespace tyche::engine::cuda_emulated::emulation
