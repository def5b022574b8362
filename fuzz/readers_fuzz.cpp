// libFuzzer target over all readers of graph files.
//   cmake --preset fuzz && cmake --build --preset fuzz --target readers_fuzz
//   build-fuzz/fuzz/readers_fuzz -max_total_time=300 -malloc_limit_mb=256 NEW_CORPUS tests/data/fuzz/readers
#include "readers_entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tyche::fuzz::read_anything({reinterpret_cast<const char*>(data), size});
  return 0;
}
