#pragma once
/// --device, --engine-path and --precision, the same in every command that runs models.
#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace tyche::cli {

struct DeviceOptions {
  std::optional<std::string> device;
  std::optional<std::string> path;
  std::optional<std::string> precision;

  void add(CLI::App& app);
  /// The engine (engine::make_engine) that the call asks for: `otherwise` where it says nothing. Throws InputError
  /// where the options contradict each other.
  [[nodiscard]] std::string engine_name(const std::string& otherwise) const;
};

}  // namespace tyche::cli
