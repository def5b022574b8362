// libFuzzer target over what training reads besides graphs: .npy matrices, run configurations, metrics lines,
// splits.
//   cmake --preset fuzz && cmake --build --preset fuzz --target run_files_fuzz
//   build-fuzz/fuzz/run_files_fuzz -max_total_time=60 -malloc_limit_mb=256 NEW_CORPUS
#include <cstdint>
#include <string_view>

#include "datasets/split.hpp"
#include "support/error.hpp"
#include "support/npy.hpp"
#include "train/config.hpp"
#include "train/metrics.hpp"

namespace {

/// An InputError is the right answer to nonsense; anything else is a finding.
template <class Reader>
void answers(Reader reader) {
  try {
    reader();
  } catch (const tyche::InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  answers([&] { (void)tyche::parse_npy_matrix(bytes, "x.npy"); });
  answers([&] { (void)tyche::train::config_from_toml(bytes, "config.toml"); });
  answers([&] { (void)tyche::train::parse_record(bytes, "metrics.jsonl", 1); });
  answers([&] { (void)tyche::datasets::parse_split(bytes, "split.json", 16); });
  answers([&] { (void)tyche::datasets::parse_indices(bytes, "train.txt", 16); });
  return 0;
}
