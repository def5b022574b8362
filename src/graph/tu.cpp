#include "graph/tu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/lines.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

constexpr std::string_view kMembers[] = {"A", "graph_indicator", "graph_labels", "node_labels", "node_attributes"};

std::string file_of(std::string_view prefix, std::string_view member) {
  return fmt::format("{}_{}.txt", prefix, member);
}

/// Calls take(row) for every line; blank lines may stand at the end only, so that line i + 1 is entry i.
template <class Take>
void for_each_line(std::string_view bytes, std::string_view file, Take take) {
  Lines lines(bytes, file);
  std::string_view line;
  while (lines.next(line)) {
    Row row(line, lines.here());
    if (row.at_end()) {
      lines.expect_only_blank_lines("a blank line");
      return;
    }
    take(row);
    row.expect_end("the last value");
  }
}

std::vector<std::int64_t> read_integers(std::string_view bytes, std::string_view file, const char* what) {
  std::vector<std::int64_t> out;
  for_each_line(bytes, file, [&](Row& row) { out.push_back(row.integer(what)); });
  return out;
}

/// Values renumbered 0 … k-1 in ascending order.
std::vector<int> renumbered(const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<int> out;
  out.reserve(values.size());
  for (const std::int64_t value : values) {
    out.push_back(static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  }
  return out;
}

/// Which graph every node is in, and which node of it: nodes keep their order within their graph.
struct Placement {
  std::vector<Node> graph_of;
  std::vector<Node> index_in;
  std::vector<Node> sizes;  ///< one per graph
};

Placement read_indicator(const TuMembers& members, std::string_view prefix, const std::vector<int>* labels) {
  const std::string file = file_of(prefix, "graph_indicator");
  const auto found = members.find("graph_indicator");
  if (found == members.end()) throw InputError::at(file, "", "is missing; it says which graph every node is in");
  Placement out;
  for_each_line(found->second, file, [&](Row& row) {
    const std::uint64_t graph = row.natural("the number of a graph");
    // Without labels nothing but the nodes says how many graphs there are, so each needs one.
    const std::uint64_t most = labels != nullptr ? labels->size() : found->second.size();
    if (graph == 0 || graph > most) {
      row.where().fail(fmt::format("graph {} is out of range: graphs are numbered 1 to {}{}", graph, most,
                                   labels != nullptr ? " (the lines of the file of graph labels)" : " at most here"));
    }
    if (out.graph_of.size() >= std::numeric_limits<Node>::max() - 1) row.where().fail("more than 2^32 - 2 nodes");
    if (out.sizes.size() < graph) out.sizes.resize(graph, 0);
    out.graph_of.push_back(static_cast<Node>(graph - 1));
    out.index_in.push_back(out.sizes[graph - 1]++);
  });
  if (labels != nullptr) {
    out.sizes.resize(labels->size(), 0);
  } else if (const auto empty = std::find(out.sizes.begin(), out.sizes.end(), 0u); empty != out.sizes.end()) {
    throw InputError::at(file, "", fmt::format("no node is in graph {}", empty - out.sizes.begin() + 1));
  }
  if (out.sizes.empty()) throw InputError::at(file, "", "the data set holds no graphs");
  return out;
}

/// The edges, in the numbering of the whole data set from 0, as (smaller, larger), each once, ascending.
std::vector<Edge> read_edges(const TuMembers& members, std::string_view prefix, const Placement& placement) {
  const std::string file = file_of(prefix, "A");
  const auto found = members.find("A");
  if (found == members.end()) throw InputError::at(file, "", "is missing; it lists the edges");
  const std::uint64_t nodes = placement.graph_of.size();
  std::vector<Edge> listed;
  for_each_line(found->second, file, [&](Row& row) {
    const auto node = [&](const char* what) {
      const std::uint64_t v = row.natural(what);
      if (v == 0 || v > nodes) {
        row.where().fail(fmt::format("node {} is out of range: the data set has {} nodes (1 to {})", v, nodes, nodes));
      }
      return static_cast<Node>(v - 1);
    };
    const Node u = node("a node");
    row.comma("a second node");
    const Node v = node("a second node");
    if (u == v) row.where().fail(fmt::format("edge ({0}, {0}) is a loop; graphs here have none", u + 1));
    if (placement.graph_of[u] != placement.graph_of[v]) {
      row.where().fail(fmt::format("edge ({}, {}) joins graph {} and graph {}", u + 1, v + 1, placement.graph_of[u] + 1,
                                   placement.graph_of[v] + 1));
    }
    listed.emplace_back(u, v);
  });

  std::vector<Edge> sorted = listed;
  std::sort(sorted.begin(), sorted.end());
  const auto last_line_of = [&](const Edge& edge) {
    const auto from_end = std::find(listed.rbegin(), listed.rend(), edge) - listed.rbegin();
    return Where{file, "line", listed.size() - static_cast<std::size_t>(from_end)};
  };
  if (const auto twin = std::adjacent_find(sorted.begin(), sorted.end()); twin != sorted.end()) {
    last_line_of(*twin).fail(fmt::format("edge ({}, {}) stands twice", twin->first + 1, twin->second + 1));
  }
  std::size_t returned = 0;
  const Edge* alone = nullptr;
  for (const Edge& edge : sorted) {
    if (std::binary_search(sorted.begin(), sorted.end(), Edge{edge.second, edge.first})) {
      ++returned;
    } else if (alone == nullptr) {
      alone = &edge;
    }
  }
  if (returned > 0 && alone != nullptr) {
    last_line_of(*alone).fail(
        fmt::format("edge ({}, {}) lacks its other direction ({}, {}), which other edges of the file have",
                    alone->first + 1, alone->second + 1, alone->second + 1, alone->first + 1));
  }
  if (returned > 0) {
    std::erase_if(sorted, [](const Edge& edge) { return edge.first > edge.second; });
  } else {
    for (auto& [u, v] : sorted) {
      if (u > v) std::swap(u, v);
    }
  }
  return sorted;
}

void expect_one_a_node(std::size_t lines, std::size_t nodes, const std::string& file) {
  if (lines != nodes) {
    throw InputError::at(file, fmt::format("line {}", std::min(lines, nodes) + 1),
                         fmt::format("expected one line a node ({}), found {}", nodes, lines));
  }
}

/// Attributes of all nodes, row after row, and how many each has.
struct Attributes {
  std::vector<float> values;
  std::size_t dim = 0;
};

Attributes read_attributes(std::string_view bytes, const std::string& file, std::size_t nodes) {
  Attributes out;
  std::size_t lines = 0;
  for_each_line(bytes, file, [&](Row& row) {
    std::size_t columns = 0;
    for (;;) {
      out.values.push_back(row.real("an attribute"));
      ++columns;
      if (row.at_end()) break;
      row.comma("another attribute");
    }
    if (lines == 0) out.dim = columns;
    if (columns != out.dim) {
      row.where().fail(fmt::format("expected {} attributes as on line 1, found {}", out.dim, columns));
    }
    ++lines;
  });
  expect_one_a_node(lines, nodes, file);
  return out;
}

}  // namespace

GraphSet parse_tu(const TuMembers& members, std::string_view prefix) {
  GraphSet set;
  const auto member = [&](std::string_view name) {
    const auto found = members.find(name);
    return found == members.end() ? nullptr : &found->second;
  };
  const std::string* const labels = member("graph_labels");
  if (labels != nullptr) {
    set.labels = renumbered(read_integers(*labels, file_of(prefix, "graph_labels"), "the label of a graph"));
  }
  const Placement placement = read_indicator(members, prefix, labels == nullptr ? nullptr : &set.labels);
  const std::size_t nodes = placement.graph_of.size();
  const std::size_t graphs = placement.sizes.size();

  std::vector<int> types(nodes, 0);
  if (const std::string* const text = member("node_labels")) {
    const std::string file = file_of(prefix, "node_labels");
    types = renumbered(read_integers(*text, file, "the label of a node"));
    expect_one_a_node(types.size(), nodes, file);
  }
  Attributes attributes;
  if (const std::string* const text = member("node_attributes")) {
    attributes = read_attributes(*text, file_of(prefix, "node_attributes"), nodes);
  }

  std::vector<std::vector<Edge>> edges_of(graphs);
  for (const auto& [u, v] : read_edges(members, prefix, placement)) {
    edges_of[placement.graph_of[u]].emplace_back(placement.index_in[u], placement.index_in[v]);
  }
  std::vector<std::vector<NodeType>> types_of(graphs);
  set.attribute_dim = attributes.dim;
  if (attributes.dim > 0) set.attributes.resize(graphs);
  for (std::size_t v = 0; v < nodes; ++v) {
    const Node graph = placement.graph_of[v];
    types_of[graph].push_back(static_cast<NodeType>(types[v]));
    if (attributes.dim == 0) continue;
    const auto begin = attributes.values.begin() + static_cast<std::ptrdiff_t>(v * attributes.dim);
    set.attributes[graph].insert(set.attributes[graph].end(), begin,
                                 begin + static_cast<std::ptrdiff_t>(attributes.dim));
  }
  set.graphs.reserve(graphs);
  for (std::size_t g = 0; g < graphs; ++g) {
    set.graphs.push_back(Graph::from_edges(placement.sizes[g], edges_of[g], std::move(types_of[g])));
  }
  return set;
}

TuMembers tu_members(const GraphSet& set) {
  TuMembers out;
  std::string& edges = out["A"];
  std::string& indicator = out["graph_indicator"];
  std::uint64_t nodes = 0;
  bool typed = false;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    if (set.labels.empty() && graph.num_nodes() == 0) {
      throw InputError(fmt::format("graph {} has no nodes: a TUDataset without graph labels cannot hold it", g));
    }
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      fmt::format_to(std::back_inserter(indicator), "{}\n", g + 1);
      for (const Node u : graph.neighbours(v)) {
        fmt::format_to(std::back_inserter(edges), "{}, {}\n", nodes + v + 1, nodes + u + 1);
      }
      typed = typed || graph.type(v) != 0;
    }
    nodes += graph.num_nodes();
  }
  if (nodes >= std::numeric_limits<Node>::max())
    throw InputError(fmt::format("{} nodes are too many for a set", nodes));
  if (!set.labels.empty()) {
    for (const int label : set.labels) fmt::format_to(std::back_inserter(out["graph_labels"]), "{}\n", label);
  }
  if (typed) {
    std::string& text = out["node_labels"];
    for (const Graph& graph : set.graphs) {
      for (const NodeType type : graph.types()) fmt::format_to(std::back_inserter(text), "{}\n", type);
    }
  }
  if (set.attribute_dim > 0) {
    std::string& text = out["node_attributes"];
    for (std::size_t g = 0; g < set.attributes.size(); ++g) {
      for (std::size_t i = 0; i < set.attributes[g].size(); ++i) {
        const float value = set.attributes[g][i];
        if (!std::isfinite(value)) {
          throw InputError(fmt::format("attribute {} of graph {} is {}: only finite numbers are written", i, g, value));
        }
        fmt::format_to(std::back_inserter(text), "{}{}", value, (i + 1) % set.attribute_dim == 0 ? "\n" : ", ");
      }
    }
  }
  return out;
}

GraphSet read_tu(const std::filesystem::path& folder) {
  constexpr std::string_view kEnd = "_A.txt";
  std::string name;
  for (const std::string& file : list_folder(folder)) {
    if (!file.ends_with(kEnd)) continue;
    const std::string found = file.substr(0, file.size() - kEnd.size());
    if (!name.empty()) {
      throw InputError::at(folder.string(), "", fmt::format("holds more than one data set: {} and {}", name, found));
    }
    name = found;
  }
  if (name.empty()) {
    throw InputError::at(folder.string(), "", "is no TUDataset folder: there is no file DS_A.txt in it");
  }
  TuMembers members;
  for (const std::string_view member : kMembers) {
    const std::filesystem::path file = folder / file_of(name, member);
    if (std::filesystem::exists(file)) members.emplace(member, read_file(file));
  }
  GraphSet set = parse_tu(members, (folder / name).string());
  set.name = name;
  return set;
}

void write_tu(const std::filesystem::path& folder, const GraphSet& set) {
  const std::string name = set.name.empty() ? folder.filename().string() : set.name;
  if (name.empty() || name.find('/') != std::string::npos) {
    throw InputError(fmt::format("a TUDataset needs a name that can start a file's name, not {}", shown(name)));
  }
  const TuMembers members = tu_members(set);
  make_folder(folder);
  for (const std::string_view member : kMembers) {
    const std::filesystem::path file = folder / file_of(name, member);
    const auto found = members.find(member);
    if (found != members.end()) {
      write_file(file, found->second);
    } else {
      // A member of an earlier data set of this name would be read as part of this one.
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
    }
  }
}

}  // namespace tyche
