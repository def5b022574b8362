#include "cli/device.hpp"

namespace tyche::cli {

void DeviceOptions::add(CLI::App& app) {
  app.add_option("--device", asked.device, "cpu, cuda, or auto: a GPU where the build has the engine and one answers")
      ->check(CLI::IsMember(engine::AskedEngine::kDevices))
      ->default_str("auto");
  app.add_option("--engine-path", asked.path, "On a GPU: fused (small graphs, all at once), layerwise, or auto")
      ->check(CLI::IsMember(engine::AskedEngine::kPaths))
      ->default_str("auto");
  app.add_option("--precision", asked.precision, "On a GPU: mixed (half-precision products, fp32 sums) or fp32")
      ->check(CLI::IsMember(engine::AskedEngine::kPrecisions))
      ->default_str("mixed");
}

}  // namespace tyche::cli
