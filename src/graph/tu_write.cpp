// Writing TUDataset folders.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "graph/tu.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"

namespace tyche {

namespace {

/// One line of numbers between commas. `what` and `graph` say in errors what they are.
void append_row(std::string& text, std::span<const float> values, const char* what, std::size_t graph) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw InputError("{} {} of graph {} is {}: a TUDataset holds only finite numbers", what, i, graph, values[i]);
    }
    fmt::format_to(std::back_inserter(text), "{}{}", values[i], i + 1 == values.size() ? "\n" : ", ");
  }
}

/// DS_A.txt and DS_graph_indicator.txt.
void write_structure(const GraphSet& set, TuMembers& out) {
  std::string& edges = out["A"];
  std::string& indicator = out["graph_indicator"];
  std::uint64_t nodes = 0;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    if (set.labels.empty() && set.targets.empty() && graph.num_nodes() == 0) {
      throw InputError("graph {} has no nodes: a TUDataset without graph labels cannot hold it", g);
    }
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      fmt::format_to(std::back_inserter(indicator), "{}\n", g + 1);
      for (const Node u : graph.neighbours(v)) {
        fmt::format_to(std::back_inserter(edges), "{}, {}\n", nodes + v + 1, nodes + u + 1);
      }
    }
    nodes += graph.num_nodes();
  }
  if (nodes >= std::numeric_limits<Node>::max()) throw InputError("{} nodes are too many for a set", nodes);
}

/// Labels of graphs, nodes and edges. The lines of edges are those of DS_A.txt: one per arc.
void write_labels(const GraphSet& set, TuMembers& out) {
  for (const int label : set.labels) fmt::format_to(std::back_inserter(out["graph_labels"]), "{}\n", label);
  bool typed = false, labelled = false;
  for (const Graph& graph : set.graphs) {
    for (const NodeType type : graph.types()) typed = typed || type != 0;
    labelled = labelled || graph.has_edge_labels();
  }
  const auto append = [](std::string& text, std::uint32_t first, const Ragged<float>& blocks, std::size_t g,
                         std::size_t at, std::size_t categories) {
    fmt::format_to(std::back_inserter(text), "{}", first);
    for (std::size_t c = 0; c < categories; ++c) fmt::format_to(std::back_inserter(text), ", {}", blocks[g][at + c]);
    text += '\n';
  };
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    for (Node v = 0; v < graph.num_nodes() && (typed || set.categories > 0); ++v) {
      append(out["node_labels"], graph.type(v), set.attributes, g, v * set.attribute_dim, set.categories);
    }
    if (!labelled && set.edge_categories == 0) continue;
    const std::vector<std::uint64_t> edges = graph.edges_of_arcs();
    for (std::size_t arc = 0; arc < edges.size(); ++arc) {
      append(out["edge_labels"], graph.edge_label(arc), set.edge_attributes, g, edges[arc] * set.edge_attribute_dim,
             set.edge_categories);
    }
  }
}

void write_numbers(const GraphSet& set, TuMembers& out) {
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    if (set.target_dim > 0) {
      const auto row = std::span(set.targets).subspan(g * set.target_dim, set.target_dim);
      append_row(out["graph_attributes"], row, "target", g);
    }
    const auto own = [&](const Ragged<float>& blocks, std::size_t row, std::size_t dim, std::size_t categories) {
      return blocks[g].subspan(row * dim + categories, dim - categories);
    };
    for (Node v = 0; set.attribute_dim > set.categories && v < set.graphs.num_nodes(g); ++v) {
      append_row(out["node_attributes"], own(set.attributes, v, set.attribute_dim, set.categories), "node attribute",
                 g);
    }
    if (set.edge_attribute_dim == set.edge_categories) continue;
    for (const std::uint64_t edge : set.graphs[g].edges_of_arcs()) {
      append_row(out["edge_attributes"], own(set.edge_attributes, edge, set.edge_attribute_dim, set.edge_categories),
                 "edge attribute", g);
    }
  }
}

}  // namespace

TuMembers tu_members(const GraphSet& set) {
  TuMembers out;
  write_structure(set, out);
  write_labels(set, out);
  write_numbers(set, out);
  return out;
}

void write_tu(const std::filesystem::path& folder, const GraphSet& set) {
  const std::string name = set.name.empty() ? folder.filename().string() : set.name;
  if (name.empty() || name.find('/') != std::string::npos) {
    throw InputError("a TUDataset needs a name that can start a file's name, not {}", shown(name));
  }
  const TuMembers members = tu_members(set);
  make_folder(folder);
  for (const std::string_view member : kTuMembers) {
    const std::filesystem::path file = folder / tu_file(name, member);
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
