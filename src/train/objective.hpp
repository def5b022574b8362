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
#include "train/config.hpp"

namespace tyche::train {

/// "labels" or "attributes"; throws InputError on any other.
[[nodiscard]] TargetKind parse_target(std::string_view text);
[[nodiscard]] std::string_view name(TargetKind kind);

/// "cross-entropy", "squared", "absolute" or "huber", or as others call them ("mae", "mse"); throws InputError that
/// lists the four on anything else.
[[nodiscard]] engine::Loss parse_loss(std::string_view text);
[[nodiscard]] std::string_view loss_name(engine::Loss loss);

/// Whether the run learns real targets.
[[nodiscard]] bool learns_numbers(const RunConfig& config);
/// The one the configuration names, else cross-entropy for labels and squared for real targets.
[[nodiscard]] engine::Loss loss_of(const RunConfig& config);

/// Decides data.target where the configuration does not: labels where the graphs have them, else real targets. Throws
/// InputError where the set lacks what is to be learned, where a target is infinite, and where all targets of a column
/// are missing.
void choose_target(RunConfig& config, const GraphSet& set);

/// Mean and population deviation of every column over the targets of these graphs that are there, in double precision.
/// A column without any has the mean 0; one with a single value has the deviation 1. `weights`: by graph, how many
/// graphs it counts as; empty: one.
[[nodiscard]] engine::Standard standard_of(const GraphSet& set, std::span<const std::uint32_t> graphs,
                                           std::span<const float> weights = {});
/// Whether all of a column's targets in these graphs that are there are the same, or there are none.
[[nodiscard]] bool constant_column(const GraphSet& set, std::span<const std::uint32_t> graphs, std::size_t column);

/// "none": no weights. "balanced": graphs / (classes · graphs of the class), over these graphs; a class that has none
/// of them weighs 0. Else a list ("1,2.5"), one number per class. Throws InputError on anything else.
[[nodiscard]] std::vector<float> class_weights_of(const std::string& text, std::span<const std::uint32_t> classes,
                                                  std::span<const std::uint32_t> graphs, std::size_t count);

}  // namespace tyche::train
