// libFuzzer target over descriptions of networks: refused by line, or written and read again to the same.
//   cmake --preset fuzz && cmake --build --preset fuzz --target network_fuzz
//   build-fuzz/fuzz/network_fuzz -max_total_time=300 -max_len=4096
#include "network_entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tyche::fuzz::read_network({reinterpret_cast<const char*>(data), size});
  return 0;
}
