#pragma once
/// How the cost of training grows with the graphs.
#include <cstdint>
#include <string>
#include <vector>

#include "nn/model.hpp"

namespace tyche::measure {

/// The cost of a training epoch on random graphs as they grow: single graphs of 1,000 to `largest` nodes with five
/// edges per node, the same nodes in graphs of EXP's size, and the edges alone growing.
struct ScalingRow {
  std::string kind;  ///< "one graph", "small graphs", "more edges"
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  double seconds_per_epoch = 0;
  double nanoseconds_per_node = 0;
  double peak_memory_mb = 0;  ///< of the process so far; rows are in ascending size
};
[[nodiscard]] std::vector<ScalingRow> bench_scaling(const nn::ModelConfig& model, const std::string& engine,
                                                    unsigned threads, std::uint64_t largest);

}  // namespace tyche::measure
