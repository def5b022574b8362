#pragma once
/// The step of a network by its name.
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "nn/program.hpp"

namespace tyche::nn {

inline std::size_t step_called(const Program& program, std::string_view name) {
  const auto found = std::ranges::find(program.steps, name, &Step::name);
  if (found == program.steps.end()) throw std::out_of_range("no step " + std::string(name));
  return static_cast<std::size_t>(found - program.steps.begin());
}

}  // namespace tyche::nn
