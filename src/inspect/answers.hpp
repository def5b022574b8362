#pragma once
/// What is to be told of a graph, its label or its real targets, and how well that can be done by one who sees no more
/// than which group a graph is in.
///
///   const Answers answers = class_labels(set);
///   best_score(answers, groups).score            // the share of graphs in which the commonest label of a group is
///   right
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/io.hpp"

namespace tyche::inspect {

enum class Task { none, classes, targets };

/// One row per graph. Labels are a single column; a missing target is NaN, and counts nowhere.
struct Answers {
  Task task = Task::none;
  std::size_t columns = 0;
  std::vector<double> values;

  [[nodiscard]] std::size_t graphs() const { return columns == 0 ? 0 : values.size() / columns; }
  [[nodiscard]] double at(std::size_t graph, std::size_t column) const { return values[graph * columns + column]; }
};

[[nodiscard]] Answers class_labels(const GraphSet& set);
[[nodiscard]] Answers real_targets(const GraphSet& set);

/// Whether some graphs of the list have different answers: in one column, and neither is missing.
[[nodiscard]] bool differ(const Answers& answers, std::span<const std::uint32_t> graphs);

struct Score {
  /// Classes: the best accuracy. Targets: the best R², the mean over the columns that have one (a column whose values
  /// are all equal has none). Nothing where there is nothing to tell.
  std::optional<double> score;
  /// Targets: the least mean squared error, over all columns and graphs that have a target.
  std::optional<double> mse;
  /// Targets: the same column by column.
  struct Column {
    std::optional<double> r2;
    std::optional<double> mse;
  };
  std::vector<Column> columns;
};

/// What the best function of the group can reach: the commonest label of a group, the mean of its targets. `group` has
/// one number per graph, below `groups`.
[[nodiscard]] Score best_score(const Answers& answers, std::span<const std::uint32_t> group, std::uint32_t groups);

}  // namespace tyche::inspect
