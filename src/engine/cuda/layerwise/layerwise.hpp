#pragma once
/// The layer-wise path: a kernel per layer over the rows of a whole batch, for graphs of any size and any network.
///
/// Rows and messages of every graph are built once (graph_blocks.hpp) and stay on the device; an epoch is queued
/// without waiting for it, several epochs at a time. Two trials run side by side where memory allows, so that the chip
/// is not idle while one of them is looked at; each has a stream and memory of its own, and its bits do not depend on
/// the other.
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cuda/path.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

struct LayerwiseOptions {
  Precision precision = Precision::mixed;
  unsigned threads = 0;            ///< that prepare data on the host; 0: all cores
  std::uint64_t passes = 1;        ///< how often each graph will be drawn, at least (Engine::open)
  double chunk_seconds = 0.25;     ///< about how long to work between two looks at the host
  std::uint32_t chunk_epochs = 0;  ///< instead: exactly this many epochs
  unsigned lanes = 2;              ///< trials side by side, at most
  /// For tests: where gradient() leaves the rows whose values were the maxima (graphs × pooled columns; of the graph's
  /// own numbers). Rows that are equal to half precision may win in another order than in single precision.
  std::vector<std::uint32_t>* winners = nullptr;
  /// For tests: instead of the network of the job's model.
  const nn::Program* program = nullptr;
};

[[nodiscard]] std::unique_ptr<Path> make_layerwise_path(const LayerwiseOptions& options);

}  // namespace tyche::engine::TYCHE_CUDA_NS
