#pragma once
/// Which graphs of a set each test leaves together: 1-WL, isomorphism, tests on pairs, refinement on sets. Exact.
///
///   const Partition one = wl::group(graphs, {.dim = 1});
///   const Partition copies = by_isomorphism(graphs, one, work);
///   const std::optional<Partition> two = by_pairs("folklore", graphs, answers, one, copies, work);
///
/// Most graphs of most sets are told apart by 1-WL already, and what it leaves together are mostly copies. So the dear
/// tests look at one graph of each isomorphism class, and only at groups in which graphs that are no copies have
/// different answers: elsewhere the answer of a test changes no score.
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "graph/io.hpp"
#include "support/progress.hpp"
#include "wl/wl.hpp"

namespace tyche::inspect {

/// The graphs of a set as one sees them who looks at some of what the file says and not at the rest.
///
///   const std::vector<Graph> all = seen(set, {});                          // everything
///   const std::vector<Graph> bare = seen(set, {.node_types = false, .node_attributes = false});
///
/// Attributes count by exact value: two nodes look alike where their types and all their attributes are equal. Columns
/// of categories beside the type (label) go with it. So they
/// fold into types (and those of edges into labels), and whatever knows types and labels knows them.
struct Look {
  bool node_types = true;
  bool node_attributes = true;
  bool edge_labels = true;
  bool edge_attributes = true;
};

/// The same graphs, with types and edge labels that are equal where what is looked at is equal, over the whole set.
/// 0 and -0 are equal, and so are all NaN.
[[nodiscard]] std::vector<Graph> seen(const GraphSet& set, const Look& look);

/// What is to be told of a graph, its label or its real targets, and how well that can be done by one who sees no more
/// than which group a graph is in.
///
///   best_score(answers, partition).score         // the share of graphs with the commonest label of their group
enum class Task { none, classes, targets };

/// One row per graph. Labels are a single column; a missing label or target is NaN, and counts nowhere.
struct Answers {
  Task task = Task::none;
  std::size_t columns = 0;
  std::vector<double> values;

  [[nodiscard]] double at(std::size_t graph, std::size_t column) const { return values[graph * columns + column]; }
};

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

using Partition = wl::Grouping;  ///< groups alone
/// The graphs of each group, ascending.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> members_of(const Partition& partition);

/// What the best function of the group can reach: the commonest label of a group, the mean of its targets.
[[nodiscard]] Score best_score(const Answers& answers, const Partition& partition);

/// Numbers of keys by first occurrence.
template <class Key>
Partition by_key(std::vector<Key> keys) {
  Partition out;
  std::map<Key, std::uint32_t> numbers;
  for (Key& key : keys) {
    out.group.push_back(numbers.try_emplace(std::move(key), static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  out.groups = static_cast<std::uint32_t>(numbers.size());
  return out;
}

/// What the dear tests may take: a few seconds of a core each. A test that would take more is left out.
struct Limits {
  double tuples = 4e9;    ///< pairs: the cubes of the graphs' sizes, summed: steps per round of 2-WL
  double bytes = 0x1p30;  ///< pairs: for the graphs of one group of 1-WL
  double sets = 1e8;      ///< sets of nodes whose types are counted
  double refined = 3e8;   ///< sets that are refined, times rounds

  /// Whatever it takes, as far as memory goes.
  static constexpr Limits none() {
    constexpr double kMost = std::numeric_limits<double>::infinity();
    return {kMost, kMost, kMost, kMost};
  }
};

/// How much work the tests may do, and who is told.
struct Work {
  unsigned threads = 0;
  Limits limits{};
  Progress* progress = nullptr;    ///< by_isomorphism: one unit per graph
  std::vector<std::string> notes;  ///< why tests were left out, a sentence each
};

/// Isomorphic graphs together (types and edge labels respected); canonical forms are made where 1-WL leaves several.
[[nodiscard]] Partition by_isomorphism(std::span<const Graph> graphs, const Partition& one_wl, const Work& work);

/// As good as the partition by a test on pairs of nodes ("rooted", "pairs", "folklore": wl::space_test) for the
/// answers: groups in which all answers are equal may stay whole. Nothing, and a note, where it would take too long or
/// too much memory.
[[nodiscard]] std::optional<Partition> by_pairs(const std::string& space, std::span<const Graph> graphs,
                                                const Answers& answers, const Partition& one_wl,
                                                const Partition& copies, Work& work);

/// Likewise by colour refinement on all sets of k = 2 or 3 nodes (wl/set_compare.hpp): what networks on sets see at
/// most. Not finer than 1-WL in general: a graph of one node has no 2-sets.
[[nodiscard]] std::optional<Partition> by_sets(std::span<const Graph> graphs, unsigned k, const Answers& answers,
                                               const Partition& copies, Work& work);

}  // namespace tyche::inspect
