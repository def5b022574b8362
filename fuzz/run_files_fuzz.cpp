// libFuzzer target over what training reads besides graphs. The first byte says which file the rest is: n an .npy
// matrix, c the configuration of a run, m a line of metrics, s a split, i a list of graphs, t tensors, e an experiment.
//   cmake --preset fuzz && cmake --build --preset fuzz --target run_files_fuzz
//   build-fuzz/fuzz/run_files_fuzz -max_total_time=60 -malloc_limit_mb=256 NEW_CORPUS tests/data/fuzz/run_files
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "datasets/split.hpp"
#include "experiments/experiment.hpp"
#include "support/error.hpp"
#include "support/npy.hpp"
#include "support/safetensors.hpp"
#include "train/config.hpp"
#include "train/metrics.hpp"

namespace {

using namespace tyche;

/// What was read and written once is read and written to the same text.
void read(char kind, std::string_view bytes) {
  switch (kind) {
    case 'n':
      (void)parse_npy_matrix(bytes, "x.npy");
      break;
    case 'c': {
      const std::string text = train::to_toml(train::config_from_toml(bytes, "config.toml"));
      if (train::to_toml(train::config_from_toml(text, "again.toml")) != text) std::abort();
      break;
    }
    case 'm': {
      const std::string line = train::to_line(train::parse_record(bytes, "metrics.jsonl", 1));
      if (train::to_line(train::parse_record(line, "again.jsonl", 1)) != line) std::abort();
      break;
    }
    case 's':
      (void)datasets::parse_split(bytes, "split.json", 16);
      break;
    case 'i':
      (void)datasets::parse_indices(bytes, "train.txt", 16);
      break;
    case 't': {
      const std::string file = TensorFile::parse(bytes, "x.safetensors").serialise();
      if (TensorFile::parse(file, "again.safetensors").serialise() != file) std::abort();
      break;
    }
    case 'e':
      (void)experiments::parse_experiments(bytes, "x.toml", "paper", "/nowhere");
      break;
    default:
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    read(bytes[0], bytes.substr(1));
  } catch (const InputError&) {  // the right answer to nonsense; anything else is a finding
  }
  return 0;
}
