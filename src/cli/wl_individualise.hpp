#pragma once
/// tyche wl --individualise: what random individualisation-refinement paths see of graphs.
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cli/cli.hpp"
#include "distinguish/pairs.hpp"
#include "graph/graph.hpp"
#include "wl/leaf_compare.hpp"

namespace tyche::cli {

struct IndividualiseOptions {
  std::optional<std::string> depth;  ///< nothing: not asked for
  std::uint32_t draws = 64;
  std::string cell = "first-largest";

  /// Declares --individualise, --draws, --cell and --seed.
  void add(CLI::App& app, Common& common);
  [[nodiscard]] bool asked() const { return depth.has_value(); }
  /// Throws InputError on a depth that is neither a number from 1 on nor "leaf", or an unknown cell.
  [[nodiscard]] wl::PathOptions paths(const Common& common) const;
};

/// Prints what the draws saw of each graph.
void survey_graphs(std::span<const Graph> graphs, const IndividualiseOptions& options, const Common& common);
/// Prints the verdict on two graphs; `names` says which ("graph 0 of a.g6 and graph 0 of b.g6").
void compare_leaves_of(const Graph& a, const Graph& b, const std::string& names, const IndividualiseOptions& options,
                       const Common& common);
/// Prints the verdict on every pair.
void compare_leaves_of_pairs(const distinguish::PairSet& pairs, const IndividualiseOptions& options,
                             const Common& common);
/// "Basic: 60 of 60 told apart", one line per category.
[[nodiscard]] std::string categories_in_words(const std::vector<distinguish::CategoryCount>& counts);

}  // namespace tyche::cli
