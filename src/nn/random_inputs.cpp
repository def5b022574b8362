#include "nn/random_inputs.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "support/error.hpp"

namespace tyche::nn {

std::uint32_t default_depth(Random random) {
  return random == Random::features || random == Random::colours ? kLeaf : 1;
}

std::uint32_t drawn_columns(Random random, std::uint32_t depth) {
  switch (random) {
    case Random::features:
      return 0;
    case Random::colours:
      return kColourColumns;
    default:
      return depth;
  }
}

void code_of(Random random, std::uint32_t number, std::span<float> out) {
  if (random != Random::colours) {
    std::ranges::fill(out, 0.0f);
    if (number > 0) out[number - 1] = 1;
    return;
  }
  constexpr double kShortest = 2, kLongest = 64;
  const std::size_t periods = out.size() / 2;
  for (std::size_t i = 0; i < periods; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(periods - 1);
    const double period = kShortest * std::pow(kLongest / kShortest, exponent);
    const double turn = 2 * std::numbers::pi * std::fmod(number, period) / period;
    out[2 * i] = static_cast<float>(std::sin(turn));
    out[2 * i + 1] = static_cast<float>(std::cos(turn));
  }
}

void validate_depth(Random random, std::uint32_t depth) {
  const auto shown = [](std::uint32_t value) { return value == kLeaf ? "leaf" : std::to_string(value); };
  if (random == Random::features) {
    if (depth != kLeaf) {
      throw InputError("model: depth is {}, but random features have none; it belongs to marks and colours",
                       shown(depth));
    }
    return;
  }
  if (depth == 0) {
    throw InputError("model: depth is 0, expected at least 1 for random {}", name(random));
  }
  if (random != Random::colours && depth > kMostMarks) {
    throw InputError("model: depth is {}, expected 1 to {} for random {}: every mark has a column", shown(depth),
                     kMostMarks, name(random));
  }
}

}  // namespace tyche::nn
