#pragma once
/// Edges as a file lists them, one after another, made the edges of simple undirected graphs. Shared by the formats
/// that list edges (TUDatasets, JSON lines, GraphML, CSV), so that all refuse, and clean, the same things.
///
///   const std::vector<Edge> listed = {{0, 1}, {1, 0}, {2, 1}, {1, 2}};
///   const SettledEdges edges = settle_edges(listed, Directions::either, {place, name, conflict}, nullptr);
///   // edges {0, 1}, {1, 2}; they stand at entries 0 and 2
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/cleaning.hpp"
#include "graph/graph.hpp"
#include "graph/lines.hpp"

namespace tyche {

/// What a list of edges may be: each edge once; each in both directions; or all of them once or all of them twice.
enum class Directions { once, both, either };

/// What settle_edges needs for its errors.
struct EdgeListing {
  const char* whole = "file";  ///< what all the edges are of
  std::function<Where(std::size_t entry)> place;
  std::function<std::string(Node)> name;  ///< of a node, as the file has it
  /// How two entries for the same edge contradict each other (labels, attributes), and where; nothing where they agree.
  /// May be empty: entries say nothing of an edge but its ends.
  struct Conflict {
    Where where;
    std::string message;
  };
  std::function<std::optional<Conflict>(std::size_t first, std::size_t second)> conflict;
};

struct SettledEdges {
  std::vector<Edge> edges;            ///< (smaller, larger), ascending, each once
  std::vector<std::size_t> entry_of;  ///< the first entry of each
};

/// Without `cleaning` fails (fail_unclean) at the first loop, repeated edge, edge that lacks the other direction, or
/// conflict, looked for in this order; with it drops and counts them.
[[nodiscard]] SettledEdges settle_edges(std::span<const Edge> listed, Directions directions, const EdgeListing& listing,
                                        Cleaning* cleaning);

}  // namespace tyche
