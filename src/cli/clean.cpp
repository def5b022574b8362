#include "cli/clean.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace tyche::cli {

void say_cleaned(const std::string& path, const Cleaning& cleaning) {
  fmt::print(stderr, "tyche: {}: --clean {}\n", path, cleaning.in_words());
}

}  // namespace tyche::cli
