// libFuzzer target over the C interface: sequences of calls with null pointers, wrong sizes and freed handles.
//   cmake --preset fuzz && cmake --build --preset fuzz --target capi_fuzz
//   build-fuzz/fuzz/capi_fuzz -max_total_time=300 -malloc_limit_mb=1024 NEW_CORPUS
#include "capi_entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tyche::fuzz::CallSequence({reinterpret_cast<const char*>(data), size}).run();
  return 0;
}
