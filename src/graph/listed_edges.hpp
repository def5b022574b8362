#pragma once
/// Edges as a file lists them, one after another, made the edges of simple undirected graphs. Shared by the formats
/// that list edges (TUDatasets, JSON lines, GraphML, CSV), so that all refuse, and clean, the same things.
///
///   const ListedEdges listed{.ends = {{0, 1}, {1, 0}, {2, 1}, {1, 2}}, .labels = {5, 5, 6, 6}};
///   const ListedEdges edges = settle_edges(listed, Directions::either, {"file", place, name}, nullptr);
///   // edges {0, 1}, {1, 2} with the labels 5, 6
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/cleaning.hpp"
#include "graph/io.hpp"
#include "graph/lines.hpp"

namespace tyche {

/// What a list of edges may be: each edge once; each in both directions; or all of them once or all of them twice.
enum class Directions { once, both, either };

/// Numbers in columns, row after row; no columns: there are none.
struct Table {
  std::vector<float> values{};
  std::size_t columns = 0;

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
  void add_row(std::span<const float> row) { values.insert(values.end(), row.begin(), row.end()); }
  /// Puts the columns of another behind these; it has as many rows, where both have any.
  void add_columns(const Table& more) {
    values = side_by_side(std::move(values), columns, more.values, more.columns);
    columns += more.columns;
  }
};

/// Entries, and what the file says of each.
struct ListedEdges {
  std::vector<Edge> ends{};
  std::vector<EdgeLabel> labels{};  ///< one per entry, or none
  bool weighted = false;            ///< labels are weights
  Table attributes{};               ///< one row per entry, or none
  std::size_t categories = 0;       ///< its first columns, beside the labels
  Table targets{};                  ///< one row per entry, or none
};

/// What settle_edges needs for its errors.
struct EdgeListing {
  const char* whole = "file";  ///< what all the edges are of
  /// Where an entry stands. `differs`: of two entries for the same edge, what this place says ("another label",
  /// "another weight" or "other attributes"); empty: its ends.
  std::function<Where(std::size_t entry, std::string_view differs)> place;
  std::function<std::string(Node)> name;  ///< of a node, as the file has it
};

/// Each edge once, as (smaller, larger), ascending, with what its first entry says. Without `cleaning` fails
/// (fail_unclean) at the first loop, repeated edge, edge that lacks the other direction, or conflict, looked for in
/// this order; with it drops and counts them.
[[nodiscard]] ListedEdges settle_edges(const ListedEdges& listed, Directions directions, const EdgeListing& listing,
                                       Cleaning* cleaning);

}  // namespace tyche
