#pragma once
/// What a model on sets costs as graphs grow: pairs like EXP's with larger cores, whose regularity compresses well, or
/// random sparse graphs (1.2 edges per node), which have none.
///
///   for (const SetCost& row : set_costs({.largest = 200})) { ... row.rows, row.sets ... }
#include <cstdint>
#include <string>
#include <vector>

#include "nn/model.hpp"

namespace tyche::measure {

struct SetCostOptions {
  nn::ModelConfig model;        ///< gcn2, gcn3 or gcn123
  std::uint32_t largest = 200;  ///< nodes, about
  bool random = false;          ///< random graphs instead of pairs of EXP
  std::uint32_t pairs = 2;      ///< of each size
  std::string engine = "auto";
  unsigned threads = 0;
  /// Graphs with more sets are not timed uncompressed: their activations alone take 2.3 kB per set.
  std::uint64_t most_uncompressed = 600000;
};

/// Means over the graphs of a size.
struct SetCost {
  double nodes = 0;
  double sets = 0;                  ///< rows of a layer without compression
  double rows = 0;                  ///< rows of the last layer, each graph compressed on its own
  double all_sets = 0;              ///< sets × layers, summed over levels
  double all_rows = 0;              ///< rows over all layers in a batch of all graphs of the size
  double seconds = 0;               ///< of a training step, per graph
  double seconds_uncompressed = 0;  ///< 0: not measured
};

[[nodiscard]] std::vector<SetCost> set_costs(const SetCostOptions& options);

}  // namespace tyche::measure
