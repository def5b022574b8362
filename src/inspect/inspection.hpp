#pragma once
/// What is in a data set, and what can be learned from it at all.
///
///   const Inspection found = examine(datasets::load_dataset("exp"));
///   found.all.one_wl.score               // 0.5: the best accuracy of any network bounded by 1-WL
///   found.verdict                        // "Message passing cannot see everything here: …"
///   found.findings                       // what the data's make-up means for training
///
/// A network that a test bounds gives graphs the same answer that the test does not tell apart. So the best it can do
/// is the commonest label (or the mean target) of each group, and how good that is can be counted: an exact ceiling
/// over all weights, on the graphs at hand. Copies with different answers bound everyone. docs/inspect.md says how to
/// read it.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/folds.hpp"
#include "graph/io.hpp"
#include "inspect/partitions.hpp"
#include "support/progress.hpp"
#include "support/said.hpp"

namespace tyche::inspect {

/// What can be learned of nodes: the ceilings of inspection.hpp for labels and targets of nodes.
///
/// A network that a test bounds gives nodes one value that the test does not tell apart. 1-WL: nodes of one colour, in
/// all graphs. 2-WL: nodes v whose pairs (v, v) have one colour. Everyone: nodes that an isomorphism takes to each
/// other, which is all that equivariant functions have in common: orbits of the automorphism group, over copies of a
/// graph. Exact; what would take too long is left out, with a note.
struct NodeCeilings {
  Task task = Task::none;   ///< classes where nodes have labels, else targets
  std::uint64_t known = 0;  ///< nodes whose label (some target) is not missing
  Score baseline;
  Score one_wl;
  std::optional<Score> two_wl;
  std::optional<Score> everyone;
  /// Test nodes that an isomorphism takes to a node of the training part, over all splits of nodes; nothing where there
  /// are none.
  std::optional<std::uint64_t> leaks;
};

/// Nothing where nodes have neither labels nor targets. `copies`: the isomorphism classes of the graphs as seen with
/// all that networks see.
[[nodiscard]] std::optional<NodeCeilings> examine_nodes(const GraphSet& set, const Partition& copies,
                                                        const std::vector<datasets::Fold>& folds, Work& work);

/// Over all folds, those tested that are of one group with some of their training part.
[[nodiscard]] std::uint64_t count_leaks(const std::vector<datasets::Fold>& folds, const Partition& groups);

/// What a data set's make-up means for training, a line each: inputs that nobody can use as they are, orders and shares
/// that make scores look better or worse than they are.
///
///   for (const Finding& finding : findings_of(dataset, Task::classes)) std::puts(finding.text.c_str());
struct Finding {
  std::string kind;  ///< "scales", "constant attributes", "alike", "sorted", "imbalance", "rare types", "grows"
  std::string text;
};

[[nodiscard]] std::vector<Finding> findings_of(const datasets::Dataset& dataset, Task task);

struct Options {
  /// Labels or targets; where not said, labels if there are any, else targets.
  std::optional<Task> task;
  /// The parts that leaks are counted between; none: leaks are not counted.
  std::vector<datasets::Fold> folds;
  std::vector<datasets::Fold> node_folds{};  ///< likewise of nodes; none: the masks of the file
  unsigned threads = 0;
  Limits limits{};
  Progress* progress = nullptr;    ///< steps(set) units
  std::vector<std::string> notes;  ///< that the inspection is to end with
};

/// What tests allow, of graphs as they are seen with or without attributes.
struct Ceilings {
  Score one_wl;
  std::optional<Score> rooted;  ///< subgraph-WL; these are nothing where they were left out
  std::optional<Score> pairs;   ///< local 2-WL
  std::optional<Score> two_wl;  ///< nothing where it was left out (Inspection::notes says why)
  std::optional<Score> two_sets;
  std::optional<Score> three_sets;
  Score everyone;
};

struct Range {
  double least = 0, mean = 0, most = 0;
};

struct Target {
  Range range;
  double deviation = 0;  ///< the square root of the variance
  std::uint64_t missing = 0;
};

/// What the file says.
struct Contents {
  std::string name;
  std::uint64_t graphs = 0;
  Range nodes, edges, degree;   ///< per graph; degree: per node
  std::uint64_t connected = 0;  ///< graphs of one component
  std::uint64_t empty = 0;      ///< graphs without nodes
  std::uint64_t node_types = 0;
  std::uint64_t edge_labels = 0;  ///< different ones, or different weights; 0 where there are no edges
  bool weighted = false;
  std::size_t categories = 0, edge_categories = 0;  ///< columns beside the type, beside the label
  std::size_t node_attributes = 0;
  std::size_t edge_attributes = 0;
  std::vector<std::pair<int, std::uint64_t>> labels;  ///< label, graphs; ascending
  std::vector<Target> targets;
};

/// Two graphs that 1-WL takes for one another and that are not isomorphic.
struct Confused {
  std::uint32_t first = 0, second = 0;
  bool answers_differ = false;
};

struct Inspection {
  Contents contents;
  Task task = Task::none;

  Score baseline;                              ///< without a look at the graph: the commonest label, the mean target
  Ceilings all;                                ///< types, edge labels and attributes seen
  std::optional<Ceilings> without_attributes;  ///< where there are attributes
  Score untyped;                               ///< 1-WL without node types and node attributes
  std::optional<Score> structure;              ///< 1-WL on bare graphs, where there are edge labels or attributes too

  std::uint64_t one_wl_groups = 0;                                     ///< as many as 1-WL tells apart
  std::uint64_t isomorphism_classes = 0;                               ///< as many as there are up to isomorphism
  std::uint64_t isomorphic_groups = 0;                                 ///< isomorphism classes of two graphs or more
  std::uint64_t isomorphic_copies = 0;                                 ///< graphs in them
  std::uint64_t contradictions = 0;                                    ///< graphs in those with several answers
  std::vector<std::pair<std::uint32_t, std::uint32_t>> contradicting;  ///< one pair of each, for people: at most 20
  std::uint64_t confused_groups = 0;   ///< groups of 1-WL with graphs that are no copies
  std::vector<Confused> confused;      ///< one pair of each, those with different answers first; at most 100
  std::optional<std::uint64_t> leaks;  ///< test graphs with a copy in the training part of their fold

  std::optional<NodeCeilings> nodes;  ///< where nodes have labels or targets of their own

  std::vector<Finding> findings;   ///< what the data's make-up means for training
  std::vector<std::string> notes;  ///< what was left out, and why
  std::string verdict;
};

/// Units of progress that examine() makes of a set.
[[nodiscard]] std::uint64_t steps(const GraphSet& set);

/// Throws InputError where the task asked for has no labels (or targets), or there are no graphs.
[[nodiscard]] Inspection examine(const datasets::Dataset& dataset, const Options& options = {});

/// What a call asks for: target, folds, fold_scheme, validation and seed (folds as `tyche train` makes them where
/// nothing else is said, or those of `split`, where it has one), all, threads. No folds, with a note that says why,
/// where one was asked for, or where nobody said how many there are and the set is too small. Throws InputError where
/// it is too small for those that were asked for.
[[nodiscard]] Options options_of(const Said& said, const datasets::Dataset& dataset);

/// ceiling_* are accuracies, or R² for targets with floor_mse_* beside them; null where not computed.
[[nodiscard]] nlohmann::ordered_json to_json(const Inspection& inspection);

[[nodiscard]] std::string to_text(const Inspection& inspection);

/// Pairs on a page at most: those with different answers come first.
inline constexpr std::size_t kPairsShown = 30;

/// The page of an inspection of `set` (report::confused_page). `command` made it.
[[nodiscard]] nlohmann::ordered_json confused_page(const Inspection& inspection, const GraphSet& set,
                                                   const std::string& command);

}  // namespace tyche::inspect
