#include "engine/core/trial_targets.hpp"

#include <cmath>
#include <limits>

namespace tyche::engine {

TrialTargets::TrialTargets(const Targets& targets, const Trial& trial) : view_(targets) {
  const std::size_t columns = targets.columns();
  if (columns == 0) {
    view_ = targets.weighted(trial.class_weights);
    return;
  }
  if (trial.standard.mean.empty()) return;
  rows_.reserve(targets.size() * columns);
  for (std::size_t g = 0; g < targets.size(); ++g) {
    for (std::size_t c = 0; c < columns; ++c) {
      rows_.push_back(
          static_cast<float>((targets[g].values[c] - trial.standard.mean[c]) / trial.standard.deviation[c]));
    }
  }
  view_ = targets.with_rows(rows_);
}

double mean_divisor(const Targets& targets, std::span<const std::uint32_t> graphs) {
  const std::size_t columns = targets.columns();
  double total = 0;
  for (const std::uint32_t g : graphs) {
    const Target target = targets[g];
    if (columns == 0) {
      total += target.weight;
      continue;
    }
    std::size_t there = 0;
    for (std::size_t c = 0; c < columns; ++c) there += std::isnan(target.values[c]) ? 0 : 1;
    total += target.weight * (static_cast<double>(there) / static_cast<double>(columns));
  }
  return total > 0 ? total : std::numeric_limits<double>::infinity();
}

}  // namespace tyche::engine
