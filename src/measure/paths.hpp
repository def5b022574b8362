#pragma once
/// How fast paths are drawn on this machine, beside a plain refinement of the same graphs.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "wl/individualise.hpp"

namespace tyche::measure {

/// All on one core, in one run: paths and refinements per second of processor time.
struct PathBench {
  std::size_t graphs = 0;
  std::uint64_t nodes = 0;
  double mean_depth = 0;
  double refinements_per_second = 0;  ///< wl::refine of one graph: what a draw is measured against
  double draws_per_second = 0;        ///< Individualiser::draw
  std::size_t tables = 0;             ///< graphs whose tree fits the limits of make_tree
  double table_draws_per_second = 0;  ///< Tree::leaf on these
  double table_bytes = 0;             ///< of these together
};

/// First checks a path of every graph: the root's classes are those of wl::refine, a renumbered copy given the same
/// nodes has the same ranks, and the tree, where there is one, leads to the same place. Throws Error where one of
/// these fails, InputError where there are no graphs. Then measures each for about `seconds`.
[[nodiscard]] PathBench bench_paths(std::span<const Graph> graphs, std::uint32_t depth, wl::Cell cell, double seconds);

/// One leaf of large graphs.
struct LargePath {
  std::string kind;  ///< "cycle", "path", "cubic", "star"
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::size_t depth = 0;
  double refine_seconds = 0;  ///< wl::refine
  double leaf_seconds = 0;    ///< an Individualiser made and one leaf drawn
};
[[nodiscard]] std::vector<LargePath> bench_large_paths(Node nodes);

/// A random graph in which every node has three neighbours, from Purpose::graph_sample. Requires an even number of
/// nodes, 4 or more.
[[nodiscard]] Graph random_cubic_graph(Node nodes, std::uint64_t seed);

}  // namespace tyche::measure
