#pragma once
/// Where a fold begins, and what is said where its loss does not stay in bounds.
///
///   fold.state = start_of(data, config, 3);
#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "train/config.hpp"
#include "train/data.hpp"

namespace tyche::train {

/// Recipe paper: engine::fresh_state(). Recipe own: the same, but
/// - weights of input columns that are 0 throughout the training part start, and so stay, at 0: nothing is said of what
///   training never saw;
/// - weights on sums, over neighbours (but gin's) or over a graph's nodes, are divided by the training part's mean
///   degree or mean number of nodes, so that sums begin at the size of means. Otherwise they grow from layer to layer,
///   and losses begin in the hundreds.
/// Which weights these are follows from the network's steps, whatever its kind.
[[nodiscard]] engine::State start_of(const TrainingData& data, const RunConfig& config, std::uint32_t fold);

/// Whether a training loss is not finite, or more than three times that of a guess (ln classes; of real targets, 1).
[[nodiscard]] bool exploded(const RunConfig& config, double loss);

}  // namespace tyche::train
