// libFuzzer target over the C interface: sequences of calls with null pointers, wrong sizes and freed handles.
//   cmake --preset fuzz && cmake --build --preset fuzz --target capi_fuzz
//   build-fuzz/fuzz/capi_fuzz -max_total_time=300 -malloc_limit_mb=1024 NEW_CORPUS
#include "capi_entry.hpp"

namespace {
int processors = 1;
}

/// The C library's: calls ask it how many threads to start where they are not told, and starting them took a sixth of
/// the time.
extern "C" int get_nprocs() { return processors; }

/// Inputs of every fourth length may make a slow call, which took more than half of the time, and have two processors.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bool slow = size % 4 == 0;
  processors = slow ? 2 : 1;
  tyche::fuzz::CallSequence({reinterpret_cast<const char*>(data), size}, slow).run();
  return 0;
}
