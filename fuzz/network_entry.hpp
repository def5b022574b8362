#pragma once
/// One call that takes bytes for the description of a network, and checks that what is read is written and read to the
/// same. The fuzz target and the test that replays the corpus share it.
#include <stdexcept>
#include <string>
#include <string_view>

#include "nn/description.hpp"
#include "nn/program_text.hpp"
#include "support/error.hpp"

namespace tyche::fuzz {

/// An InputError is the right answer to nonsense; anything else is a finding.
inline void read_network(std::string_view text) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  };
  nn::ModelConfig config;
  try {
    config = nn::described(text, "fuzz");
  } catch (const InputError&) {
    return;
  }
  // Whatever was understood is one that engines can be given: on the data that it speaks of, it fits.
  const std::string whole = nn::to_toml(nn::open_program(text, config));
  require(nn::described(whole).kind == config.kind, "written and read again it is of another kind");
  require(nn::to_toml(nn::open_program(whole, config)) == whole, "written and read again it is another");
  config.network = whole;
  nn::fit(config);
  require(nn::program(config).parameters.size == nn::open_program(whole, config).parameters.size,
          "its program is another");
}

}  // namespace tyche::fuzz
