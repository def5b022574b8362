// libFuzzer target over the C interface: sequences of calls with null pointers, wrong sizes and freed handles.
//   cmake --preset fuzz && cmake --build --preset fuzz --target capi_fuzz
//   build-fuzz/fuzz/capi_fuzz -max_total_time=300 -malloc_limit_mb=1024 NEW_CORPUS
#include "capi_entry.hpp"

/// Inputs of every fourth length may make a slow call: they took more than half of the time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tyche::fuzz::CallSequence({reinterpret_cast<const char*>(data), size}, size % 4 == 0 ? 1 : 0).run();
  return 0;
}
