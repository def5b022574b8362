#include "engine/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/engine.hpp"
#include "support/error.hpp"

namespace tyche::engine {

namespace {

/// Takes a part ("-fused") off the front of what is left of a name.
bool take(std::string_view& rest, std::string_view part) {
  if (!rest.starts_with(part)) return false;
  rest.remove_prefix(part.size());
  return true;
}

}  // namespace

EngineChoice::EngineChoice(std::string_view name) {
  std::string_view rest = name;
  if (take(rest, "auto")) {
    device = Device::automatic;
  } else if (take(rest, "reference")) {
    device = Device::reference;
  } else if (take(rest, "cpu")) {
    device = Device::cpu;
    if (take(rest, "-")) {
      kernels = rest;
      rest = {};
    }
  } else if (take(rest, "cuda")) {
    device = Device::cuda;
    if (take(rest, "-fused")) {
      path = Path::fused;
    } else if (take(rest, "-layerwise")) {
      path = Path::layerwise;
    }
    if (take(rest, "-fp32")) precision = Precision::fp32;
  }
  if (name.empty() || this->name() != name) {
    throw InputError("no engine '{}' in this build on this machine; there are {}", name,
                     fmt::join(engine_names(), ", "));
  }
}

std::string EngineChoice::name() const {
  switch (device) {
    case Device::automatic:
      return "auto";
    case Device::reference:
      return "reference";
    case Device::cpu:
      return kernels.empty() ? "cpu" : "cpu-" + kernels;
    case Device::cuda:
      break;
  }
  std::string text = "cuda";
  if (path == Path::fused) text += "-fused";
  if (path == Path::layerwise) text += "-layerwise";
  if (precision == Precision::fp32) text += "-fp32";
  return text;
}

std::string AskedEngine::name(const std::string& otherwise) const {
  const auto check = [](const char* what, const std::optional<std::string>& said,
                        const std::vector<std::string>& known) {
    if (!said || std::find(known.begin(), known.end(), *said) != known.end()) return;
    throw InputError("{}: expected one of {}, found '{}'", what, fmt::join(known, ", "), *said);
  };
  check("device", device, kDevices);
  check("engine path", path, kPaths);
  check("precision", precision, kPrecisions);
  const bool for_gpu = path.value_or("auto") != "auto" || precision.value_or("mixed") != "mixed";
  if (!device && !for_gpu) return otherwise;
  if (device.value_or("cuda") != "cuda") {
    if (for_gpu) throw InputError("engine path and precision are for the device cuda, not {}", *device);
    return *device;
  }
  EngineChoice choice;
  choice.device = EngineChoice::Device::cuda;
  if (path == "fused") choice.path = EngineChoice::Path::fused;
  if (path == "layerwise") choice.path = EngineChoice::Path::layerwise;
  if (precision == "fp32") choice.precision = EngineChoice::Precision::fp32;
  return choice.name();
}

bool EngineChoice::on_gpu() const {
  return device == Device::cuda || (device == Device::automatic && gpu_state().usable);
}

}  // namespace tyche::engine
