#pragma once
/// Which engine is meant, and its name: the one place where names such as "cuda-layerwise-fp32" are put together and
/// taken apart.
///
///   EngineChoice choice("cuda-fp32");
///   choice.path = EngineChoice::Path::layerwise;
///   choice.name()                                       // "cuda-layerwise-fp32"
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/job.hpp"

namespace tyche::engine {

struct EngineChoice {
  enum class Device { automatic, cpu, reference, cuda };
  using Path = GpuPath;
  using Precision = engine::Precision;

  Device device = Device::automatic;
  Path path = Path::by_job;                ///< cuda
  Precision precision = Precision::mixed;  ///< cuda
  std::string kernels{};                   ///< cpu: "portable", "avx2", …; empty: the best here

  EngineChoice() = default;
  /// Throws InputError on a name of no engine there could be; whether there is one here, make_engine() says.
  explicit EngineChoice(std::string_view name);

  [[nodiscard]] std::string name() const;
  /// Whether it runs on a GPU, here and now: trials of a group train in lockstep then, and cutting groups up makes them
  /// slower.
  [[nodiscard]] bool on_gpu() const;
};

/// What a call says of the engine in words: --device and its kin.
struct AskedEngine {
  std::optional<std::string> device, path, precision;  ///< nothing: not said

  /// The name of the engine that is asked for: `otherwise` where nothing is said. Throws InputError on other words, and
  /// where they contradict each other.
  [[nodiscard]] std::string name(const std::string& otherwise) const;
};

/// As make_engine() of a name.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const EngineChoice& choice, unsigned threads);

}  // namespace tyche::engine
