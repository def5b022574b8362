#pragma once
/// One call that feeds bytes to a reader of graph files and checks what it promises: graphs or an InputError of one
/// line that names the file, and graphs that every writer and reader gives back. The fuzz target and the test that
/// replays the corpus share it.
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "graph/encoding.hpp"
#include "graph/gin.hpp"
#include "graph/graph6.hpp"
#include "graph/io.hpp"
#include "graph/tu.hpp"
#include "support/error.hpp"

namespace tyche::fuzz {

inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

/// Members of a TUDataset, one after another with a byte 0x1e after each; an empty one is absent.
inline TuMembers split_members(std::string_view bytes) {
  TuMembers out;
  for (const char* name : {"A", "graph_indicator", "graph_labels", "node_labels", "node_attributes", "graph_attributes",
                           "edge_labels", "edge_attributes"}) {
    const std::size_t end = std::min(bytes.find('\x1e'), bytes.size());
    if (end > 0) out.emplace(name, bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return out;
}

inline bool same_structure(const std::vector<Graph>& a, const std::vector<Graph>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Graph& g, const Graph& h) {
    return g.edges() == h.edges() && g.num_nodes() == h.num_nodes();
  });
}

inline void require_round_trips(const GraphSet& set) {
  std::uint64_t nodes = 0;
  bool has_empty_graph = false;
  for (const Graph& graph : set.graphs) {
    nodes += graph.num_nodes();
    has_empty_graph = has_empty_graph || graph.num_nodes() == 0;
  }
  if (set.graphs.empty() || nodes > 2000) return;  // larger ones add time and nothing new

  std::string gin = gin_header(set.graphs.size());
  std::string graph6;
  std::string sparse6;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    gin += gin_text(set.graphs[g], set.labels.empty() ? 0 : set.labels[g]);
    graph6 += to_graph6(set.graphs[g]) + "\n";
    sparse6 += to_sparse6(set.graphs[g]) + "\n";
  }
  const GraphSet again = parse_graphs(gin, "again.txt");
  require(again.graphs == set.graphs, "GIN text gives other graphs back");
  require(set.labels.empty() || again.labels == set.labels, "GIN text gives other labels back");
  require(same_structure(parse_graphs(graph6, "again.g6").graphs, set.graphs), "graph6 gives other graphs back");
  require(same_structure(parse_graphs(sparse6, "again.s6").graphs, set.graphs), "sparse6 gives other graphs back");
  if (!set.labels.empty() || !has_empty_graph) {
    const GraphSet tu = parse_tu(tu_members(set), "again");
    require(same_structure(tu.graphs, set.graphs), "a TUDataset gives other graphs back");
    require(tu.attributes == set.attributes, "a TUDataset gives other attributes back");
    require(tu.targets == set.targets && tu.target_dim == set.target_dim, "a TUDataset gives other targets back");
    require(tu.edge_attributes == set.edge_attributes, "a TUDataset gives other edge attributes back");
  }
}

/// The first byte says what the rest is: g gin, 6 graph6, s sparse6, d DIMACS, p planar_code, n npy, t TUDataset
/// members; anything else leaves the format to be told.
inline void read_anything(std::string_view input) {
  if (input.empty()) return;
  std::optional<Format> format;
  switch (input[0]) {
    case 'g':
      format = Format::gin;
      break;
    case '6':
      format = Format::graph6;
      break;
    case 's':
      format = Format::sparse6;
      break;
    case 'd':
      format = Format::dimacs;
      break;
    case 'p':
      format = Format::planar_code;
      break;
    case 'n':
      format = Format::npy;
      break;
    case 't':
      format = Format::tu;
      break;
    default:
      break;
  }
  const std::string_view bytes = input.substr(1);
  GraphSet set;
  try {
    set = format == Format::tu ? parse_tu(split_members(bytes), "fuzz") : parse_graphs(bytes, "fuzz", format);
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    require(message.starts_with("fuzz"), "an error does not name the file");
    require(message.find('\n') == std::string_view::npos, "an error has more than one line");
    return;
  }
  require_round_trips(set);
  if (format == Format::dimacs)
    require(encode(decode(set.graphs.at(0))) == set.graphs[0], "DIMACS gives another graph back");
}

}  // namespace tyche::fuzz
