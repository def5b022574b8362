#pragma once
/// Pairs of a data set made ready to be looked at: both graphs drawn, 1-WL round by round, 2-WL's verdict.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "graph/graph.hpp"
#include "report/results.hpp"

namespace tyche::report {

/// Graphs with more nodes than this are not drawn.
inline constexpr std::size_t kMaxDrawnNodes = 160;

/// The first `pairs` pairs (graphs 2i and 2i + 1 where the data knows none) as JSON:
///   {name, graphs, subsets, pairs: [{pair, subset, core, graphs: [{index, label, width, height, planar, x, y, type,
///    core (1 or 0 per node), name, edges: [u, v, u, v, …], edge_label, added: [edge numbers]}, …],
///    wl1: {distinguished, round, rounds: [[colour of every node of both graphs], …]}, wl2: {distinguished, round,
///    classes}, isomorphic}]}
/// `core`, `name` and `added` are there for graphs that encode formulas: which nodes belong to the core, what a node
/// says, which edges a CORRUPT pair's satisfiable graph has on top. Deterministic.
[[nodiscard]] Json view_data(const DataSource& source, std::size_t pairs, unsigned threads);

struct NamedGraph {
  std::string name;  ///< what the page calls it
  Graph graph;
};

/// Two graphs of any origin as one such pair. Each has its name as `title`; its label is 1 or 0 where it encodes a
/// formula, by whether that is satisfiable, and -1 elsewhere. Throws InputError on a graph of more than kMaxDrawnNodes.
[[nodiscard]] Json view_two(const NamedGraph& first, const NamedGraph& second);

}  // namespace tyche::report
