#include "inspect/answers.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tyche::inspect {
namespace {

Score best_accuracy(const Answers& answers, std::span<const std::uint32_t> group) {
  std::map<std::pair<std::uint32_t, double>, std::uint64_t> counts;  // (group, label) -> graphs
  for (std::size_t g = 0; g < group.size(); ++g) ++counts[{group[g], answers.at(g, 0)}];
  std::uint64_t right = 0;
  for (auto at = counts.begin(); at != counts.end();) {
    const std::uint32_t here = at->first.first;
    std::uint64_t most = 0;
    for (; at != counts.end() && at->first.first == here; ++at) most = std::max(most, at->second);
    right += most;
  }
  return {static_cast<double>(right) / static_cast<double>(group.size()), std::nullopt, {}};
}

/// Squares around the mean of each group, summed. Means first: equal targets then give exactly 0.
double squares(const Answers& answers, std::size_t column, std::span<const std::uint32_t> group, std::uint32_t groups,
               std::uint64_t& present) {
  std::vector<double> sum(groups, 0);
  std::vector<std::uint64_t> count(groups, 0);
  present = 0;
  for (std::size_t g = 0; g < group.size(); ++g) {
    if (std::isnan(answers.at(g, column))) continue;
    sum[group[g]] += answers.at(g, column);
    ++count[group[g]];
    ++present;
  }
  double out = 0;
  for (std::size_t g = 0; g < group.size(); ++g) {
    if (std::isnan(answers.at(g, column))) continue;
    const double off = answers.at(g, column) - sum[group[g]] / static_cast<double>(count[group[g]]);
    out += off * off;
  }
  return out;
}

Score least_squares(const Answers& answers, std::span<const std::uint32_t> group, std::uint32_t groups) {
  Score out;
  const std::vector<std::uint32_t> together(group.size(), 0);
  double squared = 0, r2 = 0;
  std::uint64_t targets = 0, columns = 0;
  for (std::size_t c = 0; c < answers.columns; ++c) {
    std::uint64_t present = 0;
    const double whole = squares(answers, c, together, 1, present);
    const double left = squares(answers, c, group, groups, present);
    Score::Column& column = out.columns.emplace_back();
    if (present == 0) continue;
    column.mse = left / static_cast<double>(present);
    squared += left;
    targets += present;
    if (whole == 0) continue;
    column.r2 = 1 - left / whole;
    r2 += *column.r2;
    ++columns;
  }
  if (columns > 0) out.score = r2 / static_cast<double>(columns);
  if (targets > 0) out.mse = squared / static_cast<double>(targets);
  return out;
}

}  // namespace

Answers class_labels(const GraphSet& set) {
  return {Task::classes, 1, std::vector<double>(set.labels.begin(), set.labels.end())};
}

Answers real_targets(const GraphSet& set) {
  return {Task::targets, set.target_dim, std::vector<double>(set.targets.begin(), set.targets.end())};
}

bool differ(const Answers& answers, std::span<const std::uint32_t> graphs) {
  for (std::size_t c = 0; c < answers.columns; ++c) {
    std::optional<double> seen;
    for (const std::uint32_t g : graphs) {
      const double value = answers.at(g, c);
      if (std::isnan(value)) continue;
      if (seen && *seen != value) return true;
      seen = value;
    }
  }
  return false;
}

Score best_score(const Answers& answers, std::span<const std::uint32_t> group, std::uint32_t groups) {
  if (answers.task == Task::none || group.empty()) return {};
  return answers.task == Task::classes ? best_accuracy(answers, group) : least_squares(answers, group, groups);
}

}  // namespace tyche::inspect
