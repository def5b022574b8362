#pragma once
/// One call that takes bytes for a file that training reads besides graphs, and checks what every such reader promises.
/// The fuzz target and the test that replays the corpus share it.
#include <stdexcept>
#include <string>
#include <string_view>

#include "datasets/split.hpp"
#include "experiments/experiment.hpp"
#include "support/error.hpp"
#include "support/npy.hpp"
#include "support/safetensors.hpp"
#include "train/config.hpp"
#include "train/metrics.hpp"

namespace tyche::fuzz {

/// What was read and written once is read and written to the same text. The readers: n an .npy matrix, c the
/// configuration of a run, m a line of metrics, s a split, i a list of graphs, t tensors, e an experiment.
inline void read_run_file_as(char kind, std::string_view bytes) {
  const auto require_same = [](const std::string& once, const std::string& again) {
    if (once != again) throw std::logic_error("written and read again it is another");
  };
  switch (kind) {
    case 'n':
      (void)parse_npy_matrix(bytes, "fuzz");
      break;
    case 'c': {
      const std::string text = train::to_toml(train::config_from_toml(bytes, "fuzz"));
      require_same(text, train::to_toml(train::config_from_toml(text, "again")));
      break;
    }
    case 'm': {
      const std::string line = train::to_line(train::parse_record(bytes, "fuzz", 1));
      require_same(line, train::to_line(train::parse_record(line, "again", 1)));
      break;
    }
    case 's':
      (void)datasets::parse_split(bytes, "fuzz", 16);
      break;
    case 'i':
      (void)datasets::parse_indices(bytes, "fuzz", 16);
      break;
    case 't': {
      const std::string file = TensorFile::parse(bytes, "fuzz").serialise();
      require_same(file, TensorFile::parse(file, "again").serialise());
      break;
    }
    case 'e':
      (void)experiments::load_experiments({"fuzz", std::string(bytes), "/nowhere"}, "paper");
      break;
    default:
      break;
  }
}

/// The first byte says which file the rest is. An InputError is the right answer to nonsense; anything else is a
/// finding.
inline void read_run_file(std::string_view input) {
  if (input.empty()) return;
  try {
    read_run_file_as(input[0], input.substr(1));
  } catch (const InputError&) {
  }
}

}  // namespace tyche::fuzz
