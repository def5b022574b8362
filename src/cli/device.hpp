#pragma once
/// --device, --engine-path and --precision, the same in every command that runs models.
#include <CLI/CLI.hpp>
#include <string>

#include "engine/choice.hpp"

namespace tyche::cli {

struct DeviceOptions {
  engine::AskedEngine asked;

  void add(CLI::App& app);
  [[nodiscard]] std::string engine_name(const std::string& otherwise) const { return asked.name(otherwise); }
};

}  // namespace tyche::cli
