#pragma once
/// What can be said without a network: columns counted from a graph, and a linear model on them.
///
///   const Table counts = colour_counts(set);                          // 1-WL colours of rounds 0 to 3
///   const std::vector<double> said = linear_answers(counts, answers, fold);   // of the fold's validation and test
///   part
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/folds.hpp"
#include "graph/io.hpp"

namespace tyche::compare {

struct Cell {
  std::size_t column;
  double value;
  bool operator==(const Cell&) const = default;
};

/// A row of numbers per graph, of which those that are not 0 are there, by ascending column.
struct Table {
  std::size_t columns = 0;
  std::vector<std::vector<Cell>> rows;
};

/// Nodes, edges, how many nodes have each degree (0 to 15 and above), type and edge label, sums of attributes.
[[nodiscard]] Table size_and_degrees(const GraphSet& set);
/// How often each of the 256 commonest colours of rounds 0 to 3 of colour refinement is there, and sums of attributes,
/// which refinement does not see.
[[nodiscard]] Table colour_counts(const GraphSet& set);

/// What is to be told of every graph: its class, or a row of targets (missing: NaN).
struct Truth {
  std::size_t classes = 0;  ///< 0: targets
  std::size_t columns = 1;  ///< of targets
  bool binary = false;      ///< targets are 0 or 1, and answers chances of a 1
  std::vector<std::uint32_t> labels;
  std::vector<double> targets;
  /// Numbers that an answer has: a probability per class, or a value per column.
  [[nodiscard]] std::size_t width() const { return classes > 0 ? classes : columns; }
};

/// A row of Truth::width() numbers for each graph of `asked`. Labels: logistic regression, one class against the rest,
/// by Newton's method; targets: least squares, binary ones
/// logistic regression by column. Both with a ridge, chosen on the fold's validation part (none there: 1),
/// on columns standardised by the training part. A table without columns gives the shares of the classes, or the means.
[[nodiscard]] std::vector<double> linear_answers(const Table& table, const Truth& truth, const datasets::Fold& fold,
                                                 std::span<const std::uint32_t> asked);

}  // namespace tyche::compare
