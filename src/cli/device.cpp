#include "cli/device.hpp"

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
  std::string name = "cuda";
  if (path.value_or("auto") != "auto") name += "-" + *path;
  if (precision.value_or("mixed") == "fp32") name += "-fp32";
  return name;
}

}  // namespace tyche::cli
