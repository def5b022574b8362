#include "graph/tu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "graph/lines.hpp"
#include "graph/listed_edges.hpp"
#include "graph/tu_columns.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

/// Which graph every node is in, and which node of it: nodes keep their order within their graph.
struct Placement {
  std::vector<Node> graph_of;
  std::vector<Node> index_in;
  std::vector<Node> sizes;  ///< one per graph
};

/// The member that says how many graphs there are, and how many it says.
struct GraphCount {
  const char* member;
  std::size_t graphs;
};

Placement read_indicator(const TuMembers& members, std::string_view prefix, const std::optional<GraphCount>& count) {
  const std::string file = tu_file(prefix, "graph_indicator");
  const auto found = members.find("graph_indicator");
  if (found == members.end()) throw InputError::at(file, "", "is missing; it says which graph every node is in");
  Placement out;
  for_each_line(found->second, file, [&](Row& row) {
    const std::uint64_t graph = row.natural("the number of a graph");
    // Without labels and targets nothing but the nodes says how many graphs there are, so each needs one.
    const std::uint64_t most = count ? count->graphs : found->second.size();
    if (graph == 0 || graph > most) {
      row.where().fail(
          fmt::format("graph {} is out of range: graphs are numbered 1 to {} {}", graph, most,
                      count ? fmt::format("(the lines of the file of {})", count->member) : "at most here"));
    }
    if (out.graph_of.size() >= std::numeric_limits<Node>::max() - 1) row.where().fail("more than 2^32 - 2 nodes");
    if (out.sizes.size() < graph) out.sizes.resize(graph, 0);
    out.graph_of.push_back(static_cast<Node>(graph - 1));
    out.index_in.push_back(out.sizes[graph - 1]++);
  });
  if (count) {
    out.sizes.resize(count->graphs, 0);
  } else if (const auto empty = std::find(out.sizes.begin(), out.sizes.end(), 0u); empty != out.sizes.end()) {
    throw InputError::at(file, "", fmt::format("no node is in graph {}", empty - out.sizes.begin() + 1));
  }
  if (out.sizes.empty()) throw InputError::at(file, "", "the data set holds no graphs");
  return out;
}

/// The lines of DS_A.txt, in the numbering of the whole data set from 0.
std::vector<Edge> read_lines_of_edges(const TuMembers& members, std::string_view prefix, const Placement& placement) {
  const std::string file = tu_file(prefix, "A");
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
    if (placement.graph_of[u] != placement.graph_of[v]) {
      row.where().fail(fmt::format("edge ({}, {}) joins graph {} and graph {}", u + 1, v + 1, placement.graph_of[u] + 1,
                                   placement.graph_of[v] + 1));
    }
    listed.emplace_back(u, v);
  });
  return listed;
}

/// What stands beside the lines of DS_A.txt: one label and one row of attributes for each, where there are any.
struct BesideEdges {
  std::vector<int> labels;
  Table attributes;
};

SettledEdges settle(const std::vector<Edge>& listed, const BesideEdges& beside, std::string_view prefix,
                    Cleaning* cleaning) {
  const std::string edges_file = tu_file(prefix, "A");
  const std::string labels_file = tu_file(prefix, "edge_labels");
  const std::string attributes_file = tu_file(prefix, "edge_attributes");
  EdgeListing listing;
  listing.place = [&](std::size_t entry) { return Where{edges_file, "line", entry + 1}; };
  listing.name = [](Node v) { return std::to_string(v + 1); };
  listing.conflict = [&](std::size_t first, std::size_t second) -> std::optional<EdgeListing::Conflict> {
    const auto differs = [&](const std::string& file, const char* what) {
      return EdgeListing::Conflict{{file, "line", second + 1},
                                   fmt::format("edge ({}, {}) has {} than on line {}, where it stands too",
                                               listed[second].first + 1, listed[second].second + 1, what, first + 1)};
    };
    if (!beside.labels.empty() && beside.labels[first] != beside.labels[second]) {
      return differs(labels_file, "another label");
    }
    const auto mine = beside.attributes.row(first), other = beside.attributes.row(second);
    if (!std::equal(mine.begin(), mine.end(), other.begin())) return differs(attributes_file, "other attributes");
    return std::nullopt;
  };
  return settle_edges(listed, Directions::either, listing, cleaning);
}

}  // namespace

std::string tu_file(std::string_view prefix, std::string_view member) {
  return fmt::format("{}_{}.txt", prefix, member);
}

GraphSet parse_tu(const TuMembers& members, std::string_view prefix, Cleaning* cleaning) {
  GraphSet set;
  const auto member = [&](std::string_view name) {
    const auto found = members.find(name);
    return found == members.end() ? nullptr : &found->second;
  };
  const auto integers = [&](std::string_view name, const char* what) {
    return renumbered(read_integers(*member(name), tu_file(prefix, name), what));
  };
  std::optional<GraphCount> count;
  if (member("graph_labels") != nullptr) {
    set.labels = integers("graph_labels", "the label of a graph");
    count = {"graph labels", set.labels.size()};
  }
  if (const std::string* const text = member("graph_attributes")) {
    const std::string file = tu_file(prefix, "graph_attributes");
    Table targets = read_table(*text, file, "target");
    if (count) expect_one_each(targets.rows(), {"line of the file of graph labels", count->graphs}, file);
    count = {count ? count->member : "graph attributes", targets.rows()};
    set.targets = std::move(targets.values);
    set.target_dim = targets.columns;
  }
  const Placement placement = read_indicator(members, prefix, count);
  const std::size_t nodes = placement.graph_of.size();
  const std::size_t graphs = placement.sizes.size();

  std::vector<int> types(nodes, 0);
  if (member("node_labels") != nullptr) {
    types = integers("node_labels", "the label of a node");
    expect_one_each(types.size(), {"node", nodes}, tu_file(prefix, "node_labels"));
  }
  const auto attributes_of = [&](std::string_view name, const Lined& lined) {
    if (member(name) == nullptr) return Table{};
    Table table = read_table(*member(name), tu_file(prefix, name), "attribute");
    expect_one_each(table.rows(), lined, tu_file(prefix, name));
    return table;
  };
  const Table attributes = attributes_of("node_attributes", {"node", nodes});

  const std::vector<Edge> listed = read_lines_of_edges(members, prefix, placement);
  const Lined per_edge{"line of the file of edges", listed.size()};
  BesideEdges beside;
  if (member("edge_labels") != nullptr) {
    beside.labels = integers("edge_labels", "the label of an edge");
    expect_one_each(beside.labels.size(), per_edge, tu_file(prefix, "edge_labels"));
  }
  beside.attributes = attributes_of("edge_attributes", per_edge);

  std::vector<std::vector<Edge>> edges_of(graphs);
  std::vector<std::vector<EdgeLabel>> labels_of(graphs);
  set.edge_attribute_dim = beside.attributes.columns;
  if (set.edge_attribute_dim > 0) set.edge_attributes.resize(graphs);
  const SettledEdges settled = settle(listed, beside, prefix, cleaning);
  for (std::size_t e = 0; e < settled.edges.size(); ++e) {
    // Nodes keep their order within a graph, so its edges come in the order of Graph::edges().
    const auto& [u, v] = settled.edges[e];
    const Node graph = placement.graph_of[u];
    edges_of[graph].emplace_back(placement.index_in[u], placement.index_in[v]);
    const std::size_t entry = settled.entry_of[e];
    if (!beside.labels.empty()) labels_of[graph].push_back(static_cast<EdgeLabel>(beside.labels[entry]));
    if (set.edge_attribute_dim == 0) continue;
    const auto row = beside.attributes.row(entry);
    set.edge_attributes[graph].insert(set.edge_attributes[graph].end(), row.begin(), row.end());
  }
  std::vector<std::vector<NodeType>> types_of(graphs);
  set.attribute_dim = attributes.columns;
  if (attributes.columns > 0) set.attributes.resize(graphs);
  for (std::size_t v = 0; v < nodes; ++v) {
    const Node graph = placement.graph_of[v];
    types_of[graph].push_back(static_cast<NodeType>(types[v]));
    if (attributes.columns == 0) continue;
    const auto row = attributes.row(v);
    set.attributes[graph].insert(set.attributes[graph].end(), row.begin(), row.end());
  }
  set.graphs.reserve(graphs);
  for (std::size_t g = 0; g < graphs; ++g) {
    set.graphs.push_back(Graph::from_edges(placement.sizes[g], edges_of[g], std::move(types_of[g]), labels_of[g]));
  }
  return set;
}

GraphSet read_tu(const std::filesystem::path& folder, Cleaning* cleaning) {
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
  for (const std::string_view member : kTuMembers) {
    const std::filesystem::path file = folder / tu_file(name, member);
    if (std::filesystem::exists(file)) members.emplace(member, read_file(file));
  }
  GraphSet set = parse_tu(members, (folder / name).string(), cleaning);
  set.name = name;
  return set;
}

}  // namespace tyche
