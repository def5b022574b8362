#pragma once
/// What a run is to learn of its graphs: their labels or real targets, by which loss, under which class weights; and
/// what a fold makes of that, which goes by its training graphs alone.
///
///   choose_target(config, set);                                      // labels where there are any
///   const engine::Standard standard = standard_of(set, fold.train);  // mean and deviation of every column
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "graph/io.hpp"
#include "graph/units.hpp"
#include "train/config.hpp"

namespace tyche::train {

/// "labels", "attributes", "node-labels", "node-targets" or "edge-targets"; throws InputError on any other.
[[nodiscard]] TargetKind parse_target(std::string_view text);
[[nodiscard]] std::string_view name(TargetKind kind);

/// "cross-entropy", "squared", "absolute", "huber" or "binary", or as others call them ("mae", "mse", "bce"); throws
/// InputError that lists the five on anything else.
[[nodiscard]] engine::Loss parse_loss(std::string_view text);
[[nodiscard]] std::string_view loss_name(engine::Loss loss);

/// What has a target: graphs, nodes or edges.
[[nodiscard]] Unit unit_of(const RunConfig& config);

/// For what looks at whole graphs: throws InputError where the run learns of nodes or edges. `who`: "tyche compare".
void require_graphs(const RunConfig& config, std::string_view who);

/// What a set says of its graphs, or of their nodes or edges: all that folds, targets and scores go by.
///
///   const Learned nodes(set, TargetKind::node_labels);
///   nodes.labels[nodes.units.first(2) + 5]                           // of node 5 of graph 2
struct Learned {
  Learned() = default;
  Learned(const GraphSet& set, TargetKind kind = TargetKind::labels);  // NOLINT: of its graphs
  /// The columns that are learned. Throws InputError where the set has targets, but not one of them.
  Learned(const GraphSet& set, const RunConfig& config);
  Units units;
  std::vector<int> labels;  ///< one per unit (kNoLabel: missing), or none
  std::vector<float> rows;  ///< of real targets, × columns; missing ones are NaN
  std::size_t columns = 0;
  std::vector<std::uint32_t> taken{};  ///< which columns of the set these are; none: all

  [[nodiscard]] bool of_graphs() const { return units.unit() == Unit::graph; }
  /// Whether a unit has nothing to learn: no label, or no target at all.
  [[nodiscard]] bool missing(std::uint32_t unit, bool numbers) const;
};

/// The different labels, ascending: class i is the i-th. Throws InputError where there are none, or only one.
[[nodiscard]] std::vector<int> label_values(const GraphSet& set, const Learned& learned);

/// Each unit's class under `values`, engine::kMissingLabel where it has no label. Throws InputError on a label that is
/// not among them.
[[nodiscard]] std::vector<std::uint32_t> classes_of(const GraphSet& set, const Learned& learned,
                                                    const std::vector<int>& values);

/// What the set calls the c-th column of targets that is learned: its number.
[[nodiscard]] std::size_t target_column(const RunConfig& config, std::size_t c);

/// Whether the run learns real targets.
[[nodiscard]] bool learns_numbers(const RunConfig& config);
/// The one the configuration names, else cross-entropy for labels and squared for real targets.
[[nodiscard]] engine::Loss loss_of(const RunConfig& config);

/// Whether targets are 0 or 1, each column by itself: the binary loss. Such a run learns_numbers, too.
[[nodiscard]] bool learns_bits(const RunConfig& config);

/// Decides data.target where the configuration does not: labels where the graphs have them (and neither columns of
/// targets are named nor the binary loss for targets that are there), else real targets, else those of nodes, else of
/// edges. Throws InputError where the set lacks what is to be learned, where a target is infinite (or, under the binary
/// loss, not 0 or 1), and where all targets of a column are missing.
void choose_target(RunConfig& config, const GraphSet& set);

/// Mean and population deviation of every column over the targets of these graphs that are there, in double precision.
/// A column without any has the mean 0; one with a single value has the deviation 1. `weights`: by graph, how many
/// graphs it counts as; empty: one.
[[nodiscard]] engine::Standard standard_of(const Learned& targets, std::span<const std::uint32_t> graphs,
                                           std::span<const float> weights = {});
/// Whether all of a column's targets in these graphs that are there are the same, or there are none.
[[nodiscard]] bool constant_column(const Learned& targets, std::span<const std::uint32_t> graphs, std::size_t column);

/// "none": no weights. "balanced": graphs / (classes · graphs of the class), over these graphs; a class that has none
/// of them weighs 0. Else a list ("1,2.5"), one number per class. Throws InputError on anything else.
[[nodiscard]] std::vector<float> class_weights_of(const std::string& text, std::span<const std::uint32_t> classes,
                                                  std::span<const std::uint32_t> graphs, std::size_t count);

}  // namespace tyche::train
