#include "cli/device.hpp"

#include "engine/choice.hpp"
#include "support/error.hpp"

namespace tyche::cli {

void DeviceOptions::add(CLI::App& app) {
  app.add_option("--device", device, "cpu, cuda, or auto: a GPU where the build has the engine and one answers")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->default_str("auto");
  app.add_option("--engine-path", path, "On a GPU: fused (small graphs, all at once), layerwise, or auto")
      ->check(CLI::IsMember({"auto", "fused", "layerwise"}))
      ->default_str("auto");
  app.add_option("--precision", precision, "On a GPU: mixed (half-precision products, fp32 sums) or fp32")
      ->check(CLI::IsMember({"mixed", "fp32"}))
      ->default_str("mixed");
}

std::string DeviceOptions::engine_name(const std::string& otherwise) const {
  const bool gpu_options = path.value_or("auto") != "auto" || precision.value_or("mixed") != "mixed";
  if (!device && !gpu_options) return otherwise;
  const std::string where = device.value_or("cuda");
  if (where != "cuda") {
    if (gpu_options) throw InputError("--engine-path and --precision are for --device cuda");
    return where;
  }
  using engine::EngineChoice;
  EngineChoice choice;
  choice.device = EngineChoice::Device::cuda;
  if (path.value_or("auto") == "fused") choice.path = EngineChoice::Path::fused;
  if (path.value_or("auto") == "layerwise") choice.path = EngineChoice::Path::layerwise;
  if (precision.value_or("mixed") == "fp32") choice.precision = EngineChoice::Precision::fp32;
  return choice.name();
}

}  // namespace tyche::cli
