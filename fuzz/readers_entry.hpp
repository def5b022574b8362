#pragma once
/// One call that feeds bytes to a reader of graph files and checks what it promises: graphs or an InputError of one
/// line that names the file, and graphs that every writer and reader gives back. The fuzz target and the test that
/// replays the corpus share it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "graph/encoding.hpp"
#include "graph/formats.hpp"
#include "graph/gin.hpp"
#include "graph/io.hpp"
#include "graph/jsonl.hpp"
#include "graph/sets.hpp"
#include "support/error.hpp"
#include "support/remedy.hpp"

namespace tyche::fuzz {

inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

/// Parts of an input, one after another with a byte 0x1e after each.
inline std::vector<std::string_view> parts_of(std::string_view bytes, std::size_t count) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = std::min(bytes.find('\x1e'), bytes.size());
    out.push_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return out;
}

/// Members of a TUDataset; an empty one is absent.
inline TuMembers split_members(std::string_view bytes) {
  constexpr const char* kNames[] = {"A",           "graph_indicator", "graph_labels",
                                    "node_labels", "node_attributes", "graph_attributes",
                                    "edge_labels", "edge_attributes"};
  TuMembers out;
  const std::vector<std::string_view> parts = parts_of(bytes, std::size(kNames));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].empty()) out.emplace(kNames[i], parts[i]);
  }
  return out;
}

/// The files of edges, nodes and graphs; of the last two an empty one is absent.
inline CsvFiles split_csv(std::string_view bytes) {
  const std::vector<std::string_view> parts = parts_of(bytes, 3);
  CsvFiles out{.edges = std::string(parts[0])};
  if (!parts[1].empty()) out.nodes = parts[1];
  if (!parts[2].empty()) out.graphs = parts[2];
  return out;
}

inline bool same_structure(const Graphs& a, const Graphs& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Graph& g, const Graph& h) {
    return g.edges() == h.edges() && g.num_nodes() == h.num_nodes();
  });
}

/// Equal but for the labels of edges, which GIN text does not hold.
inline bool same_but_edge_labels(const Graphs& a, const Graphs& b) {
  return same_structure(a, b) && std::equal(a.begin(), a.end(), b.begin(), [](const Graph& g, const Graph& h) {
           return std::equal(g.types().begin(), g.types().end(), h.types().begin(), h.types().end());
         });
}

inline std::string jsonl_text(const GraphSet& set) {
  std::string out;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) out += jsonl_line(set, g);
  return out;
}

inline void require_round_trips(const GraphSet& set) {
  std::uint64_t nodes = 0;
  bool has_empty_graph = false;
  for (const Graph& graph : set.graphs) {
    nodes += graph.num_nodes();
    has_empty_graph = has_empty_graph || graph.num_nodes() == 0;
  }
  if (set.graphs.empty() || nodes > 400) return;  // larger ones add nothing new, and graph6 is quadratic

  std::string gin = gin_header(set.graphs.size());
  std::string graph6;
  std::string sparse6;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    gin += gin_text(set.graphs[g], set.labels.empty() ? 0 : set.labels[g]);
    graph6 += to_graph6(set.graphs[g]) + "\n";
    sparse6 += to_sparse6(set.graphs[g]) + "\n";
  }
  const GraphSet again = parse_graphs(gin, "again.txt");
  require(same_but_edge_labels(again.graphs, set.graphs), "GIN text gives other graphs back");
  require(set.labels.empty() || again.labels == set.labels, "GIN text gives other labels back");
  require(same_structure(parse_graphs(graph6, "again.g6").graphs, set.graphs), "graph6 gives other graphs back");
  require(same_structure(parse_graphs(sparse6, "again.s6").graphs, set.graphs), "sparse6 gives other graphs back");
  const std::string jsonl = jsonl_text(set);
  const GraphSet lines = parse_graphs(jsonl, "again.jsonl");
  require(lines.graphs == set.graphs && lines.labels == set.labels, "JSON lines give other graphs or labels back");
  require(jsonl_text(lines) == jsonl, "JSON lines give other attributes or targets back");
  const bool missing = std::any_of(set.targets.begin(), set.targets.end(), [](float y) { return std::isnan(y); });
  if (!missing && (!set.labels.empty() || !set.targets.empty() || !has_empty_graph)) {
    const GraphSet tu = parse_tu(tu_members(set), "again");
    require(same_structure(tu.graphs, set.graphs), "a TUDataset gives other graphs back");
    require(tu.attributes == set.attributes, "a TUDataset gives other attributes back");
    require(tu.targets == set.targets && tu.target_dim == set.target_dim, "a TUDataset gives other targets back");
    require(tu.edge_attributes == set.edge_attributes, "a TUDataset gives other edge attributes back");
  }
}

/// What the first byte says the rest is: g gin, 6 graph6, s sparse6, d DIMACS, p planar_code, n npy, z npz,
/// t TUDataset members, j JSON lines, x GraphML, c CSV files; anything else leaves the format to be told.
inline std::optional<Format> format_of(char first) {
  constexpr std::pair<char, Format> kFormats[] = {
      {'g', Format::gin},         {'6', Format::graph6},  {'s', Format::sparse6}, {'d', Format::dimacs},
      {'p', Format::planar_code}, {'n', Format::npy},     {'z', Format::npz},     {'t', Format::tu},
      {'j', Format::jsonl},       {'x', Format::graphml}, {'c', Format::csv}};
  for (const auto& [letter, format] : kFormats) {
    if (letter == first) return format;
  }
  return std::nullopt;
}

inline GraphSet read_as(std::optional<Format> format, std::string_view bytes, Cleaning* cleaning) {
  if (format == Format::tu) return parse_tu(split_members(bytes), "fuzz", cleaning);
  if (format == Format::csv) return parse_csv(split_csv(bytes), "fuzz", cleaning);
  GraphSet set = parse_graphs(bytes, "fuzz", format, cleaning);
  (void)content_hash(set);  // a packed set is looked through when it is looked at
  return set;
}

/// Reads as the first byte says, then once more with cleaning: what is read without any must need none, and what
/// cleaning lets through is as good as any other set.
inline void read_anything(std::string_view input) {
  if (input.empty()) return;
  const std::optional<Format> format = format_of(input[0]);
  const std::string_view bytes = input.substr(1);
  std::optional<GraphSet> set;
  for (const bool clean : {false, true}) {
    Cleaning cleaning;
    GraphSet read;
    try {
      read = read_as(format, bytes, clean ? &cleaning : nullptr);
    } catch (const InputError& error) {
      const std::string_view message = error.what();
      require(message.starts_with("fuzz"), "an error does not name the file");
      require(message.find('\n') == std::string_view::npos, "an error has more than one line");
      require(!set, "cleaning refuses what is read without it");
      const auto* helped = dynamic_cast<const HasRemedy*>(&error);
      require(!clean || helped == nullptr || helped->remedy() != Remedy::clean_data, "cleaning wants cleaning");
      continue;
    }
    require(cleaning.any() == (clean && !set), "cleaning mends what needs it not, or lets through what does");
    require_round_trips(read);
    set = std::move(read);
  }
  if (set && format == Format::dimacs)
    require(encode(decode(set->graphs[0])) == set->graphs[0], "DIMACS gives another graph back");
}

}  // namespace tyche::fuzz
