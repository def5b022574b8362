#include "engine/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
    throw InputError(fmt::format("no engine '{}' in this build on this machine; there are {}", name,
                                 fmt::join(engine_names(), ", ")));
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

bool EngineChoice::on_gpu() const {
  return device == Device::cuda || (device == Device::automatic && gpu_state().usable);
}

}  // namespace tyche::engine
