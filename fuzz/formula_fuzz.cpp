// libFuzzer target over formulas: what parses prints back to itself, and network and model checker agree.
//   cmake --preset fuzz && cmake --build --preset fuzz --target formula_fuzz
//   build-fuzz/fuzz/formula_fuzz -max_total_time=300 -max_len=300
#include "formula_entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tyche::fuzz::read_formula({reinterpret_cast<const char*>(data), size});
  return 0;
}
