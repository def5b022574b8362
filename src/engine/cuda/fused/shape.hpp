#pragma once
/// How a job lies on the device: padded width, shared memory, the order of parameters.
///
///   if (const std::string why = refusal(job); why.empty()) { const Shape shape = shape_of(job); ... }
#include <span>
#include <string>
#include <vector>

#include "engine/core/job.hpp"
#include "engine/cuda/fused/args.cuh"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

struct Shape {
  int width = 0;  ///< padded: 32, 64 or 128
  Model model{};
  Shared shared{};
  int rows_most = 0;     ///< rows a unit may have, a multiple of 16
  int edges_most = 0;    ///< directed edges a unit may have
  bool any_two = false;  ///< whether any two graphs of the job can be one unit
  const Kernels* kernels = nullptr;
  /// For every parameter in layout order: its place among a trial's parameters, and that of its copy for forward
  /// products (kNone for small parameters).
  std::vector<unsigned> places;
  std::vector<unsigned> copies;
  std::vector<unsigned> factor_pairs;  ///< see Args

  /// Of every graph of the job, for batches are cut into units in every epoch.
  std::vector<unsigned> nodes, edges;

  /// Whether these two can.
  [[nodiscard]] bool together(std::uint32_t one, std::uint32_t two) const {
    return nodes[one] + nodes[two] <= static_cast<unsigned>(rows_most) &&
           2 * (edges[one] + edges[two]) <= static_cast<unsigned>(edges_most);
  }
};

/// Why the job cannot run fused; empty: it can. Requires a valid job.
[[nodiscard]] std::string refusal(const Job& job);

/// Throws InputError with the refusal where there is one.
[[nodiscard]] Shape shape_of(const Job& job);

/// The batch as units: large graphs with small ones, the units with the most tiles first. A unit's places are adjacent.
[[nodiscard]] std::vector<Unit> batch_units(const Shape& shape, std::span<const std::uint32_t> graphs);
/// The same for graphs to test: places are the positions in `graphs`.
[[nodiscard]] std::vector<Unit> test_units(const Shape& shape, std::span<const std::uint32_t> graphs);

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
