// libFuzzer target over what training reads besides graphs: matrices, configurations, metrics, splits, tensors,
// experiments.
//   cmake --preset fuzz && cmake --build --preset fuzz --target run_files_fuzz
//   build-fuzz/fuzz/run_files_fuzz -max_total_time=60 -malloc_limit_mb=256 NEW_CORPUS tests/data/fuzz/run_files
#include <cstdint>

#include "run_files_entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tyche::fuzz::read_run_file({reinterpret_cast<const char*>(data), size});
  return 0;
}
