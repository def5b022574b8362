// libFuzzer target over the reader of packed data sets.
//   cmake --preset fuzz && cmake --build --preset fuzz --target packed_fuzz
//   build-fuzz/fuzz/packed_fuzz -max_total_time=300 -malloc_limit_mb=256 NEW_CORPUS tests/data/fuzz/packed
#include "packed_entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tyche::fuzz::read_packed({reinterpret_cast<const char*>(data), size});
  return 0;
}
